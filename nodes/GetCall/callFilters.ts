import omit from 'lodash/omit';
import type { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import type { CallFilters } from '../core/calls/callListQuery';
import type { Fields } from '../host/forms/fields';
import { agentField } from '../host/forms/locatorFields';
import { optedOutFilter, statusField } from '../host/forms/statusField';
import { shownOnlyAt } from '../host/forms/shownWhere';

/** 'Period', and the bounds of one that the user enters. */
export const periodFields: INodeProperties[] = [
	{
		displayName: 'Period',
		name: 'period',
		type: 'options',
		options: [
			{ name: 'Any Time', value: 'anyTime' },
			{ name: 'Between', value: 'between' },
			{ name: 'Last 7 Days', value: 'last7Days' },
			{ name: 'Yesterday', value: 'yesterday' },
		],
		default: 'anyTime',
		description:
			"When the calls were created, in the time zone of this workflow. 'Service Profile' of the credential needs the places for it.",
	},
	...[
		{
			displayName: 'From',
			name: 'from',
			description: 'Calls since this time. Leave empty to begin with the first.',
		},
		{
			displayName: 'To',
			name: 'to',
			description: 'Calls up to this time. Leave empty to end with the latest.',
		},
	].map((bound) => shownOnlyAt({ ...bound, type: 'dateTime', default: '' }, 'period', 'between')),
];

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
				'Calls of this contact list: the campaign_upload_id that Push Campaign Contacts returns. Each attempt counts as a call.',
		},
		{
			...optedOutFilter,
			description:
				'Only calls with this opted_out, which the captured value decides. The node reads the complete list, which must show captured values.',
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
	],
};

export function readFilters(filters: Fields): CallFilters {
	return {
		agentUuid: filters.text('agentUuid'),
		campaignId: filters.text('campaignId'),
		campaignUploadId: filters.text('campaignUploadId'),
		phone: filters.text('phone'),
		status: filters.text('status'),
	};
}

/** @param now in the time zone of the workflow, one moment for all items, so that they have the same list */
export function readPeriod(form: Fields, now: DateTime): Pick<CallFilters, 'from' | 'to'> {
	const period = form.choice('period', 'anyTime');
	if (period === 'last7Days') return { from: now.minus({ days: 7 }) };
	if (period === 'yesterday') {
		const yesterday = now.minus({ days: 1 });
		return { from: yesterday.startOf('day'), to: yesterday.endOf('day') };
	}
	return period === 'between' ? { from: form.time('from'), to: form.time('to') } : {};
}
