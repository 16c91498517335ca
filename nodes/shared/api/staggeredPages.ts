import maxBy from 'lodash/maxBy';
import range from 'lodash/range';
import { MAX_READINGS, type Reading } from './completeList';

/** A page by its index among pages of its size, from 0. */
export type SizedPage = { index: number; size: number };

/** A page needs two entries to show which one follows the other. */
const SMALLEST_SIZE = 2;

/**
 * The page size of a reading, which differs from that of all other readings. Not larger than the service's default
 * page size, which may be its maximum, unless that is very small.
 */
export function sizeOfReading({ firstPageLength, number }: Reading): number {
	const step = number - 1;
	return firstPageLength > MAX_READINGS ? firstPageLength - step : firstPageLength + step;
}

/** The page that contains an entry and ends as late as possible, but not where a page of the first reading ends. */
export function pageAcross(entry: number, reading: Reading): SizedPage {
	const largest = sizeOfReading(reading);
	const pages = range(SMALLEST_SIZE, largest + 1).map((size) => pageWith(entry, size));
	const across = pages.filter((page) => endOf(page) % reading.firstPageLength !== 0);
	return maxBy(across, endOf) ?? pageWith(entry, largest);
}

/** The pages after a page, up to the end of the list. */
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
