import {
	callColumns,
	transcriptText,
	transcriptTurns,
} from '../../../../nodes/core/calls/callRecord';
import type { JsonObject, JsonValue } from '../../../../nodes/core/values/json';

const record = {
	call_id: 'c-1',
	campaign_id: 7,
	post_call_analysis: { sentiment: 'positive', constructor: 1 },
	created_at: '2026-11-20T12:00:00Z',
	call_picked_at: '2026-11-20T12:00:09Z',
	phone_number: '+919876543210',
	caller_name: 'Asha Rao',
	retry_count: 1,
	duration_seconds: 61,
	status: 'picked',
	data_captured: { day: 'Friday', status: 'keen', guests: [1, 2] },
	summary: 'Wants a visit',
	tag: { id: 7, name: 'Interested' },
};

const row = {
	person_name: 'Asha Rao',
	phone_number: '+919876543210',
	outcome: 'Answered',
	summary: 'Wants a visit',
	tag: 'Interested',
	created_at: '2026-11-20T12:00:00Z',
	call_id: 'c-1',
	captured_day: 'Friday',
	captured_status: 'keen',
	captured_guests: [1, 2],
	opted_out: null,
	call_ended_reason_message: null,
	duration_seconds: 61,
	retry_count: 1,
	agent_name: null,
	campaign_id: 7,
	phone_key: '919876543210',
};

const columnsOf = (fields: JsonObject) => callColumns(fields, 'opt_out');

test('a call is a row whose columns have one order', () => {
	expect(Object.entries(columnsOf(record))).toEqual(Object.entries(row));
});

test('a row has the same 14 columns besides captured values, whatever the record has', () => {
	const columns = Object.keys(row).filter((name) => !name.startsWith('captured_'));
	expect(columns).toHaveLength(14);
	const empty = { call_id: 'a', data_captured: null, post_call_analysis: {}, brand_new_field: 1 };
	expect(Object.keys(columnsOf(empty))).toEqual(columns);
	expect(columnsOf({ call_id: null })).toEqual(
		Object.fromEntries(columns.map((name) => [name, null])),
	);
});

test.each<[JsonObject, JsonValue]>([
	[{ status: 'picked' }, 'Answered'],
	[{ status: 'not_picked' }, 'Not answered'],
	[{ status: 'failed' }, 'Failed'],
	[{ status: 'Not Picked' }, 'Not answered'],
	[{ status: 'voice_mail' }, 'Voice mail'],
	[{ status: 'constructor' }, 'Constructor'],
	[{ status: 7 }, 7],
	[{ status: null }, null],
])('the outcome of %j is %j', (fields, outcome) => {
	expect(columnsOf(fields)).toMatchObject({ outcome });
});

test.each<[JsonValue, JsonValue]>([
	[{ id: 7, name: 'Interested', color_code: '#2E7D32' }, 'Interested'],
	[{ id: 7 }, null],
	['Interested', 'Interested'],
	[null, null],
])('the tag of %j is %j', (given, tag) => {
	expect(columnsOf({ tag: given })).toMatchObject({ tag });
});

test.each<[JsonObject, JsonValue]>([
	[{ phone_number: '+91 98765 43210' }, '919876543210'],
	[{ phone_number: '9876543210' }, null],
	[{ phone_number: null }, null],
	[{ phone_number: '+919876543210', phone_key: 7 }, 7],
	[{ phone_number: '+919876543210', phone_key: null }, '919876543210'],
])('the key of the number of %j is %p', (fields, phone_key) => {
	expect(columnsOf(fields)).toMatchObject({ phone_key });
});

test('a record without documented fields stays unchanged', () => {
	expect(columnsOf({ call: { call_id: 'a' } })).toEqual({ call: { call_id: 'a' } });
});

test('the transcript has one line per turn, with any roles', () => {
	const turns: JsonValue[] = [
		{ role: 'assistant', content: 'Hello,\n  how are you?', timestamp: 't' },
		{ role: 'caller-7', content: 'Fine' },
		{ role: null, content: { text: 'odd' } },
		{ content: 'no role' },
		'note',
	];
	expect(transcriptText(turns)).toBe(
		'assistant: Hello, how are you?\ncaller-7: Fine\n: {"text":"odd"}\n: no role\nnote',
	);
	expect(transcriptTurns({ transcript: 'a: Hi' })).toEqual(['a: Hi']);
	expect(transcriptTurns({ transcript: { turns: [] } })).toEqual([{ turns: [] }]);
	expect(transcriptTurns({ transcript: null })).toEqual([]);
});

const captured = (value: JsonValue): JsonObject => ({ data_captured: { opt_out: value } });

test.each<[JsonObject, boolean | null]>([
	...['yes', 'YES', ' Yes. ', '"yes!"', '\u200byes', 'True', true].map(
		(value): [JsonObject, true] => [captured(value), true],
	),
	...['no', 'No.', "'no'", 'FALSE', false].map((value): [JsonObject, false] => [
		captured(value),
		false,
	]),
	...[
		...['', null, 'not said', 'maybe later', 'yes, but only on weekends', 'no more calls'],
		...['No problem, call again', 'yes?', 'yes no', 'not yes', 'y', 'n/a', 'हाँ', 'sí', 1, '1'],
		...[['yes'], { value: 'yes' }, 'yes '.repeat(100_000)],
	].map((value): [JsonObject, null] => [captured(value), null]),
	[{ call_id: 'a' }, null],
	[{ data_captured: 'opt_out: yes' }, null],
	[{ summary: 'opt_out: yes. Wants no more calls.' }, null],
	[{ call_id: 'a', opt_out: 'yes', opted_out: true }, null],
])('whether a person opted out is in the captured value alone: %j: %p', (record, opted_out) => {
	expect(columnsOf(record)).toMatchObject({ opted_out });
});

test('the captured value is that of the key which the user enters', () => {
	const called = { data_captured: { opt_out: 'no', 'no.calls': 'yes' } };
	expect(callColumns(called, 'no.calls')).toMatchObject({ opted_out: true });
	expect(callColumns(called, 'constructor')).toMatchObject({ opted_out: null });
});
