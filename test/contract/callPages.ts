import type { Dialect } from '../simulator';

export const LIST = 'GET /v1/calls';

/** The requests for this number of calls. */
export const pagesOf =
	(count: number) =>
	({ calls: { paging, total } }: Dialect) => {
		// Only an empty page shows the end of a list without a total or a link to the next page.
		const showsEnd = total !== null || paging.nextPath !== undefined;
		const pages = Math.ceil(count / paging.defaultSize) + (showsEnd ? 0 : 1);
		return Array<string>(pages).fill(LIST);
	};
