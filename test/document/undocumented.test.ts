import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MAPPING_TOPICS } from '../../nodes/shared/apiMapping/topics';
import { UNDOCUMENTED_DETAILS } from './undocumented';

const root = path.resolve(__dirname, '../..');
const document = readFileSync(path.join(root, 'docs/service-api.md'), 'utf8');
const RULE =
	'Where the text says a detail is not shown, that detail is open and must not be guessed.';

/** The lines of the document with an undocumented detail, without the rule itself. */
const undocumentedLines = document
	.split('\n')
	.filter((line) => /not shown|not stated/.test(line.replace(RULE, '')));

test('each undocumented detail has one entry, in the order of the document', () => {
	const entries = Object.values(UNDOCUMENTED_DETAILS);
	const entriesOf = (line: string) => entries.filter(({ quote }) => line.includes(quote));
	expect(undocumentedLines.filter((line) => entriesOf(line).length !== 1)).toEqual([]);
	expect(undocumentedLines.flatMap(entriesOf)).toEqual(entries);
});

test('each field of the API mapping belongs to a section with a configurable detail', () => {
	const configured = Object.values(UNDOCUMENTED_DETAILS).filter(
		({ treatment }) => treatment === 'configured',
	);
	const sections = configured.map(({ section }) => section);
	for (const { fields } of MAPPING_TOPICS) {
		for (const { section } of Object.values(fields)) expect(sections).toContain(section);
	}
});
