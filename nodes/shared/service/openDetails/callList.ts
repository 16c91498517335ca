import type { OpenDetailFields } from './field';

/** Open in Endpoints › GET /v1/calls; only `campaign_upload_id` is documented there. */
export const CALL_LIST_FIELDS = {
	callListStatusName: {
		place: 'callList',
		label: 'Name of the Status Filter',
		description: 'Name of the query parameter that narrows the list to one status',
		placeholder: 'e.g. status',
	},
	callListAgentName: {
		place: 'callList',
		label: 'Name of the Agent Filter',
		description: 'Name of the query parameter that narrows the list to one agent',
		placeholder: 'e.g. agent_uuid',
	},
	callListCampaignName: {
		place: 'callList',
		label: 'Name of the Campaign Filter',
		description: 'Name of the query parameter that narrows the list to one campaign',
		placeholder: 'e.g. campaign_id',
	},
	callListFromName: {
		place: 'callList',
		label: 'Name of the From Filter',
		description: 'Name of the query parameter for the first day or moment of the range',
		placeholder: 'e.g. from',
	},
	callListToName: {
		place: 'callList',
		label: 'Name of the To Filter',
		description: 'Name of the query parameter for the last day or moment of the range',
		placeholder: 'e.g. to',
	},
	callListPhoneName: {
		place: 'callList',
		label: 'Name of the Phone Filter',
		description: 'Name of the query parameter that narrows the list to one phone number',
		placeholder: 'e.g. phone_number',
	},
	callListPath: {
		place: 'callList',
		label: 'Place of the List in the Answer',
		description:
			'Names on the way to the list of calls, separated by dots. Without it the whole answer comes out as one item.',
		placeholder: 'e.g. data.calls',
	},
	callListPaging: {
		place: 'callList',
		label: 'Way of Paging',
		description: 'How the next part of the list is asked for',
		placeholder: '',
		choices: [
			{ name: 'By Page Number, From 0', value: 'pageFromZero' },
			{ name: 'By Page Number, From 1', value: 'pageFromOne' },
			{ name: 'By Position of the First Call', value: 'offset' },
			{ name: 'By a Cursor From the Answer', value: 'cursor' },
		],
	},
	callListPageName: {
		place: 'callList',
		label: 'Name of the Page, Position or Cursor Parameter',
		description: 'Name of the query parameter that chooses the part of the list',
		placeholder: 'e.g. page',
	},
	callListPageSizeName: {
		place: 'callList',
		label: 'Name of the Page Size Parameter',
		description:
			'Name of the query parameter that sets how many calls a part has. Leave empty to use the service’s own size.',
		placeholder: 'e.g. per_page',
	},
	callListCursorPath: {
		place: 'callList',
		label: 'Place of the Next Cursor in the Answer',
		description: 'Names on the way to the cursor of the next part, separated by dots',
		placeholder: 'e.g. meta.next_cursor',
	},
} as const satisfies OpenDetailFields;
