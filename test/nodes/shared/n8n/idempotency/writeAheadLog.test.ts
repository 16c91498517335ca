import fc from 'fast-check';
import { type DeduplicationStore } from '../../../../../nodes/shared/deduplicationStore';
import { RunningExecutions } from '../../../../../nodes/shared/n8n/idempotency/begunRequests';
import { WriteAheadLog } from '../../../../../nodes/shared/n8n/idempotency/writeAheadLog';

/** n8n's store: a list that is read and written as a whole. */
class Store implements DeduplicationStore {
	texts: string[] = [];
	writes = 0;
	/** Called after the list was read, and before it is written. */
	between: () => void = () => {};
	/** Called after texts were added, and before texts are removed. */
	onChange: (change: 'add' | 'remove') => void = () => {};

	/** The entries of requests, without the marks of executions. */
	get requests(): string[] {
		return this.texts.filter((text) => text.startsWith('request '));
	}

	async add(texts: string[], maxEntries = Infinity): Promise<string[]> {
		const read = [...this.texts];
		await Promise.resolve();
		this.between();
		const added = texts.filter((text) => !read.includes(text));
		this.texts = [...read, ...added].slice(-maxEntries);
		this.writes++;
		this.onChange('add');
		return added;
	}

	async remove(texts: string[]): Promise<void> {
		this.onChange('remove');
		this.texts = this.texts.filter((text) => !texts.includes(text));
		await Promise.resolve();
	}

	async clear(): Promise<void> {
		this.texts = [];
		await Promise.resolve();
	}

	async count(): Promise<number> {
		return await Promise.resolve(this.texts.length);
	}
}

/** Each change takes some ticks of the event loop. */
class SlowStore extends Store {
	override async add(texts: string[], maxEntries?: number): Promise<string[]> {
		await ticks(5);
		return await super.add(texts, maxEntries);
	}

	override async remove(texts: string[]): Promise<void> {
		await ticks(5);
		await super.remove(texts);
	}
}

async function ticks(count: number): Promise<void> {
	for (let tick = 0; tick < count; tick++) await Promise.resolve();
}

const first = (store: Store, executionId = 'e1', startedAt = 1) =>
	new WriteAheadLog(
		store,
		{ startedAt, executionId, isSubExecution: false },
		{ isFirstAttempt: true },
	);
const later = (store: Store, executionId: string, isSubExecution = false) =>
	new WriteAheadLog(
		store,
		{ startedAt: 1, executionId, isSubExecution },
		{ isFirstAttempt: false },
	);

/** The process was killed, and its memory is lost. */
class Killed extends Error {}

type Attempt = {
	/** The step before which n8n is killed, counted over all items. */
	killedAt: number;
	/** The number of items in flight. */
	concurrency: number;
	/** The order of the rows in this attempt. */
	order: number;
	/** Whether it first finds all started requests, as without *Continue On Fail*. */
	looksAhead: boolean;
};

/** Sends the items of a node and returns the outcome of each. */
async function run(
	log: WriteAheadLog,
	targets: readonly string[],
	{ killedAt, concurrency, looksAhead }: Attempt,
	{ begin, send }: { begin: (target: string) => void; send: (target: string) => void },
): Promise<Array<'sent' | 'unknown'>> {
	let steps = 0;
	const step = () => {
		if (++steps > killedAt) throw new Killed();
	};
	const known = looksAhead ? await log.findBegun(targets) : [];
	const results: Array<'sent' | 'unknown'> = [];
	for (let start = 0; start < targets.length; start += concurrency) {
		const batch = targets.slice(start, start + concurrency).map(async (target, position) => {
			if (known[start + position] === true) return 'unknown';
			step();
			if (await log.begin(target)) return 'unknown';
			begin(target);
			step();
			send(target);
			step();
			return 'sent';
		});
		results.push(...(await Promise.all(batch)));
	}
	return results;
}

const attempts = fc.array(
	fc.record<Attempt>({
		killedAt: fc.nat(60),
		concurrency: fc.integer({ min: 1, max: 5 }),
		order: fc.nat(1_000),
		looksAhead: fc.boolean(),
	}),
	{ minLength: 1, maxLength: 4 },
);

function rotated<T>(list: readonly T[], by: number): T[] {
	const at = list.length === 0 ? 0 : by % list.length;
	return [...list.slice(at), ...list.slice(0, at)];
}

