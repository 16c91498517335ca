import {
	flatCallRecord,
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

const outcome = {
	outcome: 'Answered',
	answered: true,
	opted_out: null,
	status: 'picked',
	retry_count: 1,
	duration_seconds: 61,
	summary: 'Wants a visit',
	tag_id: 7,
	tag_name: 'Interested',
	captured_day: 'Friday',
	captured_status: 'keen',
	captured_guests: [1, 2],
	caller_name: 'Asha Rao',
	phone_number: '+919876543210',
	phone_key: '919876543210',
	call_id: 'c-1',
	created_at: '2026-11-20T12:00:00Z',
	call_picked_at: '2026-11-20T12:00:09Z',
	analysis_sentiment: 'positive',
	analysis_constructor: 1,
};

test('an outcome is flat, in a fixed order, and the other fields of the record follow', () => {
	const entries = Object.entries(outcome);
	expect(Object.entries(simplifyCall(record, 'opt_out'))).toEqual(entries);
	expect(Object.entries(flatCallRecord(record, 'opt_out'))).toEqual([
		...entries,
		['campaign_id', 7],
	]);
});

test.each([
	[{ status: 'picked' }, { outcome: 'Answered', answered: true }],
	[{ status: 'not_picked' }, { outcome: 'Not answered', answered: false }],
	[{ status: 'failed' }, { outcome: 'Failed', answered: null }],
	[{ status: 'Not Picked' }, { outcome: 'Not answered', answered: false }],
	[{ status: 'voicemail' }, { outcome: 'voicemail', answered: null }],
	[{ status: 'constructor' }, { outcome: 'constructor', answered: null }],
	[{ status: null }, {}],
	[{ post_call_analysis: ['keen'] }, {}],
])('the outcome of %j is %j', (fields, added) => {
	expect(flatCallRecord(fields, 'opt_out')).toEqual({
		...added,
		...fields,
		opted_out: null,
		phone_key: null,
	});
});

test('nothing captured adds no field', () => {
	const empty = { call_id: 'a', data_captured: null, post_call_analysis: {} };
	expect(flatCallRecord(empty, 'opt_out')).toEqual({
		call_id: 'a',
		opted_out: null,
		phone_key: null,
	});
});

describe('the key of the number', () => {
	test.each<[JsonObject, string | null]>([
		[{ phone_number: '+91 98765 43210' }, '919876543210'],
		[{ payload: { data: { phone_number: '+442079460958' } } }, '442079460958'],
		[{ phone_number: '9876543210' }, null],
		[{ phone_number: null }, null],
		[{ call_id: 'a' }, null],
	])('of %j is %p', (record, phone_key) => {
		expect(flatCallRecord(record, 'opt_out')).toEqual({ ...record, opted_out: null, phone_key });
	});

	test.each(['data_captured', 'post_call_analysis', 'additional_data'])(
		'is not that of another number in %s',
		(field) => {
			const record = { call_id: 'a', [field]: { phone_number: '+919811111111' } };
			expect(flatCallRecord(record, 'opt_out').phone_key).toBeNull();
			const called = { ...record, call: { number: { phone_number: '+919876543210' } } };
			expect(flatCallRecord(called, 'opt_out').phone_key).toBe('919876543210');
		},
	);

	test('of the service is not replaced', () => {
		const record = { phone_number: '+919876543210', phone_key: 7 };
		expect(flatCallRecord(record, 'opt_out')).toEqual({ ...record, opted_out: null });
		expect(flatCallRecord({ ...record, phone_key: null }, 'opt_out').phone_key).toBe(
			'919876543210',
		);
	});
});

test('a record without documented fields stays unchanged', () => {
	expect(simplifyCall({ call: { call_id: 'a' } }, 'opt_out')).toEqual({ call: { call_id: 'a' } });
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
