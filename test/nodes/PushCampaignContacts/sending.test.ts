/** In which requests rows are sent, and what becomes of them if the service rejects some. */
import fc from 'fast-check';
import difference from 'lodash/difference';
import range from 'lodash/range';
import { DateTime } from 'luxon';
import nock from 'nock';
import { PUSH_LIMITS } from '../../../nodes/PushCampaignContacts/push/rows';
import { startNode, stoppedResult } from '../../engine';
import { RUNS } from '../../fuzz/runs';
import {
	accepting,
	ARCHIVED,
	butRequest,
	contactsOf,
	inTwos,
	jsonOf,
	manyRows,
	phone,
	push,
	pushNode,
	rejection,
	respondWith,
	runPush,
	ok,
	scripted,
	type Reply,
	phones,
	pushHarness,
} from './pushHarness';

const { store } = pushHarness();
beforeEach(() => jest.replaceProperty(PUSH_LIMITS, 'rejected', 8));

const perRequest = (contactsPerRequest: number) => ({ options: { contactsPerRequest } });
const invalid = (text: string): Reply => [400, rejection(text)];

test('sends dates, times, and unusual numbers as JSON', async () => {
	const bodies = respondWith(ok(1));
	const day = DateTime.fromISO('2026-11-21T10:00:00Z', { zone: 'utc' });
	const odd = { none: NaN, zero: -0, half: '\ud800', own: { a: [day] } };
	const row = { phone: phone(0), day, date: day.toJSDate(), ...odd };
	await push([{ json: row }]);
	expect(contactsOf(bodies[0])).toEqual([JSON.parse(JSON.stringify(row))]);
});

