import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MAPPING_TOPICS } from '../../nodes/shared/apiMapping/topics';
import { UNDOCUMENTED_DETAILS } from './undocumented';

const root = path.resolve(__dirname, '../..');
const document = readFileSync(path.join(root, 'docs/service-api.md'), 'utf8');
const RULE =
	'Where the text says a detail is not shown, that detail is open and must not be guessed.';

/** The lines of the document that leave something open, without the rule that says so. */
const openLines = document
	.split('\n')
	.filter((line) => /not shown|not stated/.test(line.replace(RULE, '')));

test('the document leaves 31 places open', () => {
	expect(document).toContain(RULE);
	expect(openLines).toHaveLength(31);
	expect(openLines.filter((line) => line.includes('not stated'))).toHaveLength(1);
});

test('each open place has one entry, in the order of the document', () => {
	const entries = Object.values(UNDOCUMENTED_DETAILS);
	const found = openLines.map((line) => entries.filter(({ quote }) => line.includes(quote)));
	expect(found.map((matches) => matches.length)).toEqual(openLines.map(() => 1));
	expect(found.flat()).toEqual(entries);
});

test('each field of the credential belongs to a section with a place that is asked for', () => {
	const asked = Object.values(UNDOCUMENTED_DETAILS).filter(
		({ treatment }) => treatment === 'asked',
	);
	const sections = asked.map(({ section }) => section);
	for (const { fields } of MAPPING_TOPICS) {
		for (const { section } of Object.values(fields)) expect(sections).toContain(section);
	}
});