test('killed and retried executions never send more per target than its rows request, in any order', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 }),
			attempts,
			async (targets, killed) => {
				const store = new Store();
				const sent: string[] = [];
				const begun: string[] = [];
				const count = (list: readonly string[], target: string) =>
					list.filter((one) => one === target).length;
				let last: Array<'sent' | 'unknown'> = [];
				const all = [
					...killed,
					{ killedAt: Infinity, concurrency: 2, order: 0, looksAhead: false },
				];
				for (const [index, attempt] of all.entries()) {
					const log = index === 0 ? first(store) : later(store, `e${index + 1}`);
					if (index > 0 && begun.length > 0) expect(await log.mayHaveBegunAny()).toBe(true);
					const rows = rotated(targets, attempt.order);
					try {
						last = await run(log, rows, attempt, {
							begin: (target) => begun.push(target),
							send: (target) => sent.push(target),
						});
					} catch (error) {
						if (!(error instanceof Killed)) throw error;
					}
				}
				for (const target of new Set(targets)) {
					expect(count(sent, target)).toBeLessThanOrEqual(count(targets, target));
					// The last attempt was not killed, so each row was started exactly once.
					expect(count(begun, target)).toBe(count(targets, target));
				}
				expect(last).toHaveLength(targets.length);
			},
		),
		{ numRuns: 500 },
	);
});

describe('requests with payloads', () => {
	/** `sent`: the service accepts it. `invalid`: a check stops it before it begins. */
	type Fate = 'sent' | 'rejected' | 'invalid';
	type Row = { id: number; target: string; payload: string };
	type PayloadAttempt = Attempt & { fates: Fate[] };

	/** Sends the rows, and returns those that were sent. */
	async function send(
		log: WriteAheadLog,
		rows: readonly Row[],
		{ killedAt, concurrency, looksAhead, fates }: PayloadAttempt,
		sent: Row[],
	): Promise<void> {
		let steps = 0;
		const step = () => {
			if (++steps > killedAt) throw new Killed();
		};
		const targets = rows.map(({ target }) => target);
		const payloads = rows.map(({ payload }) => payload);
		const known = looksAhead ? await log.findBegun(targets, payloads) : [];
		for (let start = 0; start < rows.length; start += concurrency) {
			const batch = rows.slice(start, start + concurrency).map(async (row, position) => {
				const fate = fates[row.id % fates.length];
				if (known[start + position] === true || fate === 'invalid') return;
				step();
				if (await log.begin(row.target, row.payload)) return;
				step();
				if (fate === 'rejected') await log.release(row.target, row.payload);
				else sent.push(row);
				step();
			});
			await Promise.all(batch);
		}
	}

	const fates = fc.array(fc.constantFrom<Fate>('sent', 'rejected', 'invalid'), { minLength: 1 });
	const someAttempts = (looksAhead: fc.Arbitrary<boolean>) =>
		fc.array(
			fc.record<PayloadAttempt>({
				killedAt: fc.nat(40),
				concurrency: fc.integer({ min: 1, max: 4 }),
				order: fc.nat(1_000),
				looksAhead,
				fates,
			}),
			{ minLength: 1, maxLength: 4 },
		);
	const someRows = fc
		.array(fc.record({ target: fc.constantFrom('a', 'b'), payload: fc.constantFrom('x', 'y') }), {
			maxLength: 8,
		})
		.map((rows) => rows.map((row, id) => ({ ...row, id })));

	async function live(
		rows: readonly Row[],
		killed: readonly PayloadAttempt[],
		payloadIn: (row: Row, attempt: number) => string,
	): Promise<Row[]> {
		const store = new Store();
		const sent: Row[] = [];
		const last: PayloadAttempt = {
			killedAt: Infinity,
			concurrency: 2,
			order: 0,
			looksAhead: true,
			fates: ['sent'],
		};
		for (const [index, attempt] of [...killed, last].entries()) {
			const log = index === 0 ? first(store) : later(store, `e${index + 1}`);
			const current = rotated(rows, attempt.order).map((row) => ({
				...row,
				payload: payloadIn(row, index),
			}));
			await send(log, current, attempt, sent).catch((error: unknown) => {
				if (!(error instanceof Killed)) throw error;
			});
		}
		return sent;
	}

	test('none is sent more often than rows request it, in any order, also if others were rejected or never began', async () => {
		await fc.assert(
			fc.asyncProperty(someRows, someAttempts(fc.boolean()), async (rows, killed) => {
				const sent = await live(rows, killed, ({ payload }) => payload);
				for (const { target, payload } of rows) {
					const count = (list: readonly Row[]) =>
						list.filter((row) => row.target === target && row.payload === payload).length;
					expect(count(sent)).toBeLessThanOrEqual(count(rows));
				}
			}),
			{ numRuns: 1_000 },
		);
	});

	test('no row is sent twice if its payload changes on each attempt', async () => {
		await fc.assert(
			fc.asyncProperty(someRows, someAttempts(fc.constant(true)), async (rows, killed) => {
				const sent = await live(rows, killed, ({ id }, attempt) => `${id} in ${attempt}`);
				expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
			}),
			{ numRuns: 1_000 },
		);
	});

	test('a retry sends those that were rejected or never began, if the payloads show which ones', async () => {
		const store = new Store();
		const log = first(store);
		await log.begin('a', 'rejected');
		await log.begin('a', 'sent');
		await log.release('a', 'rejected');
		const retry = later(store, 'e2');
		const payloads = ['rejected', 'sent', 'not begun'];
		expect(await retry.findBegun(['a', 'a', 'a'], payloads)).toEqual([false, true, false]);
		expect(await retry.begin('a', 'rejected')).toBe(false);
		expect(await retry.begin('a', 'not begun')).toBe(false);
	});

	test('if the payloads changed, all requests to a target with a begun one may have begun', async () => {
		const store = new Store();
		await first(store).begin('a', 'x');
		const begun = await later(store, 'e2').findBegun(['a', 'a', 'b'], ['y', 'z', 'y']);
		expect(begun).toEqual([true, true, false]);
	});

	test('the entries are removed when the execution ends', async () => {
		const store = new Store();
		const log = first(store);
		await log.begin('a', 'x');
		await log.begin('a', 'y');
		expect(store.requests).toHaveLength(4);
		await log.clear();
		expect(store.texts).toEqual([]);
	});
});