test('stops at a row with a cell that is no JSON, and reports the others', async () => {
	const sent = scripted();
	const rows = manyRows(6);
	const ring: { inner?: object } = {};
	ring.inner = ring;
	Object.assign(rows[3]?.json ?? {}, { ring });
	const { statuses, hints } = await push(rows, inTwos);
	expect(sent).toEqual([phones(0, 1)]);
	expect(hints[1]).toMatch(/^A cell of row 4 can't be converted to JSON \(.+\)/);
	expect(statuses).toEqual(['2 not_sent', '3 not_sent', '4 not_sent', '5 not_sent']);
});

test("n8n's custom data of the execution has its contact lists, also if the push then stops", async () => {
	scripted(butRequest(3, [500, 'down']));
	const { run } = await runPush(manyRows(6), inTwos);
	expect(run.data.resultData.error).toBeDefined();
	expect(run.data.resultData.metadata).toEqual({ campaign_upload_id: '501, 502' });
});

test('sends no further request after the execution was stopped', async () => {
	const execution = startNode(pushNode(inTwos), manyRows(3));
	const sent = scripted();
	store.beforeCall = () => {
		if (sent.length === 1) execution.cancel();
	};
	const { error } = await stoppedResult(execution);
	expect(sent).toEqual([phones(0, 1)]);
	expect(error?.message).toMatch(/^The push was stopped/);
	expect(error?.description).toMatch(/\nPushed: 2 rows .*\nNot sent: 1 row \(row 3\)/);
	expect(error?.description).not.toContain('This attempt sent nothing');
});

test('after something unexpected while a request is in flight, its rows are unknown', async () => {
	const sent = scripted();
	// The counts of the response are checked by it.
	const { isFinite } = Number;
	jest.spyOn(Number, 'isFinite').mockImplementation((value) => {
		if (sent.length > 0 && value === 17) throw new TypeError('a defect');
		return isFinite(value);
	});
	const { statuses, hints } = await push(18, perRequest(17));
	expect(statuses).toEqual([...range(17).map((row) => `${row} unknown`), '17 not_sent']);
	expect(hints[1]).toMatch(
		/^Something unexpected happened while a request was in flight.*a defect/,
	);
});

test('rows that n8n cannot claim before their request are not sent', async () => {
	const sent = scripted();
	store.beforeCall = () => {
		if (sent.length === 1) throw new Error('database is locked');
	};
	const { statuses } = await push(3, perRequest(1));
	expect(sent).toEqual([phones(0)]);
	expect(statuses).toEqual(['1 not_sent', '2 not_sent']);
});

describe('a rejection that names a contact', () => {
	test.each<[string, Reply, string, string]>([
		['is rejected for another reason', ARCHIVED, 'not_sent', 'Campaign is archived'],
		['gets no response', [503, ''], 'unknown', 'the outcome is unknown'],
	])('stops the push if a row that is sent alone %s', async (_what, alone, status, stop) => {
		const sent = scripted((numbers) =>
			numbers.length === 1 ? alone : invalid('contacts[1] is invalid'),
		);
		const { statuses, hints } = await push(3);
		expect(sent).toEqual([phones(0, 1, 2), phones(0, 1), phones(0)]);
		expect(statuses).toEqual([`0 ${status}`, '1 not_sent', '2 not_sent']);
		expect(hints[1]).toContain(stop);
	});

	test('gives each row its own reason, also if the rejection of the row names nothing', async () => {
		const sent = scripted((numbers, request) => {
			if (numbers.length === 3) return invalid('contacts[0] bad, contacts[2] worse');
			if (numbers.includes(phone(0))) return invalid('phone is bad');
			return numbers.includes(phone(2))
				? invalid('contacts[0] worse')
				: accepting(numbers, request);
		});
		const { rejected } = await push(3);
		expect(sent.slice(1)).toEqual([phones(0, 1), phones(0), phones(1), phones(2)]);
		expect(jsonOf(rejected).map((row) => row.rejection_reason)).toEqual([
			'The service rejected this row: phone is bad',
			'The service rejected this row: contacts[0] worse',
		]);
	});

	test('has its text in the reason of the row, and a long one is shortened', async () => {
		const text = `contacts[0].contacts[2] ${'x'.repeat(1_000)}`;
		scripted((numbers, request) =>
			numbers.includes(phone(0)) ? invalid(text) : accepting(numbers, request),
		);
		const { rejected } = await push(3);
		expect(jsonOf(rejected)).toMatchObject([
			{
				phone: phone(0),
				push_status: 'rejected',
				rejection_reason: `The service rejected this row: ${text.slice(0, 1_000)}...`,
			},
		]);
	});

	test('with a status that is not about validation stops the push', async () => {
		const sent = scripted(() => [403, rejection('contacts[1] is invalid')]);
		const { statuses } = await push(3);
		expect(statuses).toEqual(['0 not_sent', '1 not_sent', '2 not_sent']);
		expect(sent).toHaveLength(1);
	});
});

describe('the parts of a rejected request', () => {
	/** Pushes rows to a service with this reply to some of them. Without one, it accepts them. */
	async function send(count: number, replyTo: (rows: readonly number[]) => Reply | undefined) {
		nock.cleanAll();
		const accepted: number[] = [];
		const sent = scripted((numbers, request) => {
			const rows = numbers.map((number) => Number(number) - Number(phone(0)));
			const reply = replyTo(rows);
			if (reply !== undefined) return reply;
			accepted.push(...rows);
			return accepting(numbers, request);
		});
		const { statuses, hints } = await push(count);
		return { accepted, requests: sent.length, statuses, hints };
	}

	/** How a service may name a contact, and quote its note. */
	const QUOTING: Array<(index: number, note: string) => string> = [
		(index) => `contacts[ ${index} ].phone is not in service`,
		(index, note) => `contacts[${index}].phone is invalid (note "${note}")`,
		(index, note) => `"${note}": invalid contact, see contacts[${index}]`,
		(index, note) => `contacts[${index}] is invalid: ${note.slice(0, 20)}…`,
		(index, note) => `contacts[${index}] (${note.toUpperCase()})`,
	];
	const index = fc.nat(8).map((one) => `contacts[${one}]`);
	const note = fc.oneof(
		{ weight: 2, arbitrary: fc.constant('') },
		fc.array(index, { minLength: 1, maxLength: 3 }).map((all) => all.join(' or ')),
		index.map((one) => `see ${one.replace('c', 'C')}!`),
		fc.constant(
			range(30)
				.map((one) => `contacts[${one}]`)
				.join(' '),
		),
	);
	const cases = fc.record({
		notes: fc.array(note, { minLength: 1, maxLength: 9 }),
		bad: fc.uniqueArray(fc.nat(7), { maxLength: 3 }),
		firstIndex: fc.nat(1),
		words: fc.constantFrom(...QUOTING),
		namesAll: fc.boolean(),
	});

	test('all bad rows are rejected, and each good one is pushed once, whether the service counts from 0 or 1, and also if it quotes cells with an index', async () => {
		const property = fc.asyncProperty(cases, async ({ notes, firstIndex, words, ...given }) => {
			const rows = range(notes.length);
			const bad = rows.filter((row) => given.bad.includes(row));
			const { accepted, requests, statuses } = await send(notes.length, (part) => {
				const named = part.flatMap((row, position) =>
					bad.includes(row) ? [words(position + firstIndex, notes[row] ?? '')] : [],
				);
				const shown = given.namesAll ? named : named.slice(0, 1);
				return shown.length === 0 ? undefined : invalid(shown.join('\n'));
			});
			expect(accepted.sort()).toEqual(difference(rows, bad));
			expect(statuses).toEqual(bad.map((row) => `${row} rejected`));
			expect(requests).toBeLessThanOrEqual(3 * notes.length + 2);
		});
		await fc.assert(property, { numRuns: RUNS });
	});

	test('may all be rejected, up to the limit', async () => {
		const { statuses, hints } = await send(8, () => invalid('contacts[0] is invalid'));
		expect(statuses).toEqual(range(8).map((row) => `${row} rejected`));
		expect(hints).toHaveLength(1);
	});

	test.each<[string, Reply]>([
		['as invalid', invalid('contacts[0] is invalid')],
		['by their size', [413, '']],
	])('are limited if the service rejects rows %s', async (_how, reply) => {
		const { requests, statuses, hints } = await send(16, () => reply);
		expect(hints[1]).toMatch(
			/^The service rejected 8 rows of one request, so the remaining rows weren't sent/,
		);
		const expected = range(16).map((row) => `${row} ${row < 8 ? 'rejected' : 'not_sent'}`);
		expect([requests, statuses]).toEqual([16, expected]);
	});
});

describe('a service or a proxy with a maximum size of requests', () => {
	const limited = (fits: (numbers: string[]) => boolean) =>
		scripted((numbers, request) =>
			fits(numbers) ? accepting(numbers, request) : [413, '<html>Request Entity Too Large</html>'],
		);

	test('gets the rows in smaller requests, in order', async () => {
		const sent = limited((numbers) => numbers.length <= 3);
		const { statuses } = await push(20);
		expect(sent.map((numbers) => numbers.length)).toEqual([
			...[20, 10, 5, 3, 2, 5, 3, 2, 10, 5, 3, 2, 5, 3, 2],
		]);
		expect(sent.filter((numbers) => numbers.length <= 3).flat()).toEqual(range(20).map(phone));
		expect(statuses).toEqual([]);
	});

	test.each([5, 1])(
		'gets all rows but one that is too large alone, with requests of at most %i',
		async (size) => {
			const sent = limited((numbers) => !numbers.includes(phone(3)));
			const { rejected, statuses } = await push(7, perRequest(size));
			expect(statuses).toEqual(['3 rejected']);
			expect(rejected[0]?.json.rejection_reason).toBe(
				'The row is too large for the service, even in a request of its own. Shorten its texts, or send fewer of them. The service said: HTTP status 413 · Request Entity Too Large',
			);
			const accepted = sent.filter((numbers) => !numbers.includes(phone(3)));
			expect(accepted.flat()).toEqual(phones(0, 1, 2, 4, 5, 6));
		},
	);
});
