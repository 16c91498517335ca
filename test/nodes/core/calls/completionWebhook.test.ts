import { readReport, reportedField } from '../../../../nodes/core/calls/completionWebhook';
import type { JsonObject, JsonValue } from '../../../../nodes/core/values/json';

const ID = '6f1c2a34-0000-4000-8000-000000000001';
const OTHER = '6f1c2a34-0000-4000-8000-000000000002';

const idsOf = (payload: JsonValue) => readReport(payload).map(({ callId }) => callId);
const call = (call_id: string, fields: JsonObject = {}): JsonObject => ({ call_id, ...fields });

describe('the calls of a report', () => {
	it.each<[string, JsonValue, string[]]>([
		['none in an empty object', {}, []],
		['none in a text', 'call_id', []],
		['none in null', null, []],
		['no number', { call_id: 7 }, []],
		['no empty text', call(' '), []],
		['no way out of the path', call('../calls'), []],
		['no query', call('a?b'), []],
		['no text that is too long', call('a'.repeat(129)), []],
		['the longest ID', call('a'.repeat(128)), ['a'.repeat(128)]],
		['none in a JSON text', { data: JSON.stringify(call(ID)) }, []],
		['none that the call captured', { data_captured: call(ID) }, []],
		['the one nearest to the top', { data: { more: call(OTHER) }, call: call(ID) }, [ID]],
		['not what the call captured', { data_captured: call(OTHER), data: call(ID) }, [ID]],
		['a usable one below an unusable one', { call_id: 7, data: call(ID) }, [ID]],
		['both of a list', [call(ID), call(OTHER)], [ID, OTHER]],
		['not one that is deeper than another', [{ data: call(OTHER) }, call(ID)], [ID]],
		['both of a list in an object', { ok: true, calls: [call(ID), call(OTHER)] }, [ID, OTHER]],
		['both of two fields', { first: call(ID), second: call(OTHER) }, [ID, OTHER]],
		['both of two lists', [[call(ID)], [call(OTHER)]], [ID, OTHER]],
		['two outcomes of one call', { calls: [call(ID, { n: 1 }), call(ID, { n: 2 })] }, [ID, ID]],
		['not those in a list below a call', call(ID, { history: [call(OTHER)] }), [ID]],
	])('%s', (_name, payload, ids) => {
		expect(idsOf(payload)).toEqual(ids);
	});

	const nested = (levels: number): JsonValue =>
		Array.from({ length: levels }).reduce<JsonValue>((inner) => [inner], call(ID));
	const zeros = Array.from({ length: 200_000 }, () => 0);
	const objects = zeros.map(() => ({}));
	const many = (length: number) => Array.from({ length }, (_, index) => call(`c${index}`));

	it.each<[string, JsonValue, number]>([
		['500 levels down', nested(500), 1],
		['with many values inside the call', call(ID, { transcript: zeros }), 1],
		['with many values beside the call', { data: call(ID), transcript: zeros }, 1],
		['before too many objects', [call(ID), ...objects], 1],
		['not after too many objects', [...objects, call(ID)], 0],
		['100 in a list', many(100), 100],
		['20,000 in fields', { ...many(20_000) }, 20_000],
	])('%s', (_name, payload, count) => {
		expect(readReport(payload)).toHaveLength(count);
	});
});

describe('a field of a reported call', () => {
	it.each<[string, JsonValue, JsonValue[]]>([
		['its own', call(ID, { status: 'picked' }), ['picked']],
		[
			'both, if the envelope has the ID as well',
			call(ID, { status: 'ok', data: call(ID, { status: 'picked' }) }),
			[['ok', 'picked']],
		],
		[
			'not that of the envelope',
			{ success: true, status: 'ok', data: call(ID, { status: 'picked' }) },
			['picked'],
		],
		[
			'below its ID, before the envelope',
			{ status: 'ok', data: call(ID, { call: { status: 'picked' } }) },
			['picked'],
		],
		['not what the call captured', call(ID, { data_captured: { status: 'interested' } }), [null]],
		['none beside it', { event: call(ID), call: { status: 'picked' } }, [null]],
		['each its own', [call(ID, { status: 'a' }), call(OTHER, { status: 'b' })], ['a', 'b']],
		['none of another call', [call(ID), call(OTHER, { status: 'b' })], [null, 'b']],
		['no unset one', call(ID, { status: ' ', more: { status: 'picked' } }), ['picked']],
	])('%s', (_name, payload, values) => {
		expect(readReport(payload).map((one) => reportedField(one, 'status'))).toEqual(values);
	});
});
