import fc from 'fast-check';
import {
	CalledNumbers,
	type CallLimit,
	type RecordedCall,
	TEXTS_PER_CALL,
} from '../../../../nodes/shared/numberLists/calledNumbers';
import { Killed, KillableStore } from './killableStore';

const SECOND = 1_000;
const DAY = 24 * 3_600 * SECOND;
const START = Date.parse('2026-11-20T12:00:00Z');
const once: CallLimit = { calls: 1, periodMs: DAY };

const step = fc.record({
	number: fc.constantFrom('919876543210', '919876543211'),
	/** Seconds since the step before. */
	gap: fc.oneof(fc.nat(50), fc.nat(40_000), fc.constantFrom(0, 86_399, 86_400, 86_401, 172_800)),
	/** Seconds until the scheduled time. */
	ahead: fc.oneof(fc.constant(0), fc.constant(0), fc.nat(200_000)),
	outcome: fc.constantFrom('placed', 'placed', 'unknown', 'rejected'),
	/** The writes after which n8n is killed. */
	killedAfter: fc.oneof({ weight: 4, arbitrary: fc.constant(Infinity) }, fc.nat(40)),
});
const steps = fc.array(step, { maxLength: 25 });
const limits = fc.record({
	calls: fc.integer({ min: 1, max: 3 }),
	days: fc.integer({ min: 1, max: 3 }),
});

/** Whether a period has more calls than allowed. */
function isTooMany(times: readonly number[], { calls, periodMs }: CallLimit): boolean {
	const sorted = [...times].sort((one, other) => one - other);
	return sorted.some((first, index) => (sorted[index + calls] ?? Infinity) - first < periodMs);
}

test('places every call that the limit allows, and no other, for any sequence of calls and outcomes', async () => {
	await fc.assert(
		fc.asyncProperty(limits, steps, async ({ calls, days }, sequence) => {
			const limit = { calls, periodMs: days * DAY };
			const numbers = new CalledNumbers(new KillableStore());
			const placed = new Map<string, number[]>();
			let now = START;
			for (const { number, gap, ahead, outcome } of sequence) {
				now += gap * SECOND;
				const at = now + ahead * SECOND;
				const times = placed.get(number) ?? [];
				const result = await numbers.record(number, at, now, limit);
				expect('release' in result).toBe(!isTooMany([...times, at], limit));
				if (!('release' in result)) {
					const recent = times.filter((time) => time > now - limit.periodMs);
					expect(result.latestCall).toBe(Math.max(...recent));
					expect(isTooMany([...times, result.nextPossible], limit)).toBe(false);
					expect(isTooMany([...times, result.nextPossible - SECOND], limit)).toBe(true);
				} else if (outcome === 'rejected') await result.release();
				else placed.set(number, [...times, at]);
			}
		}),
		{ numRuns: 300 },
	);
});

test('places no immediate call over the limit if n8n is killed at any write, and places calls again later', async () => {
	await fc.assert(
		fc.asyncProperty(limits, steps, async ({ calls, days }, sequence) => {
			const limit = { calls, periodMs: days * DAY };
			const store = new KillableStore();
			store.others = 2_000_000;
			const numbers = new CalledNumbers(store);
			const placed = new Map<string, number[]>();
			let now = START;
			for (const { number, gap, outcome, killedAfter } of sequence) {
				now += gap * SECOND;
				store.left = killedAfter;
				try {
					const result = await numbers.record(number, now, now, limit);
					if (!('release' in result)) continue;
					if (outcome === 'rejected') await result.release();
					else placed.set(number, [...(placed.get(number) ?? []), now]);
				} catch (error) {
					expect(error).toBeInstanceOf(Killed);
				}
			}
			store.left = Infinity;
			for (const [number, times] of placed) {
				expect(isTooMany(times, limit)).toBe(false);
				// What a kill left counts from the time at which it's found.
				await numbers.record(number, now, now, limit);
				const later = now + limit.periodMs + SECOND;
				expect(await numbers.record(number, later, later, limit)).toHaveProperty('release');
			}
		}),
		{ numRuns: 300 },
	);
});

test('no period has more calls than allowed at any fraction of a second', async () => {
	const fraction = fc.integer({ min: -3, max: 3 });
	await fc.assert(
		fc.asyncProperty(fc.nat(999), fc.array(fraction, { maxLength: 6 }), async (start, offsets) => {
			const numbers = new CalledNumbers(new KillableStore());
			const placed: number[] = [];
			let now = START + start;
			for (const offset of offsets) {
				const result = await numbers.record('1', now, now, once);
				if ('release' in result) placed.push(now);
				now += DAY / 2 + offset * 400;
			}
			expect(isTooMany(placed, once)).toBe(false);
		}),
	);
});

test('a first call takes two writes, and a call after the period takes no more space', async () => {
	const store = new KillableStore();
	const numbers = new CalledNumbers(store);
	await numbers.record('1', START, START, once);
	expect([store.writes, store.texts.size]).toEqual([2, TEXTS_PER_CALL]);
	for (let day = 1; day < 5; day++) {
		const now = START + day * DAY;
		expect(await numbers.record('1', now, now, once)).toHaveProperty('release');
		expect(store.texts.size).toBe(TEXTS_PER_CALL);
	}
});

