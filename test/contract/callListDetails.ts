import type { Dialect } from '../simulator';

/** Where each dialect puts its call list; the shape of an answer cannot be read off its names. */
const PLACES: { [dialect: string]: { [detail: string]: string } } = {
	plain: {
		callListPath: 'data',
		callListTotalPath: 'meta.total_count',
		callListPaging: 'pageFromOne',
	},
	terse: { callListPath: 'data.calls', callListPaging: 'offset', callListDateForm: 'date' },
	wrapped: {
		callListPath: 'data.result.items',
		callListItemPath: 'call',
		callListPaging: 'cursor',
		callListCursorPath: 'data.next_cursor',
	},
};

/** The *Call List* topic of the credential, filled in as the dialect's owner would. */
export function callListDetails({ name, calls: { filters, paging } }: Dialect) {
	return {
		describeCallList: true,
		callListStatusName: filters.status,
		callListAgentName: filters.agent,
		callListCampaignName: filters.campaign,
		callListFromName: filters.from,
		callListToName: filters.to,
		callListPhoneName: filters.phone,
		callListPageName: paging.position,
		callListPageSizeName: paging.size,
		...PLACES[name],
	};
}
