import type { MappingFields } from './field';

/** Open in Endpoints › GET /v1/calls; only `campaign_upload_id` is documented there. */
export const CALL_LIST_FIELDS = {
	callListStatusName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Status Filter Name',
		description: 'Name of the query parameter that narrows the list to one status',
		placeholder: 'e.g. status',
	},
	callListAgentName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Agent Filter Name',
		description: 'Name of the query parameter that narrows the list to one agent',
		placeholder: 'e.g. agent_uuid',
	},
	callListCampaignName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Campaign Filter Name',
		description: 'Name of the query parameter that narrows the list to one campaign',
		placeholder: 'e.g. campaign_id',
	},
	callListFromName: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'From Filter Name',
		description: 'Name of the query parameter for the start of the date range',
		placeholder: 'e.g. from',
	},
	callListToName: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'To Filter Name',
		description: 'Name of the query parameter for the end of the date range',
		placeholder: 'e.g. to',
	},
	callListRangeName: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'Date Range Filter Name',
		description:
			'Name of the query parameter that holds From and To together, if your service has one. It is used when both are given.',
		placeholder: 'e.g. between',
	},
	callListRangeForm: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'Date Range Format',
		description:
			'How From and To are written in the date range filter: {from} and {to} are replaced, everything else is sent as it is',
		placeholder: 'e.g. {from}..{to}',
	},
	callListPhoneName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Phone Filter Name',
		description: 'Name of the query parameter that narrows the list to one phone number',
		placeholder: 'e.g. phone_number',
	},
	callListPath: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Path to List in Response',
		description:
			'Field names that lead to the list of calls, separated by dots; a single dot if the whole response is the list. Return All needs it. Without it, the calls of the first response come out if it has one list of them.',
		placeholder: 'e.g. data.calls',
	},
	callListKeyName: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'Field Name for Keys',
		description:
			'Only if the calls are in an object, each under a key, instead of a list: the field of the output that takes the key',
		placeholder: 'e.g. call_id',
	},
	callListItemPath: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'Path to Call in Each Entry',
		description:
			'Field names that lead from an entry of the list to the call, separated by dots. Leave empty if the entries are the calls.',
		placeholder: 'e.g. call',
	},
	callListTotalPath: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'Path to Total Count in Response',
		description:
			'Field names that lead to the number of matching calls, separated by dots. With it, pages of a long list are read at the same time, and a list that changes while it is read is noticed. Leave empty if your service does not return it.',
		placeholder: 'e.g. meta.total_count',
	},
	callListDateForm: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'Date Format',
		description:
			'How From and To are written. Not set means: as the service writes its own timestamps, such as 2027-01-31T18:30:00+05:30.',
		placeholder: '',
		choices: [
			{ name: 'Date and Time With UTC Offset', value: 'dateTime' },
			{ name: 'Date Only', value: 'date' },
			{ name: 'Milliseconds Since 1970', value: 'epochMilliseconds' },
			{ name: 'Seconds Since 1970', value: 'epochSeconds' },
		],
	},
	callListPaging: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Pagination',
		description: 'How the next page of the list is requested',
		placeholder: '',
		choices: [
			{ name: 'Cursor From the Response', value: 'cursor' },
			{ name: 'Link to the Next Page in the Response', value: 'nextAddress' },
			{ name: 'None (All Calls at Once)', value: 'whole' },
			{ name: 'Offset (Position of the First Call)', value: 'offset' },
			{ name: 'Page Number, From 0', value: 'pageFromZero' },
			{ name: 'Page Number, From 1', value: 'pageFromOne' },
		],
	},
	callListPageName: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'Page, Offset or Cursor Parameter Name',
		description:
			'Name of the query parameter that selects the page. Not needed if the response has a link to the next page, or if all calls come at once.',
		placeholder: 'e.g. page',
	},
	callListPageSizeName: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'Page Size Parameter Name',
		description:
			'Name of the query parameter that sets the number of calls per page. Leave empty to use the service’s own page size. With it, lists that a decision depends on are read with overlapping pages.',
		placeholder: 'e.g. per_page',
	},
	callListCursorPath: {
		optional: true,
		section: 'Endpoints › GET /v1/calls',
		label: 'Path to Next Cursor or Link in Response',
		description:
			'Field names that lead to the cursor or the link to the next page, separated by dots; in a list, -1 is the last entry',
		placeholder: 'e.g. meta.next_cursor',
	},
} as const satisfies MappingFields;
