import fc from 'fast-check';
import {
	OTHER_TEXTS,
	type DeduplicationStore,
} from '../../../../../nodes/shared/deduplicationStore';
import { RunningExecutions } from '../../../../../nodes/shared/n8n/idempotency/begunRequests';
import { WriteAheadLog } from '../../../../../nodes/shared/n8n/idempotency/writeAheadLog';

/** n8n's store as it behaves: a list that is read and written whole. */
class Store implements DeduplicationStore {
	texts: string[] = [];
	writes = 0;
	/** Called after the list was read, and before it is written. */
	between: () => void = () => {};

	async add(texts: string[], maxEntries = Infinity): Promise<string[]> {
		const read = [...this.texts];
		await Promise.resolve();
		this.between();
		const added = texts.filter((text) => !read.includes(text));
		this.texts = [...read, ...added].slice(-maxEntries);
		this.writes++;
		return added;
	}

	async remove(texts: string[]): Promise<void> {
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

/** An attempt ends here: nothing of what its process knows is left. */
class Killed extends Error {}

type Attempt = {
	/** Before which step n8n is killed; steps are counted over all items. */
	killedAt: number;
	/** How many items are under way at once. */
	concurrency: number;
	/** How the rows lie in this attempt. */
	order: number;
	/** Whether it first finds all that was begun, as without *Continue On Fail*. */
	looksAhead: boolean;
};

/** What a node does with its items; gives what became of each. */
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
		const batch = targets.slice(start, start + concurrency).map(async (target, place) => {
			if (known[start + place] === true) return 'unknown';
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

test('however often an execution is killed and retried, in whatever order its rows come, nobody is sent more than their rows ask for', async () => {
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
					// The last attempt was not killed, so that by now each row was begun, and once.
					expect(count(begun, target)).toBe(count(targets, target));
				}
				expect(last).toHaveLength(targets.length);
			},
		),
		{ numRuns: 500 },
	);
});

test('what was never begun is sent by a retry', async () => {
	const store = new Store();
	await first(store).begin('a');
	const retry = later(store, 'e2');
	expect([await retry.begin('a'), await retry.begin('b'), await retry.begin('a')]).toEqual([
		true,
		false,
		false,
	]);
});

test('another execution that started at the same millisecond sends as usual', async () => {
	const store = new Store();
	expect(await first(store, 'e1').begin('a')).toBe(false);
	expect(await first(store, 'e2').begin('a')).toBe(false);
	expect(await first(store, 'e3', 2).begin('a')).toBe(false);
});

test('sub-executions of one execution may ask for the same, and those of its retry may not', async () => {
	const store = new Store();
	const child = (executionId: string) => later(store, executionId, true);
	expect([await child('e1').begin('a'), await child('e1').begin('a')]).toEqual([false, false]);
	expect([await child('e2').begin('a'), await child('e2').begin('a')]).toEqual([true, true]);
	expect(await child('e2').begin('a')).toBe(false);
});

test('what surely took no effect is sent by a retry, and again by the same execution', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	await log.begin('b');
	await log.release('a');
	expect(await later(store, 'e2').findBegun(['a', 'b'])).toEqual([false, true]);
	await log.begin('a');
	expect(await later(store, 'e3').findBegun(['a', 'b'])).toEqual([true, true]);
});

test('what an execution begins after it was stored stays noted, and is found', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	await log.begin('b');
	const stored = log.state();
	await log.begin('a');
	await log.clear(stored);
	// The notes of a target stay together, as they are counted.
	expect(store.texts).toHaveLength(2);
	await log.begin('b');
	// What a retry begins from the stored execution on.
	expect(await later(store, 'e2').findBegun(['a', 'b', 'c'])).toEqual([true, true, false]);
	await log.clear();
	expect(store.texts).toEqual([]);
});

test('what was released does not come back with the next note', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	await log.release('a');
	await log.begin('b');
	expect(await later(store, 'e2').findBegun(['a', 'b'])).toEqual([false, true]);
	await log.clear();
	expect(store.texts).toEqual([]);
});

test('a note that was removed with the end of a part does not come back with the next one', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	await log.clear();
	await log.begin('b');
	expect(store.texts).toHaveLength(1);
	expect(await later(store, 'e2').findBegun(['a', 'b'])).toEqual([false, true]);
});

