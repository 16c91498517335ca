import fc from 'fast-check';
import difference from 'lodash/difference';
import range from 'lodash/range';
import { type Entries, Ledger, type JobOutcome } from '../../../../nodes/core/ledger/ledger';
import { NotedExecution, Notes } from '../../../../nodes/core/ledger/notes';
import type { DeduplicationStore } from '../../../../nodes/core/ledger/store';
import { InvalidInput, NotSent, OutcomeUnknown } from '../../../../nodes/core/service/errors';
import { forEveryone } from '../../../../nodes/core/service/resolution';
import { noLimit } from '../../../../nodes/core/values/keyedMutex';
import { RUNS } from '../../../fuzz/runs';

/** n8n's store: a list that is read and written as a whole. */
class Store implements DeduplicationStore {
	texts: string[] = [];
	/** Whether the next text isn't added, or n8n reports an error after it was. */
	fails: 'before' | 'after' | undefined;

	/** Without the marks of executions. */
	get notes(): string[] {
		return this.texts.filter((text) => !text.endsWith(' any'));
	}

	async add(texts: string[], maxEntries = Infinity): Promise<string[]> {
		await Promise.resolve();
		if (this.fails === 'before') throw new NotSent('database is locked', forEveryone(''));
		const added = texts.filter((text) => !this.texts.includes(text));
		this.texts = [...this.texts, ...added].slice(-maxEntries);
		if (this.fails === 'after') throw new NotSent('connection lost', forEveryone(''));
		return added;
	}

	async find(texts: string[]): Promise<string[]> {
		return await Promise.resolve(texts.filter((text) => this.texts.includes(text)));
	}

	async remove(texts: string[]): Promise<void> {
		await Promise.resolve();
		this.texts = this.texts.filter((text) => !texts.includes(text));
	}

	async clear(): Promise<void> {
		await Promise.resolve();
		this.texts = [];
	}

	async count(): Promise<number> {
		return await Promise.resolve(this.texts.length);
	}
}

const openNotes = (store: Store, isFirst: boolean) =>
	new Notes(store, new NotedExecution('e1', isFirst), 'e1', () => 0, noLimit);
const first = (store: Store) => openNotes(store, true);
const retry = (store: Store) => openNotes(store, false);
const isNew = async (notes: Notes, thing: string) => (await notes.add(thing)) !== undefined;
const hasPlan = async (notes: Notes, place: string, content: string) =>
	(await notes.addPlan(place, content)) !== undefined;

/** The process was killed, and its memory is lost. */
class Killed extends Error {}

const EFFECTS = ['accept', 'reject', 'lose', 'loseAccepted'] as const;
type Effect = (typeof EFFECTS)[number];

type AttemptPlan = {
	/** Which of the stored executions it retries. */
	of: number;
	/** The access to n8n's database or the service before which n8n is killed. */
	killedAt: number;
	/** The number of jobs in flight. */
	concurrency: number;
	/** The order of the rows in this attempt. */
	rotatedBy: number;
	/** What the requests do, in turn. */
	effects: Effect[];
	/** The access to n8n's database that fails. */
	fault: { at: number; fails: Store['fails'] };
};

const attempts = fc.array(
	fc.record<AttemptPlan>({
		of: fc.nat(3),
		killedAt: fc.oneof(fc.nat(30), fc.constant(Infinity)),
		concurrency: fc.integer({ min: 1, max: 5 }),
		rotatedBy: fc.nat(20),
		effects: fc.array(fc.constantFrom(...EFFECTS), { minLength: 1, maxLength: 6 }),
		fault: fc.record({
			at: fc.nat(8),
			fails: fc.constantFrom<Store['fails'][]>(undefined, 'before', 'after'),
		}),
	}),
	{ minLength: 2, maxLength: 5 },
);

/** The rows of an execution, in any order, with the outcome of each one in this attempt. */
class World {
	readonly store = new Store();
	readonly accepted: number[] = [];
	/** The entries of executions that n8n stored. The first one has none if n8n was killed. */
	readonly stored: Array<Entries<number[]>> = [{}];

	constructor(readonly targets: readonly string[]) {}

