import range from 'lodash/range';
import {
	CLAIM_LIMITS,
	Claims,
	ClaimState,
	type TextList,
} from '../../../../nodes/core/claims/claims';
import {
	Deliveries,
	type DeliveryRecord,
	type Job,
	type JobOutcome,
} from '../../../../nodes/core/claims/deliveries';
import { InvalidInput, NotSent, OutcomeUnknown } from '../../../../nodes/core/service/errors';
import { noLimit } from '../../../../nodes/core/values/keyedMutex';

const HOUR = 3_600_000;

/** n8n's deduplication store. */
class FakeList implements TextList {
	texts: string[] = [];
	/** Whether the next text isn't added, or n8n reports an error after it was. */
	fails: 'before' | 'after' | undefined;

	async add(texts: string[], max = Infinity): Promise<string[]> {
		if (this.fails === 'before') throw locked();
		const added = texts.filter((text) => !this.texts.includes(text));
		this.texts = [...this.texts, ...added].slice(-max);
		if (this.fails === 'after') throw locked();
		return await Promise.resolve(added);
	}

	async remove(texts: string[]): Promise<void> {
		this.texts = this.texts.filter((text) => !texts.includes(text));
		await Promise.resolve();
	}

	async clear(): Promise<void> {
		await this.remove(this.texts);
	}

	async count(): Promise<number> {
		return await Promise.resolve(this.texts.length);
	}
}

function locked(): NotSent {
	return new NotSent('database is locked', '');
}

type Attempt = { isFirst: boolean; parentStartedAt?: number };
const FIRST: Attempt = { isFirst: true };
const RETRY: Attempt = { isFirst: false };
const SUB: Attempt = { isFirst: false, parentStartedAt: 0 };

/** An attempt of one execution, in a process of its own. */
const claimsOf = (list: TextList, attempt: Attempt, now = 0, name = 'start') => {
	const state = new ClaimState();
	const occasion = { name, ...attempt };
	return new Claims(list, occasion, state, () => state.count, { now: () => now }, noLimit);
};

describe('claims', () => {
	test('are new once for all attempts, and another execution has its own', async () => {
		const list = new FakeList();
		expect(await claimsOf(list, FIRST).add(['a', 'b', 'a'])).toEqual(new Set(['a', 'b']));
		expect(await claimsOf(list, RETRY).add(['a', 'b', 'c'])).toEqual(new Set(['c']));
		expect(await claimsOf(list, FIRST, 0, 'other').add(['a'])).toEqual(new Set(['a']));
	});

	test.each<[string, Attempt, now: number, stored: number, isAdded: boolean]>([
		['a first attempt', FIRST, 0, 10, true],
		['a retry', RETRY, 0, 10, false],
		['a retry with room', RETRY, 0, 9, true],
		['a sub-execution of an old parent', SUB, HOUR, 10, false],
		['a sub-execution of a new parent', SUB, HOUR - 1, 10, true],
	])('in a list that may have dropped some: %s', async (_what, attempt, now, stored, isAdded) => {
		jest.replaceProperty(CLAIM_LIMITS, 'others', 10);
		const list = new FakeList();
		list.texts = range(stored).map((nth) => `other ${nth}`);
		const adding = claimsOf(list, attempt, now).add(['a']);
		if (isAdded) expect(await adding).toEqual(new Set(['a']));
		else {
			await expect(adding).rejects.toMatchObject({
				outcome: 'unknown',
				message: expect.stringContaining('may have dropped those of an earlier attempt'),
			});
		}
		expect(list.texts.includes('start a')).toBe(isAdded);
		jest.restoreAllMocks();
	});

	test.each<[string, Attempt, FakeList['fails'], string, stays: boolean]>([
		['a first attempt', FIRST, 'before', 'not_sent', false],
		['a first attempt, and has them', FIRST, 'after', 'not_sent', true],
		['a retry', RETRY, 'before', 'unknown', false],
		['a retry, and has them', RETRY, 'after', 'unknown', true],
	])('if n8n reports an error to %s', async (_what, attempt, fails, outcome, stays) => {
		const list = new FakeList();
		list.fails = fails;
		await expect(claimsOf(list, attempt).add(['a'])).rejects.toMatchObject({ outcome });
		list.fails = undefined;
		expect((await claimsOf(list, RETRY).add(['a'])).has('a')).toBe(!stays);
	});

	test.each<[string, before: (list: FakeList) => Promise<unknown>, begun: boolean]>([
		['nothing', async () => {}, false],
		['something', async (list) => await claimsOf(list, FIRST).add(['a']), true],
		[
			'something without an effect',
			async (list) => {
				const claims = claimsOf(list, FIRST);
				await claims.add(['a', 'b']);
				await claims.remove(['a', 'b']);
			},
			false,
		],
		[
			'something, of which some had no effect',
			async (list) => {
				const claims = claimsOf(list, FIRST);
				await claims.add(['a', 'b']);
				await claims.remove(['a']);
			},
			true,
		],
		[
			'something, after which it succeeded',
			async (list) => {
				const claims = claimsOf(list, FIRST);
				await claims.add(['a', 'b']);
				await claims.close();
			},
			false,
		],
		['something, and n8n is locked now', async (list) => (list.fails = 'before'), true],
		[
			'nothing, as a retry found',
			async (list) => await claimsOf(list, RETRY).mayHaveBegun(),
			false,
		],
	])('show a retry whether an earlier attempt claimed: %s', async (_what, before, begun) => {
		const list = new FakeList();
		await before(list);
		expect(await claimsOf(list, RETRY).mayHaveBegun()).toBe(begun);
		list.fails = undefined;
		if (!begun) expect(list.texts).toEqual([]);
	});

	test('of something that is claimed while the last one is removed keep showing that the execution began', async () => {
		const list = new FakeList();
		const claims = claimsOf(list, FIRST);
		await claims.add(['a']);
		const add = list.add.bind(list);
		jest.spyOn(list, 'add').mockImplementationOnce(async (...given) => {
			const added = await add(...given);
			await claims.remove(['a']);
			return added;
		});
		await claims.add(['b']);
		expect(await claimsOf(list, RETRY).mayHaveBegun()).toBe(true);
	});
});

