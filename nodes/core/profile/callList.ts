import { fieldsOf, type MappingTopic } from './field';

/** What the contract doesn't show of GET /v1/calls: everything except for `campaign_upload_id`. */
export const CALL_LIST_TOPIC = {
	name: 'callList',
	subject: 'the call list',
	switchName: 'describeCallList',
	switchLabel: 'Set Up the Call List',
	switchDescription:
		'Whether to enter the names that your service uses for the filters and pages of its call list. Get Call > Get Many needs them. The credential test reads the list without filters.',
	fields: fieldsOf('GET /v1/calls', {
		callListStatusName: {
			label: 'Status Filter Name',
			description: 'Name of the query parameter that filters calls by status',
			placeholder: 'e.g. status',
		},
		callListAgentName: {
			label: 'Agent Filter Name',
			description: 'Name of the query parameter that filters calls by agent',
			placeholder: 'e.g. agent_uuid',
		},
		callListCampaignName: {
			label: 'Campaign Filter Name',
			description: 'Name of the query parameter that filters calls by campaign',
			placeholder: 'e.g. campaign_id',
		},
		callListFromName: {
			optional: true,
			label: 'From Filter Name',
			description: 'Name of the query parameter for the start of the date range',
			placeholder: 'e.g. from',
		},
		callListToName: {
			optional: true,
			label: 'To Filter Name',
			description: 'Name of the query parameter for the end of the date range',
			placeholder: 'e.g. to',
		},
		callListPhoneName: {
			label: 'Phone Filter Name',
			description: 'Name of the query parameter that filters calls by phone number',
			placeholder: 'e.g. phone_number',
		},
		callListPath: {
			label: 'Path to List in Response',
			description:
				"Path to the list of calls: field names separated by dots. Enter a single dot if the whole response is the list. Required for 'Return All'. Without it, the nodes return only the calls of the first response, if it has exactly one list of calls.",
			placeholder: 'e.g. data.calls',
		},
		callListKeyName: {
			optional: true,
			label: 'Field Name for Keys',
			description:
				'Only if the response has an object with one call per key instead of a list: the output field for the key',
			placeholder: 'e.g. call_id',
		},
		callListItemPath: {
			optional: true,
			label: 'Path to Call in Each Entry',
			description:
				'Path from an entry of the list to the call: field names separated by dots. Leave empty if the entries are the calls.',
			placeholder: 'e.g. call',
		},
		callListTotalPath: {
			optional: true,
			label: 'Path to Total Count in Response',
			description:
				"Path to the number of matching calls: field names separated by dots. With it, the nodes read pages of a long list in parallel, and detect a list that changes in between. Leave empty if your service doesn't return it.",
			placeholder: 'e.g. meta.total_count',
		},
		callListDateForm: {
			optional: true,
			label: 'Date Format',
			description:
				'Format of From and To. If not set, the nodes send dates and times such as 2027-01-31T18:30:00+05:30, and dates without a time as entered.',
			choices: [
				{ name: 'Date and Time With UTC Offset', value: 'dateTime' },
				{ name: 'Date Only', value: 'date' },
			],
		},
		callListPaging: {
			label: 'Pagination',
			description: 'How to request the next page of the list',
			choices: [
				{ name: 'Cursor From the Response', value: 'cursor' },
				{ name: 'Link to the Next Page in the Response', value: 'nextLink' },
				{ name: 'None (All Calls in One Response)', value: 'whole' },
				{ name: 'Offset (Position of the First Call)', value: 'offset' },
				{ name: 'Page Number, From 0', value: 'pageFromZero' },
				{ name: 'Page Number, From 1', value: 'pageFromOne' },
			],
		},
		callListPageName: {
			optional: true,
			label: 'Page, Offset, or Cursor Parameter Name',
			description:
				'Name of the query parameter that selects the page. Not needed if the response has a link to the next page or all calls.',
			placeholder: 'e.g. page',
		},
		callListPageSizeName: {
			optional: true,
			label: 'Page Size Parameter Name',
			description:
				"Name of the query parameter for the number of calls per page. Leave empty to use your service's page size.",
			placeholder: 'e.g. per_page',
		},
		callListCursorPath: {
			optional: true,
			label: 'Path to Next Cursor or Link in Response',
			description:
				'Path to the cursor or the link to the next page: field names separated by dots. In a list, -1 is the last entry.',
			placeholder: 'e.g. meta.next_cursor',
		},
	}),
} satisfies MappingTopic;