	async attempt(plan: AttemptPlan, isFirst: boolean) {
		const { of, killedAt, concurrency, rotatedBy, effects, fault } = plan;
		let steps = 0;
		let writes = 0;
		const step = () => {
			if (++steps > killedAt) throw new Killed();
		};
		const store: DeduplicationStore = {
			...{ find: async () => await Promise.resolve([]), clear: async () => {} },
			count: async () => await Promise.resolve(0),
			add: async (texts) => {
				step();
				this.store.fails = ++writes === fault.at ? fault.fails : undefined;
				return await this.store.add(texts).finally(() => (this.store.fails = undefined));
			},
			remove: async (texts) => {
				step();
				await this.store.remove(texts);
			},
		};
		const entries = structuredClone(this.stored[isFirst ? 0 : of % this.stored.length] ?? {});
		const notes = new Notes(store, new NotedExecution('e1', isFirst), 'e1', () => 0, noLimit);
		const ledger = new Ledger(entries, async () => await Promise.resolve(notes));
		const at = rotatedBy % this.targets.length;
		const rows = range(this.targets.length);
		const jobs = [...rows.slice(at), ...rows.slice(0, at)].map((row) => ({
			...{ key: String(row), target: this.targets[row] },
		}));
		let requests = 0;
		const send = async (row: number): Promise<JobOutcome<number[]>> => {
			step();
			const effect = effects[requests++ % effects.length] ?? 'accept';
			if (effect === 'accept' || effect === 'loseAccepted') this.accepted.push(row);
			await Promise.resolve();
			step();
			if (effect === 'accept') return { kind: 'done', result: [row] };
			if (effect === 'reject')
				return { kind: 'rejected', error: new InvalidInput('', forEveryone('')) };
			return { kind: 'unknown', error: new OutcomeUnknown('', forEveryone('')) };
		};
		const outcomes = new Map<number, JobOutcome<number[]>>();
		const isEnded = (async () => {
			if (!isFirst) await ledger.findBegun(jobs);
			for (let start = 0; start < jobs.length; start += concurrency) {
				const batch = jobs.slice(start, start + concurrency).map(async (job) => {
					const row = Number(job.key);
					outcomes.set(row, await ledger.deliver(job, async () => await send(row)));
				});
				await Promise.all(batch);
			}
			step();
			return true;
		})();
		const hasEnded = await isEnded.catch((error: unknown) => {
			// An attempt whose look-up fails sends nothing.
			if (error instanceof Killed || error instanceof OutcomeUnknown) return false;
			throw error;
		});
		if (!hasEnded) return new Map<number, JobOutcome<number[]>>();
		if (isFirst) {
			this.stored[0] = entries;
			await notes.release();
		} else this.stored.push(entries);
		return outcomes;
	}
}

test('whatever fails, and wherever n8n is killed, no row is accepted twice, and what is said of each one is true', async () => {
	const kinds = new Set<string>();
	const targets = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 8 });
	const property = fc.asyncProperty(targets, attempts, async (given, all) => {
		const world = new World(given);
		for (const [index, attempt] of all.entries()) {
			const outcomes = await world.attempt(attempt, index === 0);
			expect(world.accepted).toEqual([...new Set(world.accepted)]);
			for (const [row, { kind }] of outcomes) {
				kinds.add(kind);
				if (kind === 'done') expect(world.accepted).toContain(row);
				else if (kind !== 'unknown') expect(world.accepted).not.toContain(row);
			}
		}
	});
	await fc.assert(property, { numRuns: 20 * RUNS });
	expect(difference(['done', 'rejected', 'unknown'], [...kinds])).toEqual([]);
});

test('what was noted after an execution was stored stays', async () => {
	const store = new Store();
	const notes = first(store);
	for (const thing of ['a', 'c']) await notes.add(thing);
	const stored = notes.own();
	for (const thing of ['b', 'c']) await notes.add(thing);
	await notes.release(stored);
	expect(await retry(store).find(['a', 'b', 'c'])).toEqual(new Set(['b', 'c']));
});

test('of several requests to a target, a removed one does not remove the note of another', async () => {
	const store = new Store();
	const notes = first(store);
	const note = await notes.add('a');
	await notes.add('a');
	await note?.remove();
	expect(await isNew(retry(store), 'a')).toBe(false);
});

test('a note that cannot be written does not count, and the next ones do', async () => {
	const store = new Store();
	const notes = first(store);
	store.fails = 'before';
	const failed = ['a', 'b'].map(async (target) => await notes.add(target));
	for (const one of failed) await expect(one).rejects.toThrow('database is locked');
	store.fails = undefined;
	expect(await isNew(notes, 'a')).toBe(true);
	expect(await isNew(retry(store), 'a')).toBe(false);
	expect(await isNew(retry(store), 'b')).toBe(true);
});

