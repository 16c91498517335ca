import compact from 'lodash/compact';
import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';
import { READS_AT_ONCE } from '../../core/service/limits';
import { type Explanation } from '../../core/service/explanation';
import { readAdditions, readConcurrency } from '../../host/forms/options';
import { limitFields, limitHint, NOT_COMPLETE, readLimit } from '../../host/forms/list';
import { agentField } from '../../host/forms/locatorFields';
import { statusField } from '../../host/forms/statusField';
import { optedOutFilter } from '../../host/forms/optedOutFilter';
import { forEachList, type ListPlan } from '../../host/run/itemLoop';
import { callOutputFields } from '../../host/forms/callOutput';
import { readOutput, selectOutputs } from '../../host/forms/outputFields';
import type { Fields } from '../../host/forms/fields';
import type { Operation } from '../../host/run/operations';
import { type CallFilters, describeFilters, KNOWN_STATUSES } from '../../core/calls/callListQuery';
import { readPages } from '../../core/service/paging';
import { callList, readsFirstPageOnly, whereIsTheList } from '../../core/calls/callList';
import { simplifyCall } from '../../core/calls/callRecord';
import { isOptOutWanted, requireCaptured } from '../../core/calls/optOut';
import type { AccountClient } from '../../host/http/accountClient';
import type { Limiter } from '../../core/values/keyedMutex';
import type { JsonObject } from '../../core/values/json';
import { counted, isUnset } from '../../core/values/values';
import { callOptions } from '../callFields';

export const filtersField: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description:
		"Which calls to return. Each filter except 'Contact List ID' and 'Opted Out' needs its place in 'Service Profile' of the credential.",
	options: [
		{ ...omit(agentField, 'required'), description: 'Calls of this agent' },
		{
			displayName: 'Campaign ID',
			name: 'campaignId',
			type: 'string',
			default: '',
			placeholder: 'e.g. 42',
			description: 'Calls of this campaign, including redials and callbacks',
		},
		{
			displayName: 'Contact List ID',
			name: 'campaignUploadId',
			type: 'string',
			default: '',
			placeholder: 'e.g. 314',
			description:
				'Calls of this contact list. Enter the campaign_upload_id that Push Campaign Contacts returns. Each attempt counts as a call.',
		},
		{
			displayName: 'From',
			name: 'from',
			type: 'dateTime',
			default: '',
			description: 'Calls since this time',
			hint: 'In the time zone of this workflow',
		},
		{
			...optedOutFilter,
			description: `${optedOutFilter.description} The node reads the complete list, and stops if the list shows no captured values.`,
		},
		{
			displayName: 'Phone Number',
			name: 'phone',
			type: 'string',
			default: '',
			placeholder: 'e.g. +919876543210',
			description: 'Calls to this number, in the format of your service',
		},
		statusField(
			{
				displayName: 'Status',
				name: 'status',
				description:
					"Calls with this status. Type one that isn't in the list: it's sent to the service as it is.",
			},
			'searchStatus',
		),
		{
			displayName: 'To',
			name: 'to',
			type: 'dateTime',
			default: '',
			description: 'Calls up to this time',
			hint: 'In the time zone of this workflow',
		},
	],
};

export const getMany: Operation = {
	value: 'getMany',
	name: 'Get Many',
	action: 'Get many calls',
	description:
		'Retrieve a list of calls. The node returns the list once for items with the same parameters.',
	subtitle: 'get many calls',
	fields: [...limitFields, filtersField, ...callOutputFields, callOptions()],
	isReadOnly: true,
	toolDescription:
		'Lists phone calls of the AI agents with their outcomes and summaries. Use it to find the ID of a call, or to see how calls went. Places no calls and changes nothing.',

	async execute(run) {
		const { context, parameters, account, result } = run;
		const plan = async (index: number): Promise<ListPlan> => {
			const service = await account();
			const form = parameters.at(index);
			const filters = readFilters(form.collection('filters'));
			const optedOut = form.collection('filters').choice(optedOutFilter.name, '');
			const limit = readLimit(form);
			const isFiltered = optedOut !== '';
			const request = {
				filters,
				zone: context.getTimezone(),
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
				const found = calls.filter((call) => isOptOutWanted(call, optedOut, service.optOutKey));
				if (isFiltered ? found.length > limit : count === limit) {
					result.addHintsForModel(limitHint(limit, 'call'));
				}
				return found;
			};
			return {
				key: { ...request, limit: String(limit), optedOut, output },
				read: async (limiter) =>
					await selectOutputs(output, (await readFor(limiter)).slice(0, limit), (call) =>
						simplifyCall(call, service.optOutKey),
					),
			};
		};
		return await forEachList(run, plan, readConcurrency(parameters, READS_AT_ONCE));
	},
};

function readFilters(filters: Fields): CallFilters {
	return {
		agentUuid: filters.text('agentUuid'),
		campaignId: filters.text('campaignId'),
		campaignUploadId: filters.text('campaignUploadId'),
		from: filters.time('from'),
		to: filters.time('to'),
		phone: filters.text('phone'),
		status: filters.text('status'),
	};
}

function firstPageOnlyHint(count: number, account: AccountClient): Explanation {
	return {
		message: `The service returned ${counted(count, 'call')} in its first response and may have more`,
		resolution: `${NOT_COMPLETE} ${whereIsTheList(account, 'next')}`,
	};
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
