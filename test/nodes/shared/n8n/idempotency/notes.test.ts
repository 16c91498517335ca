import fc from 'fast-check';
import type { DeduplicationStore } from '../../../../../nodes/shared/deduplicationStore';
import { runExclusive } from '../../../../../nodes/shared/keyedMutex';
import {
	AttemptState,
	Notes,
	type NoteState,
} from '../../../../../nodes/shared/n8n/idempotency/notes';

/** n8n's store: a list that is read and written as a whole. */
class Store implements DeduplicationStore {
	texts: string[] = [];
	writes = 0;
	/** Called before texts are added, and afterwards. */
	fails: 'before' | 'after' | undefined;

	/** Without the marks of executions. */
	get notes(): string[] {
		return this.texts.filter((text) => !text.endsWith(' any'));
	}

	async add(texts: string[], maxEntries = Infinity): Promise<string[]> {
		await Promise.resolve();
		if (this.fails === 'before') throw new Error('database is locked');
		const added = texts.filter((text) => !this.texts.includes(text));
		this.texts = [...this.texts, ...added].slice(-maxEntries);
		this.writes++;
		if (this.fails === 'after') throw new Error('connection lost');
		return added;
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

type Over = {
	startedAt?: number;
	isSubExecution?: boolean;
	pause?: () => Promise<boolean>;
	state?: AttemptState;
};

const notesOf = (store: Store, isFirstAttempt: boolean, over: Over = {}) => {
	const { startedAt = 1, isSubExecution = false, pause, state } = over;
	return new Notes(
		{
			store,
			origin: { startedAt, executionId: 'e1', isSubExecution },
			isFirstAttempt,
			exclusive: async (run) => await runExclusive(store, run),
			...(pause && { pause }),
		},
		state,
	);
};
const first = (store: Store, over?: Over) => notesOf(store, true, over);
const retry = (store: Store, over?: Over) => notesOf(store, false, over);
const stateOf = async (notes: Notes, target: unknown, payload?: unknown): Promise<NoteState> =>
	(await notes.add(target, payload)).state;
const statesOf = async (notes: Notes, ...targets: string[]) => {
	const states: NoteState[] = [];
	for (const target of targets) states.push(await stateOf(notes, target));
	return states;
};

/** The process was killed, and its memory is lost. */
class Killed extends Error {}

type Attempt = {
	/** The step before which n8n is killed, counted over all items. */
	killedAt: number;
	/** The number of items in flight. */
	concurrency: number;
	/** The order of the rows in this attempt. */
	order: number;
	/** Whether it first finds what was noted, as a retry does. */
	looksAhead: boolean;
	/** The items that the service rejects. */
	rejected: number[];
};

type Row = { target: string; id: number };

/** Sends the items of a node. */
async function run(
	notes: Notes,
	rows: readonly Row[],
	{ killedAt, concurrency, looksAhead, rejected }: Attempt,
	send: (row: Row) => void,
): Promise<void> {
	let steps = 0;
	const step = () => {
		if (++steps > killedAt) throw new Killed();
	};
	const known = looksAhead ? await notes.findEarlier(rows.map(({ target }) => target)) : [];
	for (let start = 0; start < rows.length; start += concurrency) {
		const batch = rows.slice(start, start + concurrency).map(async (row, position) => {
			if (known[start + position] === true) return;
			step();
			const note = await notes.add(row.target);
			if (note.state !== 'new') return;
			step();
			if (rejected.includes(start + position)) {
				await note.release();
				return;
			}
			send(row);
			step();
		});
		await Promise.all(batch);
	}
}

const attempts = fc.array(
	fc.record<Attempt>({
		killedAt: fc.nat(60),
		concurrency: fc.integer({ min: 1, max: 5 }),
		order: fc.nat(1_000),
		looksAhead: fc.boolean(),
		rejected: fc.array(fc.nat(11), { maxLength: 3 }),
	}),
	{ minLength: 1, maxLength: 4 },
);

function rotated<T>(list: readonly T[], by: number): T[] {
	const at = list.length === 0 ? 0 : by % list.length;
	return [...list.slice(at), ...list.slice(0, at)];
}

test('killed and retried executions send nothing twice, in any order, also if others to the target were rejected', async () => {
	const targetsOf = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
	await fc.assert(
		fc.asyncProperty(targetsOf, attempts, async (targets, killed) => {
			const store = new Store();
			const sent: number[] = [];
			const all = targets.map((target, id) => ({ target, id }));
			const last = { killedAt: Infinity, concurrency: 2, order: 0, looksAhead: true, rejected: [] };
			for (const [index, attempt] of [...killed, last].entries()) {
				const notes = index === 0 ? first(store) : retry(store);
				const ended = run(notes, rotated(all, attempt.order), attempt, ({ id }) => sent.push(id));
				await ended.catch((error: unknown) => {
					if (!(error instanceof Killed)) throw error;
				});
			}
			expect(new Set(sent).size).toBe(sent.length);
		}),
		{ numRuns: 1_000 },
	);
});

test('a retry finds what was noted, and so does a second retry', async () => {
	const store = new Store();
	await statesOf(first(store), 'a', 'a');
	expect(await retry(store).findEarlier(['a', 'b', 'a'])).toEqual([true, false, true]);
	expect(await statesOf(retry(store), 'a', 'b')).toEqual(['same', 'new']);
	expect(await statesOf(retry(store), 'a', 'a', 'b', 'c')).toEqual(['same', 'same', 'same', 'new']);
	// Its own requests to a new target aren't earlier ones.
	expect(await statesOf(retry(store), 'd', 'd', 'a')).toEqual(['new', 'new', 'same']);
});

test('a first attempt looks for nothing, and sends equal requests', async () => {
	const store = new Store();
	const notes = first(store);
	expect(await notes.findEarlier(['a', 'b'])).toEqual([false, false]);
	expect(store.writes).toBe(0);
	expect(await statesOf(notes, 'a', 'a')).toEqual(['new', 'new']);
});

test('looking for notes leaves none of others', async () => {
	const store = new Store();
	await first(store).add('a');
	const notes = retry(store);
	expect(await notes.findEarlier(['a', 'b', 'a'])).toEqual([true, false, true]);
	expect(store.notes).toHaveLength(1);
	expect(await statesOf(notes, 'a', 'b')).toEqual(['same', 'new']);
});

test('requests that start while n8n writes are noted together', async () => {
	const store = new Store();
	const notes = first(store);
	await Promise.all(Array.from({ length: 50 }, async (_, index) => await notes.add(index)));
	expect(store.writes).toBe(1);
	expect(store.notes).toHaveLength(50);
});

test('the end of an execution removes its notes, and not those of others', async () => {
	const store = new Store();
	const [one, other] = [first(store), first(store, { startedAt: 2 })];
	for (const notes of [one, other]) await statesOf(notes, 'a', 'a');
	await one.clear();
	expect(store.notes).toHaveLength(1);
	expect(await statesOf(retry(store, { startedAt: 2 }), 'a')).toEqual(['same']);
});

test('the end of a retry removes nothing', async () => {
	const store = new Store();
	const notes = retry(store);
	await notes.add('a');
	await notes.clear();
	expect(await stateOf(retry(store), 'a')).toBe('same');
});

test('what was noted after an execution was stored stays', async () => {
	const store = new Store();
	const notes = first(store);
	await notes.add('a');
	const stored = notes.own();
	await notes.add('b');
	await notes.clear(stored);
	expect(await retry(store).findEarlier(['a', 'b'])).toEqual([false, true]);
});

describe('a request that had no effect', () => {
	test('is sent again by a retry', async () => {
		const store = new Store();
		const note = await first(store).add('a');
		await note.release();
		expect(await stateOf(retry(store), 'a')).toBe('new');
	});

	test('keeps its note if another request to the target has it, too', async () => {
		const store = new Store();
		const notes = first(store);
		const [note] = [await notes.add('a'), await notes.add('a')];
		await note.release();
		expect(await stateOf(retry(store), 'a')).toBe('same');
	});
});

describe('requests with a payload', () => {
	test('are the same or changed', async () => {
		const store = new Store();
		const notes = first(store);
		await notes.add('a', 'x');
		expect(await stateOf(retry(store), 'a', 'x')).toBe('same');
		expect(await stateOf(retry(store), 'a', 'y')).toBe('changed');
		// Asking leaves nothing.
		expect(await stateOf(retry(store), 'a', 'y')).toBe('changed');
		expect(await stateOf(retry(store), 'a', 'x')).toBe('same');
	});

	test('that are parts of a whole are all changed after one is', async () => {
		const store = new Store();
		await first(store).add('a', 'x');
		const notes = retry(store);
		expect((await notes.add('a', 'y', true)).state).toBe('changed');
		expect((await notes.add('b', 'x', true)).state).toBe('changed');
		expect(await statesOf(notes, 'b')).toEqual(['new']);
	});
});

describe('whether an earlier attempt noted anything', () => {
	test.each([true, false])('is known (%s)', async (hasEarlier) => {
		const store = new Store();
		if (hasEarlier) await first(store).add('a');
		const notes = retry(store);
		await notes.add('b');
		expect(await notes.hasEarlier()).toBe(hasEarlier);
	});

	test('is false after the first one ended', async () => {
		const store = new Store();
		const notes = first(store);
		await notes.add('a');
		await notes.clear();
		expect(await retry(store).hasEarlier()).toBe(false);
		expect(store.notes).toEqual([]);
	});

	test("is an error if n8n's store can't be reached, and asked again", async () => {
		const store = new Store();
		const notes = retry(store);
		store.fails = 'before';
		const unreadable = { outcome: 'unknown', originalMessage: 'Error: database is locked' };
		await expect(notes.hasEarlier()).rejects.toMatchObject(unreadable);
		await expect(notes.findEarlier(['a'])).rejects.toMatchObject(unreadable);
		store.fails = undefined;
		expect(await notes.hasEarlier()).toBe(false);
	});
});

test('another execution that started in the same millisecond sends its requests', async () => {
	const store = new Store();
	expect(await stateOf(first(store), 'a')).toBe('new');
	expect(await stateOf(first(store), 'a')).toBe('new');
	expect(await stateOf(retry(store), 'a')).toBe('same');
});

test('a workflow that starts itself as a sub-workflow has notes of its own', async () => {
	const store = new Store();
	await first(store).add('a');
	expect(await stateOf(retry(store, { isSubExecution: true }), 'a')).toBe('new');
});

test('sub-executions of one parent may repeat a request, and those of its retry may not', async () => {
	const store = new Store();
	const state = new AttemptState();
	const over = { isSubExecution: true, state };
	expect(await stateOf(retry(store, over), 'a')).toBe('new');
	expect(await stateOf(retry(store, over), 'a')).toBe('new');
	const ofRetry = retry(store, { isSubExecution: true });
	expect(await statesOf(ofRetry, 'a', 'a')).toEqual(['same', 'same']);
});

test('a note that cannot be written does not count, and the next ones do', async () => {
	const store = new Store();
	const notes = first(store);
	store.fails = 'before';
	const failed = [notes.add('a'), notes.add('a')];
	for (const one of failed) await expect(one).rejects.toThrow('database is locked');
	store.fails = undefined;
	expect(await stateOf(notes, 'a')).toBe('new');
	expect(await stateOf(retry(store), 'a')).toBe('same');
});

describe("if n8n's store reports an error after it added a note", () => {
	const failsOnce = (store: Store) => {
		store.fails = 'after';
		return async () => {
			store.fails = undefined;
			return await Promise.resolve(true);
		};
	};

	test('a first attempt sends the request', async () => {
		const store = new Store();
		expect(await stateOf(first(store, { pause: failsOnce(store) }), 'a')).toBe('new');
	});

	test('a retry reports it as unknown', async () => {
		const store = new Store();
		const notes = retry(store, { pause: async () => await failsOnce(store)() });
		await notes.hasEarlier();
		store.fails = 'after';
		expect(await stateOf(notes, 'a')).toBe('same');
	});
});