test('a retry sends requests that were never started', async () => {
	const store = new Store();
	await first(store).begin('a');
	const retry = later(store, 'e2');
	expect([await retry.begin('a'), await retry.begin('b'), await retry.begin('a')]).toEqual([
		true,
		false,
		false,
	]);
});

test('another execution that started in the same millisecond sends its requests', async () => {
	const store = new Store();
	expect(await first(store, 'e1').begin('a')).toBe(false);
	expect(await first(store, 'e2').begin('a')).toBe(false);
	expect(await first(store, 'e3', 2).begin('a')).toBe(false);
});

test('sub-executions of one execution may repeat a request, and those of its retry may not', async () => {
	const store = new Store();
	const child = (executionId: string) => later(store, executionId, true);
	expect([await child('e1').begin('a'), await child('e1').begin('a')]).toEqual([false, false]);
	expect([await child('e2').begin('a'), await child('e2').begin('a')]).toEqual([true, true]);
	expect(await child('e2').begin('a')).toBe(false);
});

test('a request that took no effect is sent again by a retry and by the same execution', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	await log.begin('b');
	await log.release('a');
	expect(await later(store, 'e2').findBegun(['a', 'b'])).toEqual([false, true]);
	await log.begin('a');
	expect(await later(store, 'e3').findBegun(['a', 'b'])).toEqual([true, true]);
});

test('a retry can ask whether a request was started, and then start it as if it had not asked', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	expect(await log.wasBegun('a')).toBe(false);
	const before = [...store.texts];
	const retry = later(store, 'e2');
	expect([await retry.wasBegun('a'), await retry.wasBegun('b')]).toEqual([true, false]);
	expect(store.texts).toEqual(before);
	expect(await retry.begin('a')).toBe(true);
	expect(await retry.wasBegun('a')).toBe(false);
});

test('a retry that cannot ask whether a request was started does not guess', async () => {
	const store = new Store();
	store.between = () => {
		throw new Error('database is locked');
	};
	await expect(later(store, 'e2').wasBegun('a')).rejects.toThrow("n8n can't read which requests");
});

test('requests started after an execution was stored keep their entries', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	await log.begin('b');
	const stored = log.state();
	await log.begin('a');
	await log.clear(stored);
	// The entries of a target are numbered, so they stay together.
	expect(store.requests).toHaveLength(2);
	await log.begin('b');
	// The requests that a retry of the stored execution starts.
	expect(await later(store, 'e2').findBegun(['a', 'b', 'c'])).toEqual([true, true, false]);
	await log.clear();
	expect(store.texts).toEqual([]);
});

