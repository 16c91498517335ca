import type { INodeProperties } from 'n8n-workflow';
import { readAdditions, readConcurrency } from '../../shared/n8n/options';
import { forEachList, limitFields, readLimit } from '../../shared/n8n/list';
import type { Operation } from '../../shared/n8n/operations';
import { callListQuery, neededForFilters, type CallFilters } from '../calls/callFilters';
import { neededForList, readCalls } from '../calls/callList';
import { simplifyCall } from '../../shared/calls/callRecord';
import { parseCount } from '../../shared/api/identifiers';
import { optionsField, READS_AT_ONCE, simplifyField } from '../callFields';

const filtersField: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description:
		'Which calls to return. All filters but Contact List ID need their name in the credential, under API Mapping.',
	options: [
		{
			displayName: 'Agent ID',
			name: 'agentUuid',
			type: 'string',
			default: '',
			placeholder: 'e.g. agent_5f2c9a',
			description: 'Calls of this agent',
		},
		{
			displayName: 'Campaign ID',
			name: 'campaignId',
			type: 'string',
			default: '',
			placeholder: 'e.g. 42',
			description: 'Calls of this campaign, redials and callbacks included',
		},
		{
			displayName: 'Contact List ID',
			name: 'campaignUploadId',
			type: 'string',
			default: '',
			placeholder: 'e.g. 314',
			description:
				'Calls of this contact list: the campaign_upload_id that Push Campaign Contacts returns. Each attempt counts as a call.',
		},
		{
			displayName: 'From',
			name: 'from',
			type: 'dateTime',
			default: '',
			description: 'Calls from this moment on, in the time zone of this workflow',
		},
		{
			displayName: 'Phone Number',
			name: 'phone',
			type: 'string',
			default: '',
			placeholder: 'e.g. +919876543210',
			description: 'Calls to this number, written as your service writes it',
		},
		{
			displayName: 'Status',
			name: 'status',
			type: 'string',
			default: '',
			placeholder: 'e.g. picked',
			description: 'Calls with this outcome. Known ones are picked, not_picked and failed.',
		},
		{
			displayName: 'To',
			name: 'to',
			type: 'dateTime',
			default: '',
			description: 'Calls up to this moment, in the time zone of this workflow',
		},
	],
};

const pageSizeField: INodeProperties = {
	displayName: 'Page Size',
	name: 'pageSize',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 50,
	description:
		'How many calls each request asks for. Needs the name of this parameter in the credential; without this option the service decides.',
};

export const getMany: Operation = {
	value: 'getMany',
	name: 'Get Many',
	action: 'Get many calls',
	description: 'Retrieve a list of calls. Items that ask for the same list get it once.',
	fields: [...limitFields, filtersField, simplifyField, optionsField(pageSizeField)],

	async execute({ context, parameters, connection }) {
		const plan = async (index: number) => {
			const { client, apiMapping } = await connection();
			const options = parameters.record('options', index);
			const filters: CallFilters = parameters.record('filters', index);
			const part = {
				limit: readLimit(parameters, index),
				pageSize: options.pageSize === undefined ? undefined : pageSize(options.pageSize),
			};
			// All that the credential lacks is named at once.
			apiMapping.require([
				...neededForFilters(filters, apiMapping),
				...neededForList(part, apiMapping),
			]);
			const request = {
				...part,
				query: callListQuery(filters, apiMapping, context.getTimezone()),
				additions: readAdditions(options),
			};
			const simplify = parameters.boolean('simplify', index);
			return {
				key: { ...request, limit: String(request.limit), simplify },
				read: async () => {
					const calls = await readCalls(client, request, apiMapping);
					return simplify ? calls.map(simplifyCall) : calls;
				},
			};
		};
		return await forEachList(context, plan, readConcurrency(parameters, READS_AT_ONCE));
	},
};

function pageSize(value: unknown): number {
	return parseCount(value, 'Page Size', 'Enter how many calls each request asks for, from 1 on.');
}
