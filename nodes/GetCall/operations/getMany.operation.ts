import compact from 'lodash/compact';
import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { READS_AT_ONCE } from '../../core/service/limits';
import type { Explanation } from '../../core/service/explanation';
import { clock } from '../../host/clock';
import { readAdditions, readConcurrency } from '../../host/forms/options';
import {
	limitFields,
	limitHint,
	NOT_COMPLETE,
	readLimit,
	callOutputFields,
	readOutput,
	selectOutputs,
} from '../../host/forms/outputFields';
import { otherInTools } from '../../host/forms/shownWhere';
import { optedOutFilter } from '../../host/forms/statusField';
import { forEachList, type ListPlan } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { type CallFilters, describeFilters, KNOWN_STATUSES } from '../../core/calls/callListQuery';
import { readPages } from '../../core/service/paging';
import { callList, readsFirstPageOnly, whereIsTheList } from '../../core/calls/callList';
import { callColumns } from '../../core/calls/callRecord';
import { isOptOutWanted, optedOut } from '../../core/calls/callEnd';
import type { AccountClient } from '../../host/http/accountClient';
import type { Limiter } from '../../core/values/keyedMutex';
import { unusable } from '../../core/service/errors';
import type { JsonObject } from '../../core/values/json';
import { counted, isUnset } from '../../core/values/values';
import { callOptions } from '../callFields';
import { filtersField, periodFields, readFilters, readPeriod } from '../callFilters';

/** By default, a model gets a short list, because it pays for each word that it reads. */
const DEFAULTS_IN_TOOLS = new Map<string, INodeProperties['default']>([
	['limit', 10],
	['output', 'selected'],
	['selectedFields', 'person_name, phone_number, outcome, summary, created_at, call_id'],
]);

function shortInTools(field: INodeProperties): INodeProperties[] {
	const initial = DEFAULTS_IN_TOOLS.get(field.name);
	return initial === undefined ? [field] : otherInTools(field, { ...field, default: initial });
}

const NARROWER = "'From', 'To', 'Phone Number', or 'Status'";

export const getMany: Operation = {
	value: 'getMany',
	name: 'Get Many',
	action: 'Get many calls',
	description:
		'Retrieve a list of calls. The node returns the list once for items with the same parameters.',
	subtitle: 'get many calls',
	fields: [
		...limitFields.flatMap(shortInTools),
		...periodFields,
		filtersField,
		...callOutputFields.flatMap(shortInTools),
		callOptions(),
	],
	isReadOnly: true,
	toolDescription:
		'Lists phone calls of the AI agents with their outcomes and summaries. Use it to find the ID of a call, or to see how calls went. Places no calls and changes nothing.',

	async execute(run) {
		const { context, parameters, account, result } = run;
		const zone = context.getTimezone();
		const now = DateTime.fromMillis(clock.now(), { zone });
		const plan = async (index: number): Promise<ListPlan> => {
			const service = await account();
			const form = parameters.at(index);
			const given = form.collection('filters');
			const filters = { ...readFilters(given), ...readPeriod(form, now) };
			const wanted = given.choice(optedOutFilter.name, '');
			const limit = readLimit(form);
			const isFiltered = wanted !== '';
			const request = {
				filters,
				zone,
				limit: isFiltered ? Infinity : limit,
				additions: readAdditions(form.collection('options')),
			};
			const output = readOutput(form);
			const readFor = async (limiter: Limiter): Promise<JsonObject[]> => {
				const list = callList(service, { ...request, limiter });
				const calls = await readPages(list, request.limit);
				const { length: count } = calls;
				const mayHaveMore = readsFirstPageOnly(request.limit, service) && count < limit;
				const hints = [
					mayHaveMore && count > 0 && firstPageOnlyHint(count, service),
					count === 0 && noMatchHint(filters),
				];
				result.addHints(...compact(hints));
				if (isFiltered) requireCaptured(calls);
				const found = calls.filter((call) => isOptOutWanted(call, wanted, service.optOutKey));
				if (wanted === 'true' && found.length === 0 && count > 0)
					result.addHints(noOptOutHint(calls, service.optOutKey));
				if (isFiltered ? found.length > limit : count === limit) {
					result.addHintsForModel(limitHint(limit, 'call', NARROWER));
				}
				return found;
			};
			return {
				key: { ...request, limit: String(limit), wanted, output },
				read: async (limiter) =>
					await selectOutputs(output, (await readFor(limiter)).slice(0, limit), (call) =>
						callColumns(call, service.optOutKey),
					),
			};
		};
		return await forEachList(run, plan, readConcurrency(parameters, READS_AT_ONCE));
	},
};

function firstPageOnlyHint(count: number, account: AccountClient): Explanation {
	return {
		message: `The service returned ${counted(count, 'call')} in its first response and may have more`,
		resolution: `${NOT_COMPLETE} ${whereIsTheList(account, 'next')}`,
	};
}

/**
 * Otherwise, it would look as if nobody had opted out.
 *
 * @throws OutcomeUnknown if no call of the list has captured values
 */
function requireCaptured(calls: readonly JsonObject[]): void {
	if (calls.length === 0 || calls.some((call) => Object.hasOwn(call, 'data_captured'))) return;
	throw unusable(
		"The list of calls has no captured values (data_captured), so 'Opted Out' can't be used",
		"Remove the filter, and read each call with 'Get', which returns opted_out.",
		{ origin: 'response' },
	);
}

/** A mistake in a filter looks like a list without calls. */
function noMatchHint(filters: CallFilters): Explanation | undefined {
	const given = describeFilters(filters);
	if (given === '') return undefined;
	const statuses = isUnset(filters.status) ? '' : ` ${KNOWN_STATUSES}`;
	return {
		message: `The service has no call with ${given}`,
		resolution: `Check these values.${statuses}`,
	};
}

/** Also if the agent asks nobody, or under another key, no call has the answer. */
function noOptOutHint(calls: readonly JsonObject[], key: string): Explanation {
	const unknown = calls.filter((call) => optedOut(call, key) === null).length;
	return {
		message: `Nobody opted out in ${counted(calls.length, 'call')}, and ${unknown} of them have no clear answer to it`,
		resolution: "To see these, set 'Opted Out' to 'Unknown'.",
	};
}