test('a released entry is not written again with the next one', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	await log.release('a');
	await log.begin('b');
	expect(await later(store, 'e2').findBegun(['a', 'b'])).toEqual([false, true]);
	await log.clear();
	expect(store.texts).toEqual([]);
});

test('an entry that was removed before a wait is not written again with the next one', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	await log.clear();
	await log.begin('b');
	expect(store.requests).toHaveLength(1);
	expect(await later(store, 'e2').findBegun(['a', 'b'])).toEqual([false, true]);
});

test('the store has the entries of requests that were started, and neither released nor stored', async () => {
	const step = fc.tuple(
		fc.constantFrom('begin', 'begin', 'release', 'store'),
		fc.constantFrom('a', 'b', 'c'),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
			const store = new Store();
			const log = first(store);
			const expected: string[] = [];
			for (const [what, target] of steps) {
				if (what === 'begin') {
					await log.begin(target);
					expected.push(target);
				} else if (what === 'release') {
					await log.release(target);
					if (expected.includes(target)) expected.splice(expected.indexOf(target), 1);
				} else {
					await log.clear(log.state());
					expected.length = 0;
				}
				expect(store.requests).toHaveLength(expected.length);
				// Beside them, only the mark of the execution.
				expect(store.texts).toHaveLength(expected.length + (expected.length === 0 ? 0 : 1));
			}
			const found = await later(store, 'e2').findBegun(['a', 'b', 'c']);
			expect(found).toEqual(['a', 'b', 'c'].map((target) => expected.includes(target)));
		}),
	);
});

test('an entry that cannot be removed stays without an error', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	store.remove = async () => await Promise.reject(new Error('database is locked'));
	await log.release('a');
	expect(await later(store, 'e2').begin('a')).toBe(true);
});

