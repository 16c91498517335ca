import fc from 'fast-check';
import {
	callIdKey,
	findField,
	readReport,
	reportedField,
	type ReportedCall,
} from '../../../../nodes/shared/calls/report';
import type { JsonObject, JsonValue } from '../../../../nodes/shared/json';
import { excessOf } from '../../../growth/growth';
import { dialects } from '../../../simulator';

const ID = '6f1c2a34-0000-4000-8000-000000000001';

it('finds the field closest to the top level', () => {
	expect(findField([{ x: [{ status: 'inner' }] }, { status: 'outer' }], 'status')).toBe('outer');
});
const OTHER = '6f1c2a34-0000-4000-8000-000000000002';

const callsOf = (payload: JsonValue): ReportedCall[] => {
	const report = readReport(payload);
	if (!Array.isArray(report)) throw new Error(report);
	return report;
};
const idsOf = (payload: JsonValue) => callsOf(payload).map(({ callId }) => callId);

describe('the calls of a report', () => {
	const bodies = Object.values(dialects).map(({ name, webhook }) => [name, webhook] as const);

	it.each(bodies)('one in the payload of dialect %s', (_name, webhook) => {
		const payload: JsonValue = JSON.parse(
			JSON.stringify(webhook.body(ID, { call_id: ID, status: 'picked' })),
		);
		expect(callsOf(payload)).toMatchObject([{ callId: ID, part: payload }]);
	});

	it.each<[string, JsonValue]>([
		['nothing', {}],
		['text', 'call_id'],
		['null', null],
		['a number for it', { call_id: 7 }],
		['an empty text for it', { call_id: ' ' }],
		['a way out of the path', { call_id: '../calls' }],
		['a query', { call_id: 'a?b' }],
		['a text too long', { call_id: 'a'.repeat(129) }],
		['a JSON text', { data: JSON.stringify({ call_id: ID }) }],
		['what the call captured', { data_captured: { call_id: ID } }],
		['what the prototype has', Object.create({ call_id: ID })],
	])('no call in %s', (_name, payload) => {
		expect(readReport(payload)).toEqual([]);
	});

	it.each<[string, JsonValue, string[]]>([
		[
			'the one nearest to the top',
			{ data: { more: { call_id: OTHER } }, call: { call_id: ID } },
			[ID],
		],
		[
			'not what the call captured',
			{ data_captured: { call_id: OTHER }, data: { call_id: ID } },
			[ID],
		],
		['a usable one below an unusable one', { call_id: 7, data: { call_id: ID } }, [ID]],
		['both of a list', [{ call_id: ID }, { call_id: OTHER }], [ID, OTHER]],
		['both of a list, one deeper', [{ call_id: ID }, { data: { call_id: OTHER } }], [ID, OTHER]],
		[
			'both of a list in an object',
			{ ok: true, calls: [{ call_id: ID }, { call_id: OTHER }] },
			[ID, OTHER],
		],
		['both of two fields', { first: { call_id: ID }, second: { call_id: OTHER } }, [ID, OTHER]],
		[
			'all of a list whose nearest call is as near as one beside it',
			{
				calls: [{ data: { call_id: ID } }, { call_id: OTHER }],
				event: { call: { call_id: 'third' } },
			},
			[ID, OTHER, 'third'],
		],
		[
			'that of a field before a list whose calls are all deeper',
			{ calls: [{ data: { call_id: ID } }], event: { call: { call_id: OTHER } } },
			[OTHER],
		],
		['both of two lists', [[{ call_id: ID }], [{ call_id: OTHER }]], [ID, OTHER]],
		[
			'one that two fields name',
			{ event: { call_id: ID }, call: { call_id: ID.toUpperCase() } },
			[ID.toUpperCase()],
		],
		[
			'two outcomes of one call',
			[
				{ call_id: ID, n: 1 },
				{ call_id: ID, n: 2 },
			],
			[ID, ID],
		],
		['not those in a list below a call', { call_id: ID, history: [{ call_id: OTHER }] }, [ID]],
	])('%s', (_name, payload, ids) => {
		expect(idsOf(payload)).toEqual(ids);
	});

	it('at any depth, with bounded work', () => {
		const deep = (levels: number): JsonValue => {
			let payload: JsonValue = { call_id: ID };
			for (let level = 0; level < levels; level++) payload = { inner: [payload] };
			return payload;
		};
		expect(idsOf(deep(1))).toEqual([ID]);
		expect(idsOf(deep(5_000))).toEqual([ID]);
		expect(idsOf(deep(100_000))).toEqual([]);
		const zeros = Array.from({ length: 200_000 }, () => 0);
		expect(readReport([...zeros, { call_id: ID }])).toEqual([]);
		expect(readReport([{ call_id: ID }, ...zeros])).toBe('too_many_values');
		const fields = Object.fromEntries(zeros.map((zero, index) => [`n${index}`, zero]));
		expect(readReport({ first: { call_id: ID }, ...fields })).toBe('too_many_values');
		expect(idsOf({ data: { call_id: ID }, transcript: zeros })).toEqual([ID]);
		expect(idsOf({ call_id: ID, transcript: zeros })).toEqual([ID]);
	});

	it('at most 100', () => {
		const list = (length: number) =>
			Array.from({ length }, (_, index) => ({ call_id: `c${index}` }));
		expect(idsOf(list(100))).toHaveLength(100);
		expect(readReport(list(101))).toBe('too_many_calls');
		expect(readReport(list(40_000))).toBe('too_many_calls');
		expect(readReport(Array.from({ length: 1_000 }, () => ({ call_id: ID })))).toBe(
			'too_many_calls',
		);
		expect(readReport(Object.fromEntries(Object.entries(list(20_000))))).toBe('too_many_calls');
	});

	it('each has what is about it alone', () => {
		const payload = [
			{ event: 'completed', data: { call_id: ID, status: 'picked' } },
			{ event: 'completed', data: [{ call_id: OTHER }, { call_id: 'third' }] },
		];
		expect(callsOf(payload).map(({ part }) => part)).toEqual([
			payload[0],
			{ call_id: OTHER },
			{ call_id: 'third' },
		]);
	});
});