test('a call over the limit leaves the list as it is', async () => {
	const store = new KillableStore();
	const numbers = new CalledNumbers(store);
	await numbers.record('1', START, START, once);
	const before = [...store.texts].sort();
	const now = START + 5 * SECOND;
	expect(await numbers.record('1', now, now, once)).toEqual({
		latestCall: START,
		nextPossible: START + DAY,
	});
	expect([...store.texts].sort()).toEqual(before);
});

describe('a person over the limit can be called again at the time that is returned', () => {
	const thrice = (periodMs: number) => ({ calls: 3, periodMs });

	test.each<[string, CallLimit, number[]]>([
		['after the limit was lowered', once, [0, 3_600 * SECOND]],
		['after it was lowered, for a later call', once, [0, 3_600 * SECOND, 5 * DAY]],
		['with a period of a fraction of a second', { calls: 1, periodMs: 10_666_598 }, [0]],
	])('%s', async (_when, limit, times) => {
		const numbers = new CalledNumbers(new KillableStore());
		for (const time of times) {
			await numbers.record('1', START + time, START, thrice(limit.periodMs));
		}
		const result = await numbers.record('1', START, START, limit);
		if ('release' in result) throw new Error('The call is placed');
		const { nextPossible: next } = result;
		expect(next).toBeGreaterThan(START);
		expect(await numbers.record('1', next, next, limit)).toHaveProperty('release');
	});

	test('also beyond the latest time that can be stored', async () => {
		const numbers = new CalledNumbers(new KillableStore());
		const later = START + 60 * 366 * DAY;
		await numbers.record('1', later, START, once);
		const result = await numbers.record('1', later, START, once);
		expect(result).toMatchObject({ nextPossible: expect.any(Number) });
		expect(Object.values(result).every(Number.isFinite)).toBe(true);
	});
});

test('forgets one number completely, and keeps the others', async () => {
	const store = new KillableStore();
	const numbers = new CalledNumbers(store);
	await numbers.record('2', START, START, once);
	const before = [...store.texts].sort();
	const twice = { calls: 2, periodMs: DAY };
	await numbers.record('1', START, START, twice);
	await numbers.record('1', START, START, twice);
	expect(await numbers.forget('1')).toBe(true);
	expect([...store.texts].sort()).toEqual(before);
	expect(await numbers.forget('1')).toBe(false);
	expect([...store.texts].sort()).toEqual(before);
	expect(await numbers.record('1', START, START, once)).toHaveProperty('release');
});

test('a number whose only call was released has none to forget', async () => {
	const numbers = new CalledNumbers(new KillableStore());
	const recorded = await numbers.record('1', START, START, once);
	if ('release' in recorded) await recorded.release();
	expect(await numbers.forget('1')).toBe(false);
});

describe('a call whose time changes', () => {
	const later = START + 55 * SECOND;
	const twice: CallLimit = { calls: 2, periodMs: DAY };

	async function recordCall(numbers: CalledNumbers, limit = once): Promise<RecordedCall> {
		const recorded = await numbers.record('1', START, START, limit);
		if (!('moveTo' in recorded)) throw new Error('The limit is reached');
		return recorded;
	}

	test('counts at its new time', async () => {
		const store = new KillableStore();
		const numbers = new CalledNumbers(store);
		await (await recordCall(numbers)).moveTo(later);
		expect(store.texts.size).toBe(TEXTS_PER_CALL);
		expect(await numbers.record('1', later, later, once)).toEqual({
			latestCall: later,
			nextPossible: later + DAY,
		});
	});

	test.each([
		['first', 1],
		['second', 2],
	])('leaves nothing if the number was forgotten: the %s call to it', async (_which, count) => {
		const store = new KillableStore();
		const numbers = new CalledNumbers(store);
		const calls: RecordedCall[] = [];
		for (let call = 1; call <= count; call++) calls.push(await recordCall(numbers, twice));
		await numbers.forget('1');
		await calls.at(-1)?.moveTo(later);
		expect([...store.texts]).toEqual([]);
	});

	test('leaves nothing if the number was forgotten and a write fails, and the change is repeated', async () => {
		const store = new KillableStore();
		const numbers = new CalledNumbers(store);
		const recorded = await recordCall(numbers);
		await numbers.forget('1');
		store.left = 1;
		await expect(recorded.moveTo(later)).rejects.toBeInstanceOf(Killed);
		store.left = Infinity;
		await recorded.moveTo(later);
		expect([...store.texts]).toEqual([]);
	});

	test("doesn't count if the number was forgotten, also if n8n is killed at any write", async () => {
		for (let left = 0; left <= 3; left++) {
			const store = new KillableStore();
			const numbers = new CalledNumbers(store);
			const recorded = await recordCall(numbers);
			await numbers.forget('1');
			store.left = left;
			await recorded.moveTo(later).catch(() => undefined);
			store.left = Infinity;
			expect(await numbers.record('1', START, START, once)).toHaveProperty('release');
			const next = START + DAY + SECOND;
			expect(await numbers.record('1', next, next, once)).toHaveProperty('release');
		}
	});
});