describe('whether an earlier attempt began any request', () => {
	test('a retry knows it, also after its own requests and in another process', async () => {
		const store = new Store();
		await first(store).begin('a');
		const retry = later(store, 'e2');
		expect(await retry.mayHaveBegunAny()).toBe(true);
		await retry.begin('b');
		expect(await retry.mayHaveBegunAny()).toBe(true);
		expect(await later(store, 'e2').mayHaveBegunAny()).toBe(true);
		expect(await later(store, 'e3').mayHaveBegunAny()).toBe(true);
	});

	test("a retry doesn't take its own requests, or those of its sub-executions, for earlier ones", async () => {
		const store = new Store();
		expect(await later(store, 'e2').mayHaveBegunAny()).toBe(false);
		expect(store.texts).toEqual([]);
		await later(store, 'e2', true).begin('a');
		expect(await later(store, 'e2', true).mayHaveBegunAny()).toBe(false);
		expect(await later(store, 'e3', true).mayHaveBegunAny()).toBe(true);
	});

	test('requests that took no effect or ended normally leave nothing', async () => {
		const store = new Store();
		const log = first(store);
		await log.begin('a');
		await log.release('a');
		expect(await later(store, 'e2').mayHaveBegunAny()).toBe(false);
		await log.begin('b');
		await log.clear();
		expect(await later(store, 'e2').mayHaveBegunAny()).toBe(false);
		expect(store.texts).toEqual([]);
	});

	test("a retry whose request took no effect leaves the first attempt's mark", async () => {
		const store = new Store();
		await first(store).begin('a');
		const retry = later(store, 'e2');
		await retry.begin('b');
		await retry.release('b');
		expect(await later(store, 'e3').mayHaveBegunAny()).toBe(true);
	});

	test('a retry whose only request took no effect leaves nothing', async () => {
		const store = new Store();
		const retry = later(store, 'e2');
		await retry.begin('a');
		await retry.release('a');
		expect(store.texts).toEqual([]);
		expect(await later(store, 'e3').mayHaveBegunAny()).toBe(false);
	});

	test.each([true, false])(
		"of two retries at the same time, one whose request took no effect leaves the other one's mark (it began first: %s)",
		async (isFirst) => {
			const store = new Store();
			const [killed, other] = [later(store, 'e2'), later(store, 'e3')];
			const begin = [async () => await killed.begin('a'), async () => await other.begin('b')];
			for (const each of isFirst ? begin.reverse() : begin) await each();
			await other.release('b');
			expect(await later(store, 'e4').mayHaveBegunAny()).toBe(true);
		},
	);

	test('a retry that waited and went on in another process leaves its mark if its next request took no effect', async () => {
		const store = new Store();
		await later(store, 'e2').begin('a');
		const resumed = later(store, 'e2');
		await resumed.begin('b');
		await resumed.release('b');
		expect(await later(store, 'e3').mayHaveBegunAny()).toBe(true);
	});

	test("a retry whose request took no effect leaves the first attempt's mark, also if n8n's store couldn't note that it was found", async () => {
		const store = new Store();
		await first(store).begin('a');
		const retry = later(store, 'e2');
		let writes = 0;
		store.between = () => {
			if (++writes === 2) throw new Error('the database is away');
		};
		await retry.begin('b');
		expect(writes).toBe(2);
		await retry.release('b');
		expect(await later(store, 'e3').mayHaveBegunAny()).toBe(true);
	});

	test.each([0, 1, 2, 3, 4, 6, 8, 10])(
		'a request that starts %i ticks after another one took no effect leaves the mark, until the execution ends',
		async (ticks) => {
			const store = new Store();
			const log = first(store);
			await log.begin('a');
			const released = log.release('a');
			for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
			await Promise.all([released, log.begin('b')]);
			expect(await later(store, 'e2').mayHaveBegunAny()).toBe(true);
			await log.clear();
			expect(store.texts).toEqual([]);
		},
	);

	describe('of two executions that started in the same millisecond', () => {
		test.each<[how: string, end: (log: WriteAheadLog) => Promise<void>]>([
			['ends normally', async (log) => await log.clear()],
			['has its request rejected', async (log) => await log.release('b')],
			[
				'has its request rejected and ends',
				async (log) => {
					await log.release('b');
					await log.clear();
				},
			],
		])('the mark of the one that was killed stays if the other %s', async (_how, end) => {
			for (const isKilledFirst of [true, false]) {
				const store = new Store();
				const [killed, other] = [first(store, 'e1'), first(store, 'e2')];
				const begin = [async () => await killed.begin('a'), async () => await other.begin('b')];
				for (const each of isKilledFirst ? begin : begin.reverse()) await each();
				await end(other);
				expect(await later(store, 'e3').mayHaveBegunAny()).toBe(true);
			}
		});

		test('the mark stays if the other one ends while it is found', async () => {
			const store = new Store();
			const [other, killed] = [first(store, 'e1'), first(store, 'e2')];
			await other.begin('b');
			const begun = killed.begin('a');
			await other.clear();
			await begun;
			expect(await later(store, 'e3').mayHaveBegunAny()).toBe(true);
		});

		test('their requests leave only the mark, and a text that it is shared', async () => {
			const store = new Store();
			const together = [first(store, 'e1'), first(store, 'e2')];
			for (const [index, log] of together.entries()) await log.begin(`request ${index}`);
			for (const log of together) await log.clear();
			expect(store.requests).toEqual([]);
			expect(store.texts).toHaveLength(2);
		});
	});

	test('of two requests, one that took no effect leaves the mark', async () => {
		const store = new Store();
		const log = first(store);
		await log.begin('a');
		await log.begin('b');
		await log.release('a');
		expect(await later(store, 'e2').mayHaveBegunAny()).toBe(true);
	});
});

test('a first attempt looks for no earlier one', async () => {
	const store = new Store();
	expect(await first(store).findBegun(['a', 'b'])).toEqual([false, false]);
	expect(store.writes).toBe(0);
});

test('finding started requests leaves no entries for others', async () => {
	const store = new Store();
	await first(store).begin('a');
	const retry = later(store, 'e2');
	expect(await retry.findBegun(['a', 'b', 'a'])).toEqual([true, false, false]);
	expect(store.requests).toHaveLength(1);
	expect(await retry.begin('a')).toBe(false);
});

test('requests that start while n8n writes are written in one batch', async () => {
	const store = new Store();
	const log = first(store);
	await Promise.all(Array.from({ length: 50 }, async (_, index) => await log.begin(index)));
	expect(store.writes).toBe(1);
	expect(store.requests).toHaveLength(50);
});

test('an entry that another process overwrites is written again with the next one', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	// The other process read the list before this entry was written, and writes it afterwards.
	store.texts = ['of another process'];
	await log.begin('b');
	expect(await later(store, 'e2').findBegun(['a', 'b'])).toEqual([true, true]);
});

