import { DateTime } from 'luxon';
import { forEveryone } from '../../shared/api/resolution';
import { type Checked, problem, quoted } from '../../shared/values';

/** Dates such as `2026-12-25`, both inclusive. Their order is that of their texts. */
export type DateRange = { first: string; last: string };

const RANGE = /^(\d{4}-\d\d-\d\d)(?: ?(?:to|\/|-|–) ?(\d{4}-\d\d-\d\d))?$/i;

/** Dates and ranges, such as `2026-12-25, 2027-01-01 to 2027-01-06`. */
export function dateRanges(value: string | readonly string[]): Checked<DateRange[]> {
	const parts = [value].flat().flatMap((text) => text.split(/[,;\n]/));
	const ranges: DateRange[] = [];
	for (const part of parts) {
		const text = part.trim().replace(/\s+/g, ' ');
		if (text === '') continue;
		const [, first, last = first] = RANGE.exec(text) ?? [];
		if (first === undefined || last === undefined || !isDate(first) || !isDate(last)) {
			return problem(
				`'Calling Hours Except On' must list dates (got ${quoted(text)})`,
				forEveryone(
					'Enter dates as year, month, and day, such as 2026-12-25, 2027-01-01 to 2027-01-06.',
				),
			);
		}
		if (last < first) {
			return problem(
				`A range in 'Calling Hours Except On' ends before it starts (got ${quoted(text)})`,
				forEveryone('Enter the earlier date first.'),
			);
		}
		ranges.push({ first, last });
	}
	return { value: ranges };
}

function isDate(text: string): boolean {
	return DateTime.fromISO(text, { zone: 'utc' }).isValid;
}

/** Whether the local date of a moment is in one of the ranges. */
export function isWithin(ranges: readonly DateRange[], moment: DateTime): boolean {
	if (ranges.length === 0) return false;
	const date = moment.toISODate() ?? '';
	return ranges.some(({ first, last }) => date >= first && date <= last);
}
