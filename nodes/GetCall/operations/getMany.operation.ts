import compact from 'lodash/compact';
import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';
import { READS_AT_ONCE } from '../../core/service/limits';
import { type Explanation, forEveryone } from '../../core/service/resolution';
import { optionsCollection, readAdditions, readConcurrency } from '../../host/forms/options';
import {
	limitFields,
	limitHint,
	listChangedHint,
	NOT_COMPLETE,
	readLimit,
	requireCompleteField,
} from '../../host/forms/list';
import { agentField } from '../../host/forms/locatorFields';
import { statusField } from '../../host/forms/statusFields';
import { forEachList, type ListPlan } from '../../host/run/itemLoop';
import { readOutput, selectOutputs } from '../../host/forms/outputFields';
import type { Fields } from '../../host/forms/fields';
import type { Operation } from '../../host/run/operations';
import { addHints, addHintsForModel } from '../../host/tools/hints';
import { type CallFilters, describeFilters, KNOWN_STATUSES } from '../../core/calls/callListQuery';
import { readPages, readWholeList } from '../../core/service/paging';
import {
	callList,
	callsKeepChanging,
	readsFirstPageOnly,
	whereIsTheList,
} from '../../core/calls/callList';
import { latestOfEachNumber, requireLaterCalls } from '../latestCalls';
import { simplifyCall } from '../../core/calls/callRecord';
import { parseCount } from '../../core/service/parseIds';
import type { AccountClient } from '../../host/http/accountClient';
import type { Limiter } from '../../core/values/keyedMutex';
import type { JsonObject } from '../../core/values/json';
import { counted, isUnset } from '../../core/values/values';
import { requestSettings, callOutputFields } from '../callFields';

const filtersField: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description:
		"Which calls to return. Each filter except 'Contact List ID' needs its place in 'Service Profile' of the credential.",
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

const latestField: INodeProperties = {
	displayName: 'Latest Call of Each Number',
	name: 'latestOfEachNumber',
	type: 'boolean',
	default: true,
	description:
		"Whether to return only the newest call of each phone number, for example to call people again who weren't reached. The node always reads the complete list. It compares numbers by their digits and calls by created_at. It keeps calls without a number, and calls with the same times. It stops if numbers or times can't be compared.",
};

const IF_CHANGING =
	"Run this again while fewer calls are placed, or set a larger 'Page Size' in 'Developer Settings'.";

const PAGE_SIZE_RESOLUTION = forEveryone('Enter the number of calls per request, at least 1.');

const pageSizeField: INodeProperties = {
	displayName: 'Page Size',
	name: 'pageSize',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 50,
	description:
		"How many calls to get per request. Requires {pageSize?} in the part calls of 'Service Profile' in the credential. Without this option, the service uses its own page size.",
};

export const getMany: Operation = {
	value: 'getMany',
	name: 'Get Many',
	action: 'Get many calls',
	description:
		'Retrieve a list of calls. The node returns the list once for items with the same parameters.',
	subtitle: 'get many calls',
	fields: [
		...limitFields,
		filtersField,
		...callOutputFields,
		optionsCollection(latestField, requireCompleteField('call')),
		requestSettings(pageSizeField),
	],
	isReadOnly: true,
	toolDescription:
		'Lists phone calls of the AI agents with their outcomes and summaries. Use it to find the ID of a call, or to see how calls went. Places no calls and changes nothing.',

	async execute({ context, parameters, account }) {
		const plan = async (index: number): Promise<ListPlan> => {
			const service = await account();
			const form = parameters.at(index);
			const options = form.collection('options');
			const settings = form.collection('developerSettings');
			const filters = readFilters(form.collection('filters'));
			const limit = readLimit(form);
			const latest = options.switch('latestOfEachNumber', false);
			const isWhole = options.switch('requireComplete', false) || latest;
			if (latest) requireLaterCalls(filters);
			const request = {
				filters,
				zone: context.getTimezone(),
				limit: isWhole ? Infinity : limit,
				pageSize: settings.has('pageSize')
					? parseCount(settings.number('pageSize', undefined), 'Page Size', PAGE_SIZE_RESOLUTION)
					: undefined,
				additions: readAdditions(settings),
			};
			const output = readOutput(form);
			const readFor = async (limiter: Limiter): Promise<JsonObject[]> => {
				const list = callList(service, { ...request, limiter });
				const { entries: calls, isComplete } = isWhole
					? await readWholeList(list, callsKeepChanging(IF_CHANGING, service))
					: await readPages(list, limit);
				const { length: count } = calls;
				const mayHaveMore = readsFirstPageOnly(request.limit, service) && count < limit;
				const hints = [
					!isComplete && listChangedHint('calls'),
					mayHaveMore && count > 0 && firstPageOnlyHint(count, service),
					count === 0 && noMatchHint(filters),
				];
				addHints(context, ...compact(hints));
				if (isWhole ? count > limit : count === limit) {
					addHintsForModel(context, limitHint(limit, 'call'));
				}
				return latest ? await latestOfEachNumber(calls) : calls;
			};
			return {
				key: { ...request, limit: String(limit), isWhole, latest, output },
				read: async (limiter) =>
					await selectOutputs(output, (await readFor(limiter)).slice(0, limit), simplifyCall),
			};
		};
		return await forEachList(context, plan, readConcurrency(parameters, READS_AT_ONCE));
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
		resolution: {
			onScreen: whereIsTheList(account, 'next'),
			forModel: NOT_COMPLETE,
		},
	};
}

/** A mistake in a filter looks like a list without calls. */
function noMatchHint(filters: CallFilters): Explanation | undefined {
	const given = describeFilters(filters);
	if (given === '') return undefined;
	const statuses = isUnset(filters.status) ? '' : ` ${KNOWN_STATUSES}`;
	return {
		message: `The service has no call with ${given}`,
		resolution: forEveryone(`Check these values.${statuses}`),
	};
}
