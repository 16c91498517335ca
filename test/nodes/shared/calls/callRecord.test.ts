import {
	simplifyCall,
	transcriptText,
	transcriptTurns,
	withExpiry,
	withPhoneKey,
} from '../../../../nodes/shared/calls/callRecord';
import type { JsonObject, JsonValue } from '../../../../nodes/shared/json';

test('a simplified record has the documented fields in a fixed order', () => {
	const record = {
		tag: null,
		summary: 'Wants a visit',
		call_id: 'a',
		campaign_id: 7,
		status: 'new',
	};
	expect(JSON.stringify(simplifyCall(record))).toBe(
		'{"status":"new","summary":"Wants a visit","call_id":"a","phone_key":null}',
	);
});

describe('the key of the number', () => {
	test.each<[JsonObject, string | null]>([
		[{ phone_number: '+91 98765 43210' }, '919876543210'],
		[{ payload: { data: { phone_number: '+442079460958' } } }, '442079460958'],
		[{ phone_number: '9876543210' }, null],
		[{ phone_number: null }, null],
		[{ call_id: 'a' }, null],
	])('of %j is %p', (record, phone_key) => {
		expect(withPhoneKey(record)).toEqual({ ...record, phone_key });
	});

	test('is not that of another number, which was captured in the call or sent with it', () => {
		const other = { phone_number: '+919811111111' };
		for (const field of ['data_captured', 'post_call_analysis', 'additional_data']) {
			const record = { call_id: 'a', [field]: other };
			expect(withPhoneKey(record).phone_key).toBeNull();
			expect(simplifyCall(record).phone_key).toBeNull();
			const called = { ...record, call: { number: { phone_number: '+919876543210' } } };
			expect(withPhoneKey(called).phone_key).toBe('919876543210');
		}
	});

	test('of the service is not replaced', () => {
		const record = { phone_number: '+919876543210', phone_key: 7 };
		expect(withPhoneKey(record)).toEqual(record);
		expect(withPhoneKey({ ...record, phone_key: null }).phone_key).toBe('919876543210');
	});
});

test('a record without documented fields stays unchanged', () => {
	expect(simplifyCall({ call: { call_id: 'a' } })).toEqual({ call: { call_id: 'a' } });
});

describe('the transcript', () => {
	test('has one line per turn, with any roles', () => {
		const turns: JsonValue[] = [
			{ role: 'assistant', content: 'Hello,\n  how are you?', timestamp: 't' },
			{ role: 'caller-7', content: 'Fine' },
			{ role: null, content: { text: 'odd' } },
			'note',
		];
		expect(transcriptText(turns)).toBe(
			'assistant: Hello, how are you?\ncaller-7: Fine\n: {"text":"odd"}\nnote',
		);
	});

	test.each<JsonObject>([{}, { transcript: null }, { transcript: 'x' }])(
		'%p has no turns',
		(data) => {
			expect(transcriptTurns(data)).toEqual([]);
		},
	);
});

test('the expiry of a link is measured from the request', () => {
	const askedAt = Date.parse('2027-01-31T10:00:00Z');
	expect(withExpiry({ recording_url: 'u', expires_in_seconds: 900 }, askedAt)).toEqual({
		recording_url: 'u',
		expires_in_seconds: 900,
		expires_at: '2027-01-31T10:15:00.000Z',
	});
	expect(withExpiry({ recording_url: 'u' }, askedAt)).toEqual({ recording_url: 'u' });
});

test('a record for the output begins with what a person looks for, and IDs and times follow', () => {
	const record = {
		call_id: 'c-1',
		created_at: '2026-11-20T12:00:00Z',
		phone_number: '+919876543210',
		caller_name: 'Asha Rao',
		status: 'picked',
		data_captured: { day: 'Friday' },
		summary: 'Wants a visit',
	};
	const first = ['status', 'summary', 'data_captured', 'caller_name', 'phone_number'];
	expect(Object.keys(withPhoneKey(record)).slice(0, 5)).toEqual(first);
	expect(Object.keys(simplifyCall(record))).toEqual([
		...first,
		'call_id',
		'created_at',
		'phone_key',
	]);
});
