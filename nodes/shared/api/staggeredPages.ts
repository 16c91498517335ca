import maxBy from 'lodash/maxBy';
import range from 'lodash/range';
import { MAX_READINGS, type Reading } from './completeList';

/** A page by its place among pages of its own size, from 0. */
export type SizedPage = { index: number; size: number };

/** Pages have two entries at least: none shows what follows on it otherwise. */
const SMALLEST_SIZE = 2;

/**
 * The page size of a reading, which no other one has. It is not larger than the service's own pages, which may be the
 * largest that it gives, unless those are tiny.
 */
export function sizeOfReading({ firstPageLength, number }: Reading): number {
	const step = number - 1;
	return firstPageLength > MAX_READINGS ? firstPageLength - step : firstPageLength + step;
}

/** The page that has an entry and ends as late as possible, but not where a page of the first reading ended. */
export function pageAcross(entry: number, reading: Reading): SizedPage {
	const largest = sizeOfReading(reading);
	const pages = range(SMALLEST_SIZE, largest + 1).map((size) => pageWith(entry, size));
	const across = pages.filter((page) => endOf(page) % reading.firstPageLength !== 0);
	return maxBy(across, endOf) ?? pageWith(entry, largest);
}

/** The pages after that one, up to the end of the list. */
export function* pagesAcross(
	page: SizedPage,
	total: number,
	reading: Reading,
): Generator<SizedPage> {
	for (let end = endOf(page); end < total; ) {
		const next = pageAcross(end, reading);
		yield next;
		end = endOf(next);
	}
}

export function startOf({ index, size }: SizedPage): number {
	return index * size;
}

export function endOf({ index, size }: SizedPage): number {
	return (index + 1) * size;
}

function pageWith(entry: number, size: number): SizedPage {
	return { index: Math.floor(entry / size), size };
}
