import fc from 'fast-check';
import countBy from 'lodash/countBy';
import type { DeduplicationStore } from '../../../../../nodes/shared/deduplicationStore';
import { runExclusive } from '../../../../../nodes/shared/keyedMutex';
import { AttemptState, Notes, type NoteState } from '../../../../../nodes/shared/n8n/once/notes';

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
const stateOf = async (notes: Notes, target: unknown, payload = target): Promise<NoteState> =>
	(await notes.add({ target, payload })).state;
const request = (target: unknown, payload = target) => ({ target, payload });
const partOf = async (notes: Notes, target: unknown, payload: unknown): Promise<NoteState> =>
	(await notes.add({ target, payload, isPart: true })).state;
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

type Row = { target: string; payload: string; id: number };

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
	const known = looksAhead ? await notes.findEarlier(rows) : [];
	for (let start = 0; start < rows.length; start += concurrency) {
		const batch = rows.slice(start, start + concurrency).map(async (row, position) => {
			if (known[start + position] === true) return;
			step();
			const note = await notes.add(row);
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
	const row = fc.record({
		target: fc.constantFrom('a', 'b', 'c'),
		/** Of its own, as that of an equal row, or another one in each attempt. */
		payload: fc.constantFrom('own', 'equal', 'changing'),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(row, { maxLength: 12 }), attempts, async (given, killed) => {
			const store = new Store();
			const sent: number[] = [];
			const last = { killedAt: Infinity, concurrency: 2, order: 0, looksAhead: true, rejected: [] };
			for (const [index, attempt] of [...killed, last].entries()) {
				const payloadOf = {
					own: String,
					equal: () => 'x',
					changing: (id: number) => `${id} ${index}`,
				};
				const rows = given.map(({ target, payload }, id) => ({
					target,
					payload: payloadOf[payload](id),
					id,
				}));
				const notes = index === 0 ? first(store) : retry(store);
				const ended = run(notes, rotated(rows, attempt.order), attempt, ({ id }) => sent.push(id));
				await ended.catch((error: unknown) => {
					if (!(error instanceof Killed)) throw error;
				});
			}
			// Equal rows can't be told apart, so they are counted together.
			const keyOf = (id: number) => (given[id]?.payload === 'equal' ? given[id].target : id);
			const requested = countBy([...given.keys()], keyOf);
			for (const [key, count] of Object.entries(countBy(sent, keyOf))) {
				expect([key, count <= (requested[key] ?? 0)]).toEqual([key, true]);
			}
		}),
		{ numRuns: 1_000 },
	);
});

test('a retry finds what was noted, and so does a second retry', async () => {
	const store = new Store();
	await statesOf(first(store), 'a', 'a');
	const requests = ['a', 'a', 'a', 'b'].map((one) => request(one));
	expect(await retry(store).findEarlier(requests)).toEqual([true, true, false, false]);
	expect(await statesOf(retry(store), 'a', 'b')).toEqual(['same', 'new']);
	expect(await statesOf(retry(store), 'a', 'a', 'b', 'c')).toEqual(['same', 'same', 'same', 'new']);
	// Its own requests to a new target aren't earlier ones.
	expect(await statesOf(retry(store), 'd', 'd', 'a')).toEqual(['new', 'new', 'same']);
});

test('a first attempt looks for nothing, and sends equal requests', async () => {
	const store = new Store();
	const notes = first(store);
	expect(await notes.findEarlier(['a', 'b'].map((one) => request(one)))).toEqual([false, false]);
	expect(store.writes).toBe(0);
	expect(await statesOf(notes, 'a', 'a')).toEqual(['new', 'new']);
});

test('looking for notes leaves none of others', async () => {
	const store = new Store();
	await first(store).add(request('a'));
	const notes = retry(store);
	expect(await notes.findEarlier(['a', 'b', 'a'].map((one) => request(one)))).toEqual([
		true,
		false,
		false,
	]);
	expect(store.notes).toHaveLength(2);
	// The request that was found counts.
	expect(await statesOf(notes, 'a', 'b')).toEqual(['new', 'new']);
});

test('requests that start while n8n writes are noted together', async () => {
	const store = new Store();
	const notes = first(store);
	await Promise.all(
		Array.from({ length: 50 }, async (_, index) => await notes.add(request(index))),
	);
	expect(store.writes).toBe(1);
	expect(store.notes).toHaveLength(100);
});

test('the end of an execution removes its notes, and not those of others', async () => {
	const store = new Store();
	const [one, other] = [first(store), first(store, { startedAt: 2 })];
	for (const notes of [one, other]) await statesOf(notes, 'a', 'a');
	await one.clear();
	expect(store.notes).toHaveLength(4);
	expect(await statesOf(retry(store, { startedAt: 2 }), 'a')).toEqual(['same']);
});

test('the end of a retry removes nothing', async () => {
	const store = new Store();
	const notes = retry(store);
	await notes.add(request('a'));
	await notes.clear();
	expect(await stateOf(retry(store), 'a')).toBe('same');
});

test('what was noted after an execution was stored stays', async () => {
	const store = new Store();
	const notes = first(store);
	await notes.add(request('a'));
	const stored = notes.own();
	await notes.add(request('b'));
	await notes.clear(stored);
	expect(await retry(store).findEarlier(['a', 'b'].map((one) => request(one)))).toEqual([
		false,
		true,
	]);
});

describe('a request that had no effect', () => {
	test('is sent again by a retry', async () => {
		const store = new Store();
		const note = await first(store).add(request('a'));
		await note.release();
		expect(await stateOf(retry(store), 'a')).toBe('new');
	});

	test('keeps its note if another request to the target has it, too', async () => {
		const store = new Store();
		const notes = first(store);
		const [note] = [await notes.add(request('a')), await notes.add(request('a'))];
		await note.release();
		expect(await stateOf(retry(store), 'a')).toBe('same');
	});
});

describe('several requests to one target', () => {
	const asked = (...payloads: string[]) => payloads.map((payload) => request('a', payload));

	test('are told apart by their payloads', async () => {
		const store = new Store();
		await first(store).add(request('a', 'x'));
		expect(await retry(store).findEarlier(asked('y', 'x', 'z'))).toEqual([false, true, false]);
	});

	test('may all have been sent if the payloads changed', async () => {
		const store = new Store();
		await first(store).add(request('a', 'x'));
		expect(await retry(store).findEarlier(asked('y', 'z'))).toEqual([true, true]);
		const notes = retry(store);
		expect(await stateOf(notes, 'a', 'y')).toBe('changed');
		expect(await stateOf(notes, 'a', 'z')).toBe('changed');
		expect(await stateOf(notes, 'b', 'y')).toBe('new');
	});

	test('may be sent again if exactly they were noted, and they are repeatable', async () => {
		const store = new Store();
		await first(store).add(request('a', 'x'));
		const requests = asked('x', 'y').map((one) => ({ ...one, isRepeatable: true }));
		expect(await retry(store).findEarlier(requests)).toEqual([false, false]);
	});
});

describe('parts of a whole', () => {
	test('are the same or changed', async () => {
		const store = new Store();
		await partOf(first(store), 'a', 'x');
		expect(await partOf(retry(store), 'a', 'x')).toBe('same');
		expect(await partOf(retry(store), 'a', 'y')).toBe('changed');
		// Asking leaves nothing.
		expect(await partOf(retry(store), 'a', 'y')).toBe('changed');
		expect(await partOf(retry(store), 'a', 'x')).toBe('same');
	});

	test('are all changed after one is', async () => {
		const store = new Store();
		await partOf(first(store), 'a', 'x');
		const notes = retry(store);
		expect(await partOf(notes, 'a', 'y')).toBe('changed');
		expect(await partOf(notes, 'b', 'x')).toBe('changed');
		expect(await statesOf(notes, 'b')).toEqual(['new']);
	});

	test('are noted again with a later part if they had no effect', async () => {
		const store = new Store();
		const notes = first(store);
		const note = await notes.add({ target: 'a', payload: 'x', isPart: true });
		await note.release();
		expect(store.notes).toEqual([]);
		await partOf(notes, 'b', 'y');
		expect(store.notes).toHaveLength(4);
	});
});

describe('whether an earlier attempt noted anything', () => {
	test.each([true, false])('is known (%s)', async (hasEarlier) => {
		const store = new Store();
		if (hasEarlier) await first(store).add(request('a'));
		const notes = retry(store);
		await notes.add(request('b'));
		expect(await notes.hasEarlier()).toBe(hasEarlier);
	});

	test('is false after the first one ended', async () => {
		const store = new Store();
		const notes = first(store);
		await notes.add(request('a'));
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
		await expect(notes.findEarlier(['a'].map((one) => request(one)))).rejects.toMatchObject(
			unreadable,
		);
		store.fails = undefined;
		expect(await notes.hasEarlier()).toBe(false);
	});
});

test('another execution that started in the same millisecond sends its requests', async () => {
	const store = new Store();
	expect(await stateOf(first(store), 'a')).toBe('new');
	expect(await stateOf(first(store), 'a')).toBe('new');
	expect(await statesOf(retry(store), 'a', 'a', 'a')).toEqual(['same', 'same', 'new']);
});

test('a workflow that starts itself as a sub-workflow has notes of its own', async () => {
	const store = new Store();
	await first(store).add(request('a'));
	expect(await stateOf(retry(store, { isSubExecution: true }), 'a')).toBe('new');
});

test('sub-executions of one parent may repeat a request, and those of its retry may not', async () => {
	const store = new Store();
	const state = new AttemptState();
	const over = { isSubExecution: true, state };
	expect(await stateOf(retry(store, over), 'a')).toBe('new');
	expect(await stateOf(retry(store, over), 'a')).toBe('new');
	const ofRetry = retry(store, { isSubExecution: true });
	expect(await statesOf(ofRetry, 'a', 'a', 'a')).toEqual(['same', 'same', 'new']);
});

test('a note that cannot be written does not count, and the next ones do', async () => {
	const store = new Store();
	const notes = first(store);
	store.fails = 'before';
	const failed = [notes.add(request('a')), notes.add(request('a'))];
	for (const one of failed) await expect(one).rejects.toThrow('database is locked');
	store.fails = undefined;
	expect(await stateOf(notes, 'a')).toBe('new');
	expect(await statesOf(retry(store), 'a', 'a')).toEqual(['same', 'new']);
});

test("if n8n's store fails, the outcome of a part is unknown in a retry", async () => {
	const store = new Store();
	await first(store).add({ target: 'a', payload: 'x', isPart: true });
	const notes = retry(store);
	await notes.hasEarlier();
	store.fails = 'before';
	const failed = notes.add({ target: 'a', payload: 'x', isPart: true });
	await expect(failed).rejects.toMatchObject({ outcome: 'unknown' });
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
