import type { MappingFields } from './field';

/** Open in Endpoints › GET /v1/calls; only `campaign_upload_id` is documented there. */
export const CALL_LIST_FIELDS = {
	callListStatusName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Name of the Status Filter',
		description: 'Name of the query parameter that narrows the list to one status',
		placeholder: 'e.g. status',
	},
	callListAgentName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Name of the Agent Filter',
		description: 'Name of the query parameter that narrows the list to one agent',
		placeholder: 'e.g. agent_uuid',
	},
	callListCampaignName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Name of the Campaign Filter',
		description: 'Name of the query parameter that narrows the list to one campaign',
		placeholder: 'e.g. campaign_id',
	},
	callListFromName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Name of the From Filter',
		description: 'Name of the query parameter for the first day or moment of the range',
		placeholder: 'e.g. from',
	},
	callListToName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Name of the To Filter',
		description: 'Name of the query parameter for the last day or moment of the range',
		placeholder: 'e.g. to',
	},
	callListRangeName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Name of the Range Filter',
		description:
			'Name of the query parameter that holds From and To together, if your service has one. It is used where both are given.',
		placeholder: 'e.g. between',
	},
	callListRangeForm: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Form of the Range Filter',
		description:
			'How From and To stand in the range filter: {from} and {to} are replaced, everything else is sent as it is',
		placeholder: 'e.g. {from}..{to}',
	},
	callListPhoneName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Name of the Phone Filter',
		description: 'Name of the query parameter that narrows the list to one phone number',
		placeholder: 'e.g. phone_number',
	},
	callListPath: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Place of the List in the Answer',
		description:
			'Names on the way to the list of calls in the whole answer, separated by dots; a dot alone if the whole answer is the list. Needed by Return All; without it the calls of the first answer come out, if it holds one list of them.',
		placeholder: 'e.g. data.calls',
	},
	callListKeyName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Field for the Key of Each Call',
		description:
			'Only if the calls stand in an object, each under a key, and not in a list: the name of the field that takes the key',
		placeholder: 'e.g. call_id',
	},
	callListItemPath: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Place of the Call in Each Entry',
		description:
			'Names on the way from an entry of the list to the call in it, separated by dots. Leave empty if the entries are the calls.',
		placeholder: 'e.g. call',
	},
	callListTotalPath: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Place of the Number of All Calls in the Answer',
		description:
			'Names on the way to the number of calls that the filters find, separated by dots. Saves the last read of a long list; leave empty if your service gives none.',
		placeholder: 'e.g. meta.total_count',
	},
	callListDateForm: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Form of From and To',
		description:
			'How the range is written. Not set means as the service writes its own times, for example 2027-01-31T18:30:00+05:30.',
		placeholder: '',
		choices: [
			{ name: 'Date and Time With Offset', value: 'dateTime' },
			{ name: 'Date Only', value: 'date' },
			{ name: 'Seconds Since 1970', value: 'epochSeconds' },
		],
	},
	callListPaging: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Way of Paging',
		description: 'How the next part of the list is asked for',
		placeholder: '',
		choices: [
			{ name: 'By a Cursor From the Answer', value: 'cursor' },
			{ name: 'By Page Number, From 0', value: 'pageFromZero' },
			{ name: 'By Page Number, From 1', value: 'pageFromOne' },
			{ name: 'By Position of the First Call', value: 'offset' },
			{ name: 'By the Address of the Next Part From the Answer', value: 'nextAddress' },
			{ name: 'Not at All, Every Call Comes at Once', value: 'whole' },
		],
	},
	callListPageName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Name of the Page, Position or Cursor Parameter',
		description:
			'Name of the query parameter that chooses the part of the list. Not needed if the answer gives the address of the next part, or if every call comes at once.',
		placeholder: 'e.g. page',
	},
	callListPageSizeName: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Name of the Page Size Parameter',
		description:
			'Name of the query parameter that sets how many calls a part has. Leave empty to use the service’s own size.',
		placeholder: 'e.g. per_page',
	},
	callListCursorPath: {
		section: 'Endpoints › GET /v1/calls',
		label: 'Place of the Next Cursor or Address in the Answer',
		description:
			'Names on the way to the cursor or the address of the next part, separated by dots; in a list, -1 is the last entry',
		placeholder: 'e.g. meta.next_cursor',
	},
} as const satisfies MappingFields;
