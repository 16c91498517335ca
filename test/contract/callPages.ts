import type { Dialect } from '../simulator';

export const LIST = 'GET /v1/calls';

/** The requests for this number of calls. */
export const pagesOf =
	(count: number) =>
	({ calls: { paging } }: Dialect) =>
		Array<string>(Math.ceil(count / paging.defaultSize)).fill(LIST);