test('an overwritten entry is also written again if another one is removed in between', async () => {
	const store = new Store();
	const log = first(store);
	await Promise.all([log.begin('a'), log.begin('b')]);
	await log.release('b');
	store.texts = ['of another process'];
	await log.begin('c');
	expect(await later(store, 'e2').findBegun(['a', 'b', 'c'])).toEqual([true, false, true]);
});

test('the entries of an execution that ended are removed, and those of others stay', async () => {
	const store = new Store();
	const [one, other] = [first(store, 'e1', 1), first(store, 'e2', 2)];
	for (const log of [one, other]) {
		await log.begin('a');
		await log.begin('a');
	}
	await one.clear();
	expect(store.requests).toHaveLength(2);
	await other.clear();
	expect(store.texts).toEqual([]);
});

test('the entries of a retry stay when it ends, so that a second retry sends nothing again', async () => {
	const store = new Store();
	await first(store).begin('a');
	const retry = later(store, 'e2');
	expect([await retry.begin('a'), await retry.begin('b')]).toEqual([true, false]);
	await retry.clear();
	expect(await later(store, 'e3').findBegun(['a', 'b'])).toEqual([true, true]);
	const second = later(store, 'e4');
	expect([await second.begin('a'), await second.begin('b')]).toEqual([true, true]);
});

test("a retry that another process resumes after a wait doesn't take its own requests for those of an earlier attempt", async () => {
	const store = new Store();
	expect(await later(store, 'e2').begin('a', 'x')).toBe(false);
	// The next run of a loop, such as another call to a person who didn't answer.
	expect(await later(store, 'e2').findBegun(['a'], ['x'])).toEqual([false]);
});

test('an execution without requests writes nothing when it ends', async () => {
	const store = new Store();
	store.texts = ['of another execution'];
	await first(store).clear();
	expect([store.writes, store.texts]).toEqual([0, ['of another execution']]);
});

test('after two executions that started in the same millisecond, the entries of later ones are removed', async () => {
	const store = new Store();
	const together = [first(store, 'e1'), first(store, 'e2')];
	for (const log of together) await log.begin('a');
	for (const log of together) await log.clear();
	const before = [...store.texts];
	const other = first(store, 'e3', 2);
	await other.begin('a');
	expect(store.texts).toHaveLength(before.length + 2);
	await other.clear();
	expect(store.texts).toEqual(before);
});

test('a release after the entry was removed writes nothing, and counting starts again', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	await log.begin('b');
	await log.clear();
	await log.release('a');
	expect(store.texts).toEqual([]);
	await log.begin('a');
	expect(await later(store, 'e2').findBegun(['a', 'a'])).toEqual([true, false]);
});

test('an execution that ends keeps the entry of one that starts at the same moment', async () => {
	const store = new Store();
	const [one, other] = [first(store, 'e1', 1), first(store, 'e2', 2)];
	await one.begin('a');
	await Promise.all([other.begin('b'), one.clear()]);
	expect(store.requests).toHaveLength(1);
});

test('an execution whose entries were lost keeps those of others when it ends', async () => {
	const store = new Store();
	const [one, other] = [first(store, 'e1', 1), first(store, 'e2', 2)];
	await one.begin('a');
	store.texts = [];
	await other.begin('b');
	await one.clear();
	expect(store.requests).toHaveLength(1);
});

test('of two executions that started in the same millisecond, the end of one keeps the entries of the other', async () => {
	const store = new Store();
	const [one, other] = [first(store, 'e1'), first(store, 'e2')];
	await one.begin('a');
	await other.begin('a');
	await one.clear();
	expect(await later(store, 'e3').begin('a')).toBe(true);
});

test('entries of a running execution are never evicted for another', async () => {
	const store = new Store();
	const running = new RunningExecutions();
	const logOf = (executionId: string, startedAt: number) =>
		new WriteAheadLog(
			store,
			{ startedAt, executionId, isSubExecution: false },
			{ isFirstAttempt: true, totalBegun: () => running.total('node') },
			running.get('node', executionId).begun,
		);
	const many = logOf('e1', 1);
	await Promise.all(Array.from({ length: 30_000 }, async (_, index) => await many.begin(index)));
	await logOf('e2', 2).begin('b');
	expect(await later(store, 'e3').findBegun([0, 29_999])).toEqual([true, true]);
});

