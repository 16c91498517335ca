import { callColumns } from '../../../../nodes/core/calls/callRecord';
import type { JsonObject, JsonValue } from '../../../../nodes/core/values/json';

const captured = (value: JsonValue): JsonObject => ({ data_captured: { opt_out: value } });

test.each<[JsonValue, boolean | null]>([
	['yes', true],
	['YES', true],
	[' Yes. ', true],
	['"yes!"', true],
	['\u200byes', true],
	['True', true],
	[true, true],
	['no', false],
	['No.', false],
	["'no'", false],
	['FALSE', false],
	[false, false],
	['', null],
	[' ', null],
	[null, null],
	['not said', null],
	['maybe later', null],
	['yes, but only on weekends', null],
	['Yes, call me on Friday', null],
	['no more calls', null],
	['No problem, call again', null],
	['yes?', null],
	['yes no', null],
	['not yes', null],
	['y', null],
	['n/a', null],
	['हाँ', null],
	['नहीं', null],
	['sí', null],
	['oui', null],
	['ja', null],
	[1, null],
	[0, null],
	['1', null],
	[['yes'], null],
	[{ value: 'yes' }, null],
	['yes '.repeat(100_000), null],
])('a person whose captured value is %j has opted out: %p', (value, optedOut) => {
	expect(callColumns(captured(value), 'opt_out')).toMatchObject({ opted_out: optedOut });
});

test.each<[string, JsonObject]>([
	['nothing was captured', {}],
	['only something else was captured', { data_captured: { day: 'Friday' } }],
	['the captured values are a text', { data_captured: 'opt_out: yes' }],
	['only the summary says so', { summary: 'opt_out: yes. Wants no more calls.' }],
	['only the analysis says so', { post_call_analysis: { opt_out: 'yes' } }],
	['only the transcript says so', { transcript: [{ role: 'user', content: 'yes' }] }],
	['only a field of the record itself says so', { opt_out: 'yes', opted_out: true }],
])('it is unknown whether a person has opted out if %s', (_title, record) => {
	expect(callColumns(record, 'opt_out')).toMatchObject({ opted_out: null });
});

test('the value is that of the key which the user enters', () => {
	const record = { data_captured: { opt_out: 'no', 'no.calls': 'yes' } };
	expect(callColumns(record, 'no.calls')).toMatchObject({ opted_out: true });
	expect(callColumns(record, 'constructor')).toMatchObject({ opted_out: null });
});