describe('a field of a reported call', () => {
	const fieldOf = (payload: JsonValue) =>
		callsOf(payload).map((call) => reportedField(call, 'status'));

	it.each<[string, JsonValue, JsonValue[]]>([
		['its own', { call_id: ID, status: 'picked' }, ['picked']],
		[
			'both, if the envelope has the ID as well',
			{ call_id: ID, status: 'ok', data: { call_id: ID, status: 'picked' } },
			[['ok', 'picked']],
		],
		[
			'not that of the envelope',
			{ success: true, status: 'ok', data: { call_id: ID, status: 'picked' } },
			['picked'],
		],
		[
			'below its ID, before the envelope',
			{ status: 'ok', data: { call_id: ID, call: { status: 'picked' } } },
			['picked'],
		],
		[
			'not what the call captured',
			{ call_id: ID, data_captured: { status: 'interested' } },
			[null],
		],
		['beside it', { event: { call_id: ID }, call: { status: 'picked' } }, ['picked']],
		[
			'all, if none is nearer',
			{ status: 'ok', event: { call_id: ID }, call: { status: 'picked' } },
			[['ok', 'picked']],
		],
		[
			'each its own',
			[
				{ call_id: ID, status: 'a' },
				{ call_id: OTHER, status: 'b' },
			],
			['a', 'b'],
		],
		['none of another call', [{ call_id: ID }, { call_id: OTHER, status: 'b' }], [null, 'b']],
		['an unset one is none', { call_id: ID, status: ' ', more: { status: 'picked' } }, ['picked']],
		['none', { call_id: ID }, [null]],
	])('%s', (_name, payload, values) => {
		expect(fieldOf(payload)).toEqual(values);
	});
});

test('upper and lower case of a UUID mean the same, of another ID they do not', () => {
	expect(callIdKey(ID.toUpperCase())).toBe(callIdKey(ID));
	expect(callIdKey('aBc')).not.toBe(callIdKey('abc'));
});

/** A report with calls in lists and objects. */
const reports = fc
	.array(fc.uuid(), { minLength: 1, maxLength: 8 })
	.chain((ids) =>
		fc
			.tuple(...ids.map(() => fc.tuple(fc.boolean(), fc.constantFrom('data', 'call', 'payload'))))
			.map((shapes) => ({
				ids,
				list: ids.map((call_id, index): JsonObject => {
					const [isWrapped, name] = shapes[index] ?? [false, 'data'];
					const record = { call_id, status: `status of ${call_id}` };
					return isWrapped ? { status: 'ok', [name]: record } : record;
				}),
			})),
	)
	.chain(({ ids, list }) =>
		fc
			.constantFrom<JsonValue>(list, { status: 'ok', calls: list }, [list], { a: { b: list } })
			.map((payload) => ({ ids, payload })),
	);

test('however the calls of a list are wrapped, each is found with its own status', () => {
	fc.assert(
		fc.property(reports, ({ ids, payload }) => {
			const calls = callsOf(payload);
			expect(calls.map(({ callId }) => callId).sort()).toEqual([...ids].sort());
			for (const call of calls) {
				expect(reportedField(call, 'status')).toBe(`status of ${call.callId}`);
			}
		}),
		{ numRuns: 300 },
	);
});

test('whatever else is in a list, a call in it is found', () => {
	fc.assert(
		fc.property(fc.jsonValue({ maxDepth: 6 }), fc.uuid(), (made, callId) => {
			const payload: JsonValue = JSON.parse(JSON.stringify([made, { call_id: callId }, made]));
			expect(idsOf(payload)).toContain(callId);
		}),
		{ numRuns: 300 },
	);
});

test.each<[string, (calls: JsonObject[]) => JsonValue]>([
	['in a list', (calls) => calls],
	['in the fields of an object', (calls) => ({ ...calls })],
])('calls %s take no longer each, however many a stranger sends', async (_where, wrap) => {
	const many = (length: number) =>
		wrap(
			Array.from({ length }, (_, nth) => ({
				call_id: `${ID.slice(0, -8)}${nth.toString(16).padStart(8, '0')}`,
			})),
		);
	expect(readReport(many(40_000))).toBe('too_many_calls');
	const job = (length: number) => {
		const payload = many(length);
		return () => readReport(payload);
	};
	expect(await excessOf(job, 40_000)).toBeUndefined();
});
