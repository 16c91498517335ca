import { nameIn } from './sheetCells';

/** Usual headings of a column with the names of people. */
export const NAME_SYNONYMS = [
	'Name',
	'Full Name',
	'Contact Name',
	'Customer Name',
	'Lead Name',
] as const;

const MAX_LENGTH = 40;
const SEPARATORS = /[\s_-]+/g;
const NAME_KEYS = new Set(
	['person_name', 'caller_name', ...NAME_SYNONYMS].map((name) => keyOf(name)),
);

/** The name of the person that a row is about, for messages. Empty if no usual column has one. */
export function personNameOf(row: object): string {
	const cells = Object.entries<unknown>({ ...row }).filter(([key]) => NAME_KEYS.has(keyOf(key)));
	const names = cells.map(([, cell]) => (typeof cell === 'string' ? nameIn(cell) : ''));
	return names.find((name) => name !== '' && name.length <= MAX_LENGTH) ?? '';
}

function keyOf(heading: string): string {
	return heading.toLowerCase().replace(SEPARATORS, '');
}
