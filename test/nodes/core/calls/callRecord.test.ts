import {
	callColumns,
	simplifyCall,
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
	expect(columnsOf({})).toEqual(Object.fromEntries(columns.map((name) => [name, null])));
});

test.each<[JsonObject, JsonValue]>([
	[{ status: 'picked' }, 'Answered'],
	[{ status: 'not_picked' }, 'Not answered'],
	[{ status: 'failed' }, 'Failed'],
	[{ status: 'Not Picked' }, 'Not answered'],
	[{ status: 'voicemail' }, 'voicemail'],
	[{ status: 'constructor' }, 'constructor'],
	[{ status: 7 }, 7],
	[{ status: null }, null],
	[{}, null],
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

describe('the key of the number', () => {
	test.each<[JsonObject, string | null]>([
		[{ phone_number: '+91 98765 43210' }, '919876543210'],
		[{ payload: { data: { phone_number: '+442079460958' } } }, '442079460958'],
		[{ phone_number: '9876543210' }, null],
		[{ phone_number: null }, null],
		[{ call_id: 'a' }, null],
	])('of %j is %p', (fields, phone_key) => {
		expect(columnsOf(fields)).toMatchObject({ phone_key });
	});

	test.each(['data_captured', 'post_call_analysis', 'additional_data'])(
		'is not that of another number in %s',
		(field) => {
			const other = { call_id: 'a', [field]: { phone_number: '+919811111111' } };
			expect(columnsOf(other).phone_key).toBeNull();
			const called = { ...other, call: { number: { phone_number: '+919876543210' } } };
			expect(columnsOf(called).phone_key).toBe('919876543210');
		},
	);

	test('of the service is not replaced', () => {
		const called = { phone_number: '+919876543210' };
		expect(columnsOf({ ...called, phone_key: 7 }).phone_key).toBe(7);
		expect(columnsOf({ ...called, phone_key: null }).phone_key).toBe('919876543210');
	});
});

test('a record without documented fields stays unchanged', () => {
	expect(simplifyCall({ call: { call_id: 'a' } }, 'opt_out')).toEqual({ call: { call_id: 'a' } });
	expect(simplifyCall(record, 'opt_out')).toEqual(row);
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
	expect(transcriptTurns({ transcript: 'a: Hi\nb: Yes\n' })).toEqual(['a: Hi', 'b: Yes']);
	expect(transcriptTurns({ transcript: { turns: [] } })).toEqual([{ turns: [] }]);
	expect(transcriptTurns({ transcript: null })).toEqual([]);
});