test('whatever is begun, released and stored, the notes are those of what is begun and not stored', async () => {
	const step = fc.tuple(
		fc.constantFrom('begin', 'begin', 'release', 'store'),
		fc.constantFrom('a', 'b', 'c'),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
			const store = new Store();
			const log = first(store);
			const noted: string[] = [];
			for (const [what, target] of steps) {
				if (what === 'begin') {
					await log.begin(target);
					noted.push(target);
				} else if (what === 'release') {
					await log.release(target);
					if (noted.includes(target)) noted.splice(noted.indexOf(target), 1);
				} else {
					await log.clear(log.state());
					noted.length = 0;
				}
				expect(store.texts).toHaveLength(noted.length);
			}
			const found = await later(store, 'e2').findBegun(['a', 'b', 'c']);
			expect(found).toEqual(['a', 'b', 'c'].map((target) => noted.includes(target)));
		}),
	);
});

test('a note that cannot be removed stays, and stops nobody', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	store.remove = async () => await Promise.reject(new Error('database is locked'));
	await log.release('a');
	expect(await later(store, 'e2').begin('a')).toBe(true);
});

test('looking for what was begun leaves no trace of the rest', async () => {
	const store = new Store();
	await first(store).begin('a');
	const retry = later(store, 'e2');
	expect(await retry.findBegun(['a', 'b', 'a'])).toEqual([true, false, false]);
	expect(store.texts).toHaveLength(1);
	expect(await retry.begin('a')).toBe(false);
});

test('requests that begin while n8n writes are written together', async () => {
	const store = new Store();
	const log = first(store);
	await Promise.all(Array.from({ length: 50 }, async (_, index) => await log.begin(index)));
	expect(store.writes).toBe(1);
	expect(store.texts).toHaveLength(50);
});

test('a note that another process overwrites is written again with the next one', async () => {
	const store = new Store();
	const log = first(store);
	await log.begin('a');
	// It has read the list before this note was written, and writes it afterwards.
	store.texts = ['of another process'];
	await log.begin('b');
	expect(await later(store, 'e2').findBegun(['a', 'b'])).toEqual([true, true]);
});

test('an overwritten note is also written again if another one is removed in between', async () => {
	const store = new Store();
	const log = first(store);
	await Promise.all([log.begin('a'), log.begin('b')]);
	await log.release('b');
	store.texts = ['of another process'];
	await log.begin('c');
	expect(await later(store, 'e2').findBegun(['a', 'b', 'c'])).toEqual([true, false, true]);
});

test('the notes of an execution that ended are removed, and those of others stay', async () => {
	const store = new Store();
	const [one, other] = [first(store, 'e1', 1), first(store, 'e2', 2)];
	for (const log of [one, other]) {
		await log.begin('a');
		await log.begin('a');
	}
	await one.clear();
	expect(store.texts).toHaveLength(2);
	await other.clear();
	expect(store.texts).toEqual([]);
});

test('the notes of a retry stay when it ends, so that a second retry sends nothing again', async () => {
	const store = new Store();
	await first(store).begin('a');
	const retry = later(store, 'e2');
	expect([await retry.begin('a'), await retry.begin('b')]).toEqual([true, false]);
	await retry.clear();
	expect(await later(store, 'e3').findBegun(['a', 'b'])).toEqual([true, true]);
	const second = later(store, 'e4');
	expect([await second.begin('a'), await second.begin('b')]).toEqual([true, true]);
});

test('an execution that has begun nothing writes nothing when it ends', async () => {
	const store = new Store();
	store.texts = ['of another execution'];
	await first(store).clear();
	expect([store.writes, store.texts]).toEqual([0, ['of another execution']]);
});

test('after two executions that started at the same millisecond, the notes of later ones are removed as usual', async () => {
	const store = new Store();
	const together = [first(store, 'e1'), first(store, 'e2')];
	for (const log of together) await log.begin('a');
	for (const log of together) await log.clear();
	const before = [...store.texts];
	const other = first(store, 'e3', 2);
	await other.begin('a');
	expect(store.texts).toHaveLength(before.length + 1);
	await other.clear();
	expect(store.texts).toEqual(before);
});

