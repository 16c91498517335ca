import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { MAX_ROWS_SENT_ALONE } from '../../../../nodes/PushCampaignContacts/push/rejectedRows';
import { NumbersOfExecution } from '../../../../nodes/PushCampaignContacts/push/numbersOfExecution';
import { ItemRows } from '../../../../nodes/PushCampaignContacts/push/rows';
import type { PushRecord } from '../../../../nodes/PushCampaignContacts/push/pushRecord';
import { NotSent } from '../../../../nodes/shared/api/errors';
import { onScreenOnly } from '../../../../nodes/shared/api/resolution';
import type { HttpResponse, ServiceRequest } from '../../../../nodes/shared/api/http';
import { clientOf } from '../../shared/api/clientOf';
import {
	accept,
	contactItems,
	contactsIn,
	json,
	phone,
	phonesOf,
	push,
	reject,
	scripted,
	statuses,
	stored,
} from './scripted';
import { MANY_RUNS } from '../../../fuzz/runs';

const rowsOf = (count: number) => Array.from({ length: count }, (_, row) => row);
const byNumber = (one: number, other: number) => one - other;

test('stops at a row with a cell that is no JSON, and reports earlier rows', async () => {
	const ring: { inner?: object } = {};
	ring.inner = ring;
	const { sent, options } = scripted(accept);
	const items = contactItems(6).map(({ json: row }, index) => ({
		json: index === 3 ? { ...row, ring } : row,
	}));
	const outcome = await push(items, { ...options, contactsPerRequest: 2 });
	expect(sent).toEqual([[phone(0), phone(1)]]);
	expect(outcome.stopped?.message).toMatch(/^A cell of row 4 can't be converted to JSON \(.+\)/);
	expect(statuses(outcome)).toEqual(['2 not_sent', '3 not_sent', '4 not_sent', '5 not_sent']);
});

test('sends dates, times, and unusual numbers as JSON', async () => {
	const { requests, options } = scripted(accept);
	const day = DateTime.fromISO('2026-11-21T10:00:00Z', { zone: 'utc' });
	const odd = { none: NaN, zero: -0, half: '\ud800', own: { a: [day] } };
	const row = { phone: phone(0), day, date: day.toJSDate(), ...odd };
	await push([{ json: row }], options);
	expect(requests.map(contactsIn)).toEqual([[JSON.parse(JSON.stringify(row))]]);
});

test('prepares the next chunk while a request is in flight, and each chunk once', async () => {
	const { options } = scripted(accept);
	const rows = new ItemRows(contactItems(6));
	const pick = jest.spyOn(rows, 'pick');
	const pickedAtResponse: number[] = [];
	const transport = async (request: ServiceRequest): Promise<HttpResponse> => {
		await sleep(50);
		return accept(phonesOf(request), pickedAtResponse.push(pick.mock.calls.length));
	};
	const client = clientOf(transport);
	const { pushed } = await push(rows, { ...options, client, contactsPerRequest: 2 });
	expect(pushed.map((request) => [...request.rows])).toEqual([
		[0, 1],
		[2, 3],
		[4, 5],
	]);
	// The check has picked all rows before.
	expect(pickedAtResponse).toEqual([3, 4, 4]);
});

test('sends no further request after the execution was stopped', async () => {
	const { sent, options } = scripted(accept);
	const outcome = await push(10_001, { ...options, stopRequested: () => sent.length === 1 });
	expect(statuses(outcome)).toEqual(['10000 not_sent']);
	expect(outcome.stopped?.message).toMatch(/^The push was stopped/);
});

test('reports the rows as unknown after an unexpected error', async () => {
	const { options } = scripted(() => {
		throw new TypeError('a defect');
	});
	const outcome = await push(1, options);
	expect(statuses(outcome)).toEqual(['0 unknown']);
	expect(outcome.stopped?.originalMessage).toBe('a defect');
});

test('a row that the service rejected is rejected on Retry without a request', async () => {
	const record: PushRecord = {};
	const service = scripted((phones, request) => {
		const position = phones.indexOf(phone(1));
		return position < 0 ? accept(phones, request) : reject(`contacts[${position}] is invalid`);
	});
	await push(2, service.options, record);
	const { sent, options } = scripted(accept);
	const again = await push(2, options, stored(record));
	expect([sent, statuses(again)]).toEqual([[], ['1 rejected']]);
});

test('after an attempt that sent nothing, the next one may have other rows', async () => {
	const record: PushRecord = {};
	await push(1, scripted(() => reject('Campaign is archived', 409)).options, record);
	const { sent, options } = scripted(accept);
	await push(2, options, stored(record));
	expect(sent).toEqual([[phone(0), phone(1)]]);
});

test('reports rows as not_sent if n8n cannot note them', async () => {
	const { options } = scripted(accept);
	const note = async ([chunk]: [chunk: number, recorded: number]) => {
		if (chunk === 1) throw new NotSent('The database is away', onScreenOnly(''));
		return await Promise.resolve({ state: 'new' as const, remove: async () => {} });
	};
	const outcome = await push(3, { ...options, note, contactsPerRequest: 1 });
	expect(statuses(outcome)).toEqual(['1 not_sent', '2 not_sent']);
});

test('reports no row as not_sent that another run of the node pushed', async () => {
	const numbers = { count: 0, lists: {}, runs: {} };
	const numbersOfExecution = () => new NumbersOfExecution(numbers, 42);
	await push(1, { ...scripted(accept).options, numbersOfExecution: numbersOfExecution() });
	const { options } = scripted(() => reject('Campaign is archived', 409));
	const items = [1, 0].map((row) => ({ json: { phone: phone(row) } }));
	const last = { ...options, contactsPerRequest: 1, numbersOfExecution: numbersOfExecution() };
	expect(statuses(await push(items, last))).toEqual(['0 not_sent', '1 duplicate']);
});

type Words = (index: number, note: string) => string;
/** How a service may name a contact, and quote its note. */
const QUOTING: Words[] = [
	(index) => `contacts[ ${index} ].phone is not in service`,
	(index, note) => `contacts[${index}].phone is invalid (note "${note}")`,
	(index, note) => `"${note}": invalid contact, see contacts[${index}]`,
	(index, note) => `contacts[${index}] is invalid: ${note.slice(0, 20)}…`,
	(index, note) => `contacts[${index}] (${note.toUpperCase()})`,
];
const EVERY_INDEX = rowsOf(30)
	.map((index) => `contacts[${index}]`)
	.join(' ');

test.each([0, 1])(
	'if the service counts from %i, rejects all bad rows, and pushes each good one once, even if it quotes cells with an index',
	async (firstIndex) => {
		const index = fc.nat(8);
		const note = fc.oneof(
			{ weight: 2, arbitrary: fc.constant('') },
			fc
				.array(index, { minLength: 1, maxLength: 3 })
				.map((all) => all.map((one) => `contacts[${one}]`).join(' or ')),
			index.map((one) => `see Contacts [ ${one} ]!`),
			fc.constant(EVERY_INDEX),
		);
		const cases = fc.record({
			notes: fc.array(note, { minLength: 1, maxLength: 8 }),
			badRows: fc.uniqueArray(fc.nat(7), { maxLength: 3 }),
			words: fc.constantFrom(...QUOTING),
			namesAll: fc.boolean(),
			size: fc.integer({ min: 1, max: 9 }),
		});
		await fc.assert(
			fc.asyncProperty(cases, async ({ notes, badRows, words, namesAll, size }) => {
				const bad = badRows.filter((row) => row < notes.length).sort(byNumber);
				const taken: string[] = [];
				const { sent, options } = scripted((phones, request) => {
					const named = phones.flatMap((number, position) => {
						const row = Number(number) - Number(phone(0));
						return bad.includes(row) ? [words(position + firstIndex, notes[row] ?? '')] : [];
					});
					if (named.length > 0) {
						return json(400, { success: false, errors: namesAll ? named : named.slice(0, 1) });
					}
					taken.push(...phones);
					return accept(phones, request);
				});
				const items = notes.map((text, row) => ({ json: { phone: phone(row), note: text } }));
				const outcome = await push(items, { ...options, contactsPerRequest: size });
				expect(statuses(outcome)).toEqual(bad.map((row) => `${row} rejected`));
				const good = rowsOf(notes.length).filter((row) => !bad.includes(row));
				expect([...taken].sort()).toEqual(good.map(phone));
				expect(outcome.stopped).toBeUndefined();
				expect(sent.length).toBeLessThanOrEqual(
					Math.ceil(notes.length / size) + 3 * notes.length + 1,
				);
			}),
			{ numRuns: MANY_RUNS },
		);
	},
);

describe('a row that is sent alone', () => {
	const service = (alone: HttpResponse) =>
		scripted((phones, request) => {
			if (phones.length === 1) return alone;
			return phones.length === 3 ? reject('contacts[1] is invalid') : accept(phones, request);
		});

	test.each<[string, HttpResponse, string, string]>([
		['is rejected for another reason', reject('Campaign is archived', 409), 'not_sent', 'rejected'],
		['gets no response', json(503, {}), 'unknown', 'unknown'],
	])('stops the push if it %s', async (_what, response, status, outcome) => {
		const { sent, options } = service(response);
		const { stopped, ...others } = await push(3, options);
		expect(statuses({ stopped, ...others })).toEqual([`0 ${status}`, '1 not_sent', '2 not_sent']);
		expect(stopped?.outcome).toBe(outcome);
		expect(sent).toHaveLength(2);
	});

	test('has its own reason, also if the rejection names nothing', async () => {
		const { sent, options } = scripted((phones, request) => {
			if (phones.length === 3) return reject('contacts[0] bad, contacts[2] worse');
			if (phones.includes(phone(0))) return reject('phone is bad');
			return phones.includes(phone(2)) ? reject('contacts[0] worse') : accept(phones, request);
		});
		const outcome = await push(3, options);
		expect(sent.slice(1)).toEqual([[phone(0)], [phone(1)], [phone(2)]]);
		expect(Array.from(outcome.notPushed, ({ reason }) => reason)).toEqual([
			'The service rejected this row: phone is bad',
			'The service rejected this row: contacts[0] worse',
		]);
	});
});

test('a field path names only its contact, and a long text is shortened', async () => {
	const text = `contacts[0].contacts[2] ${'x'.repeat(1_000)}`;
	const { sent, options } = scripted((phones, request) =>
		phones.includes(phone(0)) ? reject(text) : accept(phones, request),
	);
	expect([...(await push(3, options)).notPushed]).toEqual([
		{
			index: 0,
			status: 'rejected',
			reason: `The service rejected this row: ${text.slice(0, 1_000)}...`,
		},
	]);
	expect(sent.at(-1)).toEqual([phone(1), phone(2)]);
});

const notesWithIndexes = rowsOf(MAX_ROWS_SENT_ALONE + 1).map((row) => `contacts[${row}]`);
test.each<[string, HttpResponse, number]>([
	['an index beyond the request', reject('contacts[4] is invalid'), 3],
	[
		'many such indexes',
		reject(
			rowsOf(200_000)
				.map((row) => `contacts[${row + 9}]`)
				.join(' '),
		),
		3,
	],
	['a status that is not about validation', reject('contacts[1] is invalid', 403), 3],
])('a rejection with %s rejects no row, and stops the push', async (_name, rejection, count) => {
	const { sent, options } = scripted(() => rejection);
	const outcome = await push(count, options);
	expect(statuses(outcome)).toEqual(rowsOf(count).map((row) => `${row} not_sent`));
	expect(outcome.stopped?.outcome).toBe('rejected');
	expect(sent).toHaveLength(1);
});

test('stops after a limited number of rejected rows', async () => {
	const { sent, options } = scripted(() => reject('contacts[0] is invalid'));
	const outcome = await push(MAX_ROWS_SENT_ALONE + 2, options);
	expect(sent).toHaveLength(2 * MAX_ROWS_SENT_ALONE + 1);
	expect(outcome.stopped?.message).toMatch(/may reject more than 200 rows of one request/);
	expect(statuses(outcome).slice(-3)).toEqual(['199 rejected', '200 not_sent', '201 not_sent']);
});

test('sends no row alone if a rejection names too many', async () => {
	const { sent, options } = scripted(() => reject(notesWithIndexes.join(' ')));
	const outcome = await push(notesWithIndexes.length, options);
	expect(sent).toHaveLength(1);
	expect(outcome.stopped).toMatchObject({
		message: expect.stringMatching(/may reject more than 200 rows of one request/),
		originalMessage: expect.stringContaining('contacts[7]'),
	});
	expect(outcome.notPushed.count('not_sent')).toBe(notesWithIndexes.length);
});

describe('a service or a proxy with a maximum number of contacts per request', () => {
	const limited = (max: (phones: string[]) => number) =>
		scripted((phones, request) =>
			phones.length > max(phones)
				? { status: 413, headers: {}, text: '<html>Request Entity Too Large</html>' }
				: accept(phones, request),
		);
	const accepted = (sent: string[][], max: number) => sent.filter((phones) => phones.length <= max);

	test('gets smaller requests', async () => {
		const { sent, options } = limited(() => 3_000);
		const outcome = await push(20_000, options);
		expect(sent.slice(0, 4).map((phones) => phones.length)).toEqual([10_000, 5_000, 2_500, 2_500]);
		expect(accepted(sent, 3_000).flat()).toEqual(rowsOf(20_000).map(phone));
		expect(sent).toHaveLength(2 * 7);
		expect(outcome.stopped).toBeUndefined();
	});

	test('gets each row once and in order, for any limit', async () => {
		const any = fc.integer({ min: 1, max: 60 });
		await fc.assert(
			fc.asyncProperty(any, any, any, async (count, max, size) => {
				const { sent, options } = limited(() => max);
				const outcome = await push(count, { ...options, contactsPerRequest: size });
				expect(accepted(sent, max).flat()).toEqual(rowsOf(count).map(phone));
				expect(outcome.notPushed.size).toBe(0);
			}),
		);
	});

	test.each([
		[10_010, 10_000, 3],
		[3, 1, 0],
	])('gets all of %i rows, %i per request, but one that is too large alone', async (...given) => {
		const [count, contactsPerRequest, row] = given;
		const { sent, options } = limited((phones) => (phones.includes(phone(row)) ? 0 : Infinity));
		const outcome = await push(count, { ...options, contactsPerRequest });
		expect(statuses(outcome)).toEqual([`${row} rejected`]);
		expect([...outcome.notPushed][0]?.reason).toBe(
			'The row is too large for the service, even in a request of its own. Shorten its texts, or send fewer of them. The service said: HTTP status 413 · <html>Request Entity Too Large</html>',
		);
		const there = sent.filter((phones) => !phones.includes(phone(row))).flat();
		expect([new Set(there).size, there.length]).toEqual([count - 1, count - 1]);
	});

	test('gets a limited number of requests', async () => {
		const { sent, options } = limited(() => 0);
		const outcome = await push(1_000, options);
		expect(outcome.stopped?.message).toMatch(/may reject more than 200 rows/);
		expect(sent.length).toBeLessThan(3 * MAX_ROWS_SENT_ALONE);
	});
});