describe('a plan', () => {
	/** Notes the first job of a plan, in a sub-execution of its own. */
	async function stateOf(store: Store, attempt: NotedExecution, content: string) {
		const notes = new Notes(store, attempt, content, () => 0, noLimit);
		const plan = await notes.addPlan('a', content);
		return plan && ((await notes.add([plan.name, 0])) === undefined ? 'begun' : 'new');
	}

	test('that was removed is noted again with a later one, which may have jobs of it', async () => {
		const store = new Store();
		const notes = first(store);
		const plan = await notes.addPlan('a', 'x');
		await plan?.remove();
		expect(store.texts).toEqual([]);
		await notes.addPlan('b', 'y');
		expect(store.notes).toHaveLength(4);
	});

	test('is not taken for a noted one if n8n was killed while an earlier retry looked it up', async () => {
		const store = new Store();
		await first(store).addPlan('a', 'x');
		store.remove = async () => await Promise.reject(new Error('killed'));
		for (let retries = 0; retries < 2; retries++)
			expect(await hasPlan(retry(store), 'a', 'y')).toBe(false);
	});

	test('with another content than before stops all later ones, in another process, too', async () => {
		const store = new Store();
		const before = first(store);
		for (const place of ['a', 'b']) await before.addPlan(place, 'x');
		const notes = retry(store);
		expect(await hasPlan(notes, 'a', 'x')).toBe(true);
		expect(await hasPlan(notes, 'b', 'y')).toBe(false);
		expect(await hasPlan(notes, 'c', 'x')).toBe(false);
		expect(await hasPlan(retry(store), 'd', 'x')).toBe(false);
		// A retry with what was noted goes on.
		expect(await hasPlan(retry(store), 'b', 'x')).toBe(true);
	});

	test('comes again in another sub-execution, and each is found by its content, in any order', async () => {
		const store = new Store();
		const parent = new NotedExecution('e1', false, 'p1');
		for (const content of ['x', 'y']) expect(await stateOf(store, parent, content)).toBe('new');
		const again = new NotedExecution('e1', false, 'p2');
		for (const content of ['y', 'x']) expect(await stateOf(store, again, content)).toBe('begun');
		expect(await stateOf(store, again, 'z')).toBe('new');
	});

	test('is new after a restart while the parent of its sub-execution waits, and known in a retry of the parent', async () => {
		const store = new Store();
		// Each has its own memory, as after a restart.
		for (const content of ['x', 'y', 'z'])
			expect(await stateOf(store, new NotedExecution('e1', false, 'p1'), content)).toBe('new');
		const again = new NotedExecution('e1', false, 'p2');
		for (const content of ['x', 'y', 'z'])
			expect(await stateOf(store, again, content)).toBe('begun');
		expect(await stateOf(store, again, 'w')).toBe('new');
		expect(await stateOf(store, new NotedExecution('e1', false, 'p3'), 'v')).toBeUndefined();
	});
});

test("a job is unknown in a retry if n8n's store fails, because an earlier attempt may have sent it", async () => {
	const store = new Store();
	await first(store).add('a');
	const notes = retry(store);
	await notes.find([]);
	store.fails = 'before';
	const newLedger = () => new Ledger<null>({}, async () => await Promise.resolve(notes));
	const send = async (): Promise<JobOutcome<null>> => await Promise.reject(new Error('sent'));
	expect(await newLedger().deliver({ key: 'a', target: 'a' }, send)).toMatchObject({
		kind: 'unknown',
	});
	await expect(newLedger().beginPlan('a', 'x')).rejects.toMatchObject({ outcome: 'unknown' });
});

test('what is stored of a job stays the same, whatever later nodes do with its result', async () => {
	const ledger = new Ledger<{ id: number }>({}, async () => await Promise.resolve(undefined));
	const send = async () => await Promise.resolve({ kind: 'done', result: { id: 1 } } as const);
	const results: unknown[] = [];
	for (let attempt = 0; attempt < 3; attempt++) {
		const outcome = await ledger.deliver({ key: 'a' }, send);
		results.push(structuredClone(outcome));
		if (outcome.kind === 'done') outcome.result.id = 2;
	}
	expect(results).toEqual(new Array(3).fill({ kind: 'done', result: { id: 1 } }));
});

test('a job with an idempotency key stays unknown if a later attempt is rejected, until one is done', async () => {
	const ledger = new Ledger<number>({}, async () => await Promise.resolve(first(new Store())));
	const deliver = async (outcome: JobOutcome<number>) =>
		await ledger.deliver(
			{ key: 'a', target: 'a', idempotencyKey: 'row 1' },
			async () => await Promise.resolve(outcome),
		);
	const lost = new OutcomeUnknown('The connection broke', forEveryone(''));
	const refused = new InvalidInput('The agent is inactive', forEveryone(''));
	expect(await deliver({ kind: 'unknown', error: lost })).toMatchObject({ kind: 'unknown' });
	expect(await deliver({ kind: 'rejected', error: refused })).toMatchObject({
		kind: 'unknown',
		error: { message: expect.stringContaining('a later attempt failed') },
	});
	expect(await deliver({ kind: 'done', result: 1 })).toEqual({ kind: 'done', result: 1 });
	expect(await deliver({ kind: 'done', result: 2 })).toEqual({ kind: 'done', result: 1 });
});