test('what is released after its note was removed leaves no trace, and counts from the beginning again', async () => {
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

test('an execution that ends leaves the note of one that begins at the same moment', async () => {
	const store = new Store();
	const [one, other] = [first(store, 'e1', 1), first(store, 'e2', 2)];
	await one.begin('a');
	await Promise.all([other.begin('b'), one.clear()]);
	expect(store.texts).toHaveLength(1);
});

test('an execution that ends leaves the notes of others, although its own are lost', async () => {
	const store = new Store();
	const [one, other] = [first(store, 'e1', 1), first(store, 'e2', 2)];
	await one.begin('a');
	store.texts = [];
	await other.begin('b');
	await one.clear();
	expect(store.texts).toHaveLength(1);
});

test('of two executions that started at the same millisecond, one that ends does not hide what the other began', async () => {
	const store = new Store();
	const [one, other] = [first(store, 'e1'), first(store, 'e2')];
	await one.begin('a');
	await other.begin('a');
	await one.clear();
	expect(await later(store, 'e3').begin('a')).toBe(true);
});

describe('beside what else a node keeps', () => {
	const origin = { startedAt: 1, executionId: 'e1', isSubExecution: false };
	const sharing = (store: Store) =>
		new WriteAheadLog(store, origin, { isFirstAttempt: true, isSharedStore: true });

	test('nothing but the own notes is removed or dropped', async () => {
		const numbers = Array.from({ length: 30_000 }, (_, index) => String(index));
		const store = new Store();
		store.texts = [OTHER_TEXTS, ...numbers];
		const log = sharing(store);
		await log.begin('a');
		await log.clear();
		await log.begin('b');
		expect(store.texts.filter((text) => !text.startsWith('request'))).toEqual([
			OTHER_TEXTS,
			...numbers,
		]);
	});

	test.each([
		['was there before', [OTHER_TEXTS], []],
		['is new as well', [], [OTHER_TEXTS]],
	])(
		'what is stored after the first note is dropped for none of the further ones, if its mark %s',
		async (_when, before, after) => {
			const store = new Store();
			store.texts = [...before];
			const log = sharing(store);
			await log.begin('a');
			const numbers = Array.from({ length: 30_000 }, (_, index) => String(index));
			store.texts.push(...after, ...numbers);
			await log.begin('b');
			expect(store.texts.filter((text) => !text.startsWith('request'))).toEqual([
				OTHER_TEXTS,
				...numbers,
			]);
		},
	);

	test('a node that keeps nothing else has no more notes than any other', async () => {
		const store = new Store();
		store.texts = Array.from({ length: 30_000 }, (_, index) => `request ${index}`);
		await sharing(store).begin('a');
		expect(store.texts.length).toBeLessThanOrEqual(20_002);
		expect(await later(store, 'e2').begin('a')).toBe(true);
	});
});

test('the notes of an execution that still runs make no room for those of another', async () => {
	const store = new Store();
	const running = new RunningExecutions();
	const logOf = (executionId: string, startedAt: number) =>
		new WriteAheadLog(
			store,
			{ startedAt, executionId, isSubExecution: false },
			{ isFirstAttempt: true, totalBegun: () => running.total('node') },
			running.open('node', executionId).begun,
		);
	const many = logOf('e1', 1);
	await Promise.all(Array.from({ length: 30_000 }, async (_, index) => await many.begin(index)));
	await logOf('e2', 2).begin('b');
	expect(await later(store, 'e3').findBegun([0, 29_999])).toEqual([true, true]);
});

test('the oldest notes make room, and never those of the own execution', async () => {
	const store = new Store();
	store.texts = Array.from({ length: 20_000 }, (_, index) => `old ${index}`);
	const log = first(store);
	for (let index = 0; index < 3; index++) await log.begin(index);
	expect(store.texts.length).toBeLessThanOrEqual(20_006);
	expect(store.texts.slice(-3).every((text) => text.startsWith('request'))).toBe(true);
});

test('a note that cannot be written is not taken for one, and the next ones are', async () => {
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
	'in %s, a request that could not be noted is the same one when it is noted at last',
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

describe('executions of one node at the same time', () => {
	/** What becomes of a request: the service accepts or rejects it. */
	type Row = { target: string; isRejected: boolean };
	type Life = {
		rows: Row[];
		/** How many turns of the event loop pass before each request. */
		pause: number;
		/** After how many requests n8n is killed; an execution with fewer ends by itself. */
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
			for (let turn = 0; turn < pause; turn++) await Promise.resolve();
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
							const left = asked - count(sent[index] ?? []);
							// One that started with others may know their requests as its own: that sends less, and never more.
							if (isTogether) expect(count(retried)).toBeLessThanOrEqual(left);
							else expect(count(retried)).toBe(left);
						}
					}
				}),
				{ numRuns: 300 },
			);
		},
	);
});