describe('deliveries', () => {
	const KEYED = { who: 'a', id: '0#0', isClaimed: true, repeatKey: 'key' };
	const job = (over: Partial<Job> = {}): Job => ({ who: 'a', id: '0#0', isClaimed: true, ...over });
	const unknown = new OutcomeUnknown('The connection broke', '');
	const invalid = new InvalidInput('The agent is inactive', '');
	const OUTCOMES: { [kind: string]: JobOutcome } = {
		done: { kind: 'done', result: [{ id: 1 }] },
		unknown: { kind: 'unknown', error: unknown },
		rejected: { kind: 'rejected', error: invalid },
	};
	const deliveriesOf = (claims: Claims, record: DeliveryRecord = {}) =>
		new Deliveries(record, async () => await Promise.resolve(claims));
	/** Sends a job with this outcome. Returns what is reported, and whether it was sent. */
	async function deliver(deliveries: Deliveries, one: Job, kind = 'done'): Promise<string> {
		let sent = '';
		await deliveries.claim([one]);
		const outcome = await deliveries.deliver(one, async () => {
			sent = 'sent, ';
			return await Promise.resolve(OUTCOMES[kind] ?? { kind: 'unknown', error: unknown });
		});
		await deliveries.free([one]);
		return sent + outcome.kind;
	}

	test.each<[string, before: Job, kind: string, isKilled: boolean, after: Job, expected: string]>([
		['is done', job(), 'done', false, job(), 'done'],
		['is unknown', job(), 'unknown', false, job(), 'unknown'],
		['was rejected', job(), 'rejected', false, job(), 'sent, done'],
		['may be done', job(), 'done', true, job(), 'unknown'],
		['was rejected before n8n was killed', job(), 'rejected', true, job(), 'sent, done'],
		[
			'is harmless twice',
			job({ isClaimed: false, repeatKey: 'harmless' }),
			'unknown',
			false,
			job({ isClaimed: false, repeatKey: 'harmless' }),
			'sent, done',
		],
		['is unknown, with its key', KEYED, 'unknown', false, KEYED, 'sent, done'],
		['may be done, with its key', KEYED, 'done', true, KEYED, 'sent, done'],
		['is done, with its key', KEYED, 'done', false, KEYED, 'done'],
		['may be done, with another key', KEYED, 'done', true, { ...KEYED, repeatKey: 'b' }, 'unknown'],
		['may be done without a key', job(), 'done', true, KEYED, 'unknown'],
		[
			'is unknown, with another key',
			KEYED,
			'unknown',
			false,
			{ ...KEYED, repeatKey: 'b' },
			'unknown',
		],
	])('a job that %s', async (_what, before, kind, isKilled, after, expected) => {
		const list = new FakeList();
		const record: DeliveryRecord = {};
		await deliver(deliveriesOf(claimsOf(list, FIRST), record), before, kind);
		const stored = isKilled ? {} : structuredClone(record);
		const again = deliveriesOf(claimsOf(list, RETRY), stored);
		expect(await deliver(again, after)).toBe(expected);
	});

	test('a repeated job stays unknown if it is rejected, until it is done', async () => {
		const deliveries = deliveriesOf(claimsOf(new FakeList(), FIRST));
		const results = [];
		for (const kind of ['unknown', 'rejected', 'done', 'rejected'])
			results.push(await deliver(deliveries, KEYED, kind));
		expect(results).toEqual(['sent, unknown', 'sent, unknown', 'sent, done', 'done']);
	});

	test('what is stored of a job stays the same, whatever later nodes do with its result', async () => {
		const deliveries = deliveriesOf(claimsOf(new FakeList(), FIRST));
		for (let attempt = 0; attempt < 3; attempt++) {
			const result = [{ id: 1 }];
			const send = async () => await Promise.resolve({ kind: 'done', result } as const);
			const one = job();
			await deliveries.claim([one]);
			const outcome = await deliveries.deliver(one, send);
			if (outcome.kind !== 'done') throw new Error(outcome.kind);
			expect(outcome.result).toEqual([{ id: 1 }]);
			for (const record of outcome.result) record.id = 2;
		}
	});
});
