import { readFileSync } from 'node:fs';
import path from 'node:path';
import { OPEN_DETAIL_TOPICS, OpenDetails } from '../../../../nodes/shared/apiMapping';
import { OPEN_PLACES } from '../../../../nodes/shared/apiMapping/places';

const root = path.resolve(__dirname, '../../../..');
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
	const entries = Object.values(OPEN_PLACES);
	const found = openLines.map((line) => entries.filter(({ quote }) => line.includes(quote)));
	expect(found.map((matches) => matches.length)).toEqual(openLines.map(() => 1));
	expect(found.flat()).toEqual(entries);
});

test('each field of the credential belongs to a place that is asked for', () => {
	for (const { fields } of OPEN_DETAIL_TOPICS) {
		for (const [name, { place }] of Object.entries(fields)) {
			expect({ name, treatment: OPEN_PLACES[place].treatment }).toEqual({
				name,
				treatment: 'asked',
			});
		}
	}
});

test('a missing detail names the credential’s switch and field, and whom to ask', () => {
	const missing = () => new OpenDetails({ dndAddAgentName: ' ' }).required('dndAddAgentName');
	expect(missing).toThrow('The credential does not say yet: “Add: Name of the Agent Value”');
	expect(caught(missing)).toMatchObject({
		outcome: 'notSent',
		todo: expect.stringMatching(
			/turn on “Open Details: Do-Not-Disturb Lists”.*“Endpoints › POST \/v1\/dnd_numbers”/,
		),
	});
	expect(new OpenDetails({ dndAddAgentName: ' agent ' }).required('dndAddAgentName')).toBe('agent');
});

test('several missing details are named at once, each once', () => {
	const missing = () =>
		new OpenDetails({ dndAddPhoneName: 'phone' }).require([
			'dndAddAgentName',
			'dndAddPhoneName',
			'dndAddPlacement',
			'dndAddAgentName',
			'chatCreateAgentName',
		]);
	expect(missing).toThrow(
		'The credential does not say yet: “Add: Name of the Agent Value”, “Add: Where Values Go” and “Create Session: Name of the Agent Value”',
	);
	expect(caught(missing)).toMatchObject({
		todo: expect.stringMatching(
			/turn on “Open Details: Do-Not-Disturb Lists” and “Open Details: Chat” and fill in “Add: Name.*under “Endpoints › POST \/v1\/dnd_numbers” and “Endpoints › POST \/v1\/chat\/session”/,
		),
	});
});

function caught(act: () => unknown): unknown {
	try {
		return act();
	} catch (error) {
		return error;
	}
}