test('the oldest entries are evicted, but never those of the own execution', async () => {
	const store = new Store();
	store.texts = Array.from({ length: 40_000 }, (_, index) => `old ${index}`);
	const log = first(store);
	for (let index = 0; index < 3; index++) await log.begin(index);
	expect(store.texts.length).toBeLessThanOrEqual(40_006);
	expect(store.requests).toHaveLength(3);
});

test('an entry that cannot be written does not count, and the next ones do', async () => {
	const store = new Store();
	const log = first(store);
	store.between = () => {
		throw new Error('database is locked');
	};
	await expect(log.begin('a')).rejects.toThrow('database is locked');
	store.between = () => {};
	expect(await log.begin('b')).toBe(false);
	expect(await later(store, 'e2').begin('b')).toBe(true);
});

test.each(['the first attempt', 'a retry'])(
	'in %s, a request keeps its number until its entry can be written',
	async (attempt) => {
		const store = new Store();
		const isFirst = attempt === 'the first attempt';
		if (!isFirst) await first(store).begin('a');
		const log = isFirst ? first(store) : later(store, 'e2');
		store.between = () => {
			throw new Error('database is locked');
		};
		await expect(log.begin('a')).rejects.toThrow('database is locked');
		store.between = () => {};
		expect(await log.begin('a')).toBe(!isFirst);
		expect(await later(store, 'e3').findBegun(['a', 'a'])).toEqual([true, false]);
		if (isFirst) await log.clear();
		if (isFirst) expect(store.texts).toEqual([]);
	},
);

test("if n8n's store reports an error after it added entries, the first attempt finds no earlier one", async () => {
	const store = new Store();
	store.onChange = () => {
		throw new Error('connection lost');
	};
	const pause = async () => {
		store.onChange = () => {};
		return await Promise.resolve(true);
	};
	const origin = { startedAt: 1, executionId: 'e1', isSubExecution: false };
	const log = new WriteAheadLog(store, origin, { isFirstAttempt: true, pause });
	expect(await log.begin('a')).toBe(false);
	expect(store.texts.filter((text) => text.startsWith('begun before'))).toEqual([]);
});

describe("if n8n's store reports an error after a change, a retry", () => {
	async function retryAfter(failing: 'add' | 'remove'): Promise<WriteAheadLog> {
		const store = new Store();
		await first(store).begin('a', 'x');
		store.onChange = (change) => {
			if (change === failing) throw new Error('connection lost');
		};
		const pause = async () => {
			store.onChange = () => {};
			return await Promise.resolve(true);
		};
		const origin = { startedAt: 1, executionId: 'e2', isSubExecution: false };
		return new WriteAheadLog(store, origin, { isFirstAttempt: false, pause });
	}

	test.each(['add', 'remove'] as const)(
		'still finds what an earlier attempt began (%s)',
		async (fails) => {
			const retry = await retryAfter(fails);
			expect(await retry.findBegun(['a'], ['x'])).toEqual([true]);
		},
	);

	test('still knows that an earlier attempt began any request', async () => {
		const retry = await retryAfter('add');
		await retry.begin('b', 'x');
		expect(await retry.mayHaveBegunAny()).toBe(true);
	});

	test('still reports that an earlier attempt began the request', async () => {
		const retry = await retryAfter('add');
		expect(await retry.begin('a', 'x')).toBe(true);
	});
});

describe('executions of one node at the same time', () => {
	/** Whether the service accepts or rejects a request. */
	type Row = { target: string; isRejected: boolean };
	type Life = {
		rows: Row[];
		/** Ticks of the event loop before each request. */
		pause: number;
		/** The number of requests after which n8n is killed. An execution with fewer requests ends normally. */
		killedAfter: number;
	};

	const row = fc.record<Row>({
		target: fc.constantFrom('a', 'b', 'c'),
		isRejected: fc.boolean(),
	});
	const lives = fc.array(
		fc.record<Life>({
			rows: fc.array(row, { maxLength: 6 }),
			pause: fc.nat(4),
			killedAfter: fc.nat(8),
		}),
		{ minLength: 2, maxLength: 4 },
	);

	async function live(log: WriteAheadLog, { rows, pause, killedAfter }: Life): Promise<string[]> {
		const sent: string[] = [];
		for (const { target, isRejected } of rows.slice(0, killedAfter)) {
			for (let tick = 0; tick < pause; tick++) await Promise.resolve();
			if (await log.begin(target)) continue;
			if (isRejected) await log.release(target);
			else sent.push(target);
		}
		if (killedAfter > rows.length) await log.clear();
		return sent;
	}

	test.each(['at different times', 'at the same millisecond'])(
		'whatever the others do, a retry of one that was killed sends what it had not begun, and nothing else; started %s',
		async (when) => {
			const isTogether = when === 'at the same millisecond';
			await fc.assert(
				fc.asyncProperty(lives, async (all) => {
					const store = new Store();
					const startOf = (index: number) => (isTogether ? 1 : index);
					const executions = all.map(({ rows, ...life }) => ({
						...life,
						rows: isTogether ? rows.map(({ target }) => ({ target, isRejected: false })) : rows,
					}));
					const sent = await Promise.all(
						executions.map(
							async (life, index) => await live(first(store, `e${index}`, startOf(index)), life),
						),
					);
					for (const [index, { rows, killedAfter }] of executions.entries()) {
						if (killedAfter > rows.length) continue;
						const origin = {
							startedAt: startOf(index),
							executionId: `r${index}`,
							isSubExecution: false,
						};
						const copy = Object.assign(new Store(), { texts: [...store.texts] });
						const retry = new WriteAheadLog(copy, origin, { isFirstAttempt: false });
						const retried = await live(retry, {
							rows: rows.map(({ target }) => ({ target, isRejected: false })),
							pause: 0,
							killedAfter: rows.length,
						});
						for (const target of ['a', 'b', 'c']) {
							const count = (list: readonly string[]) =>
								list.filter((one) => one === target).length;
							const asked = count(rows.map((each) => each.target));
							const remaining = asked - count(sent[index] ?? []);
							// Executions that started together may share entries, so a retry may send fewer requests, but never more.
							if (isTogether) expect(count(retried)).toBeLessThanOrEqual(remaining);
							else expect(count(retried)).toBe(remaining);
						}
					}
				}),
				{ numRuns: 300 },
			);
		},
	);
});

describe('requests of which many are in flight, and some take no effect,', () => {
	type Row = { target: string; isRejected: boolean; startsAfter: number; takes: number };
	const row = fc.record<Row>({
		target: fc.constantFrom('a', 'b'),
		isRejected: fc.boolean(),
		startsAfter: fc.nat(70),
		takes: fc.nat(40),
	});
	const executions = fc.array(fc.array(row, { maxLength: 5 }), { minLength: 1, maxLength: 3 });

	const child = (store: Store, running: RunningExecutions, index: number) =>
		new WriteAheadLog(
			store,
			{ startedAt: 1, executionId: 'parent', isSubExecution: true },
			{ isFirstAttempt: false },
			running.get('node', `child ${index}`, 'parent').begun,
		);

	test.each<[string, (store: Store, running: RunningExecutions, index: number) => WriteAheadLog]>([
		['of an execution', (store) => first(store)],
		['of a retry', (store) => later(store, 'e2')],
		['of sub-executions of one parent', child],
	])('%s leave the entries and the mark of the others, and no more', async (which, logOf) => {
		const isOne = !which.includes('sub-executions');
		await fc.assert(
			fc.asyncProperty(executions, async (rowsByExecution) => {
				const store = new SlowStore();
				const running = new RunningExecutions();
				const sent: string[] = [];
				const all = isOne ? [rowsByExecution.flat()] : rowsByExecution;
				await Promise.all(
					all.map(async (rows, index) => {
						const log = logOf(store, running, index);
						const send = async ({ target, isRejected, startsAfter, takes }: Row) => {
							await ticks(startsAfter);
							expect(await log.begin(target)).toBe(false);
							await ticks(takes);
							if (isRejected) await log.release(target);
							else sent.push(target);
						};
						await Promise.all(rows.map(send));
					}),
				);
				const isOfAttempt = (text: string) => / (?:e2|parent)$/.test(text);
				expect(store.requests.filter((text) => !isOfAttempt(text))).toHaveLength(sent.length);
				const retry = later(store, 'e9', !isOne);
				expect(await retry.mayHaveBegunAny()).toBe(sent.length > 0);
				const asked = all.flat().map(({ target }) => target);
				const isBegun = await retry.findBegun(asked);
				for (const target of ['a', 'b']) {
					const found = asked.filter((one, index) => one === target && isBegun[index]);
					expect(found).toHaveLength(sent.filter((one) => one === target).length);
				}
			}),
			{ numRuns: 2_000 },
		);
	});
});
