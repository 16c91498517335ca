import fc from 'fast-check';
import uniq from 'lodash/uniq';
import { NotSent } from '../../../../nodes/core/service/errors';
import { forEveryone } from '../../../../nodes/core/service/resolution';
import type { DeduplicationStore } from '../../../../nodes/core/deduplicationStore';
import { type Limiter, noLimit } from '../../../../nodes/core/values/keyedMutex';
import { AttemptState, type Note, Notes } from '../../../../nodes/host/once/notes';

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
		if (this.fails === 'before') throw new NotSent('database is locked', forEveryone(''));
		const added = texts.filter((text) => !this.texts.includes(text));
		this.texts = [...this.texts, ...added].slice(-maxEntries);
		this.writes++;
		if (this.fails === 'after') throw new Error('connection lost');
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

type NoteState = Note['state'];

const notesOf = (store: Store, isFirstAttempt: boolean, repeat = noLimit) =>
	new Notes(store, new AttemptState('e1', isFirstAttempt), () => 0, repeat);
const first = (store: Store, repeat?: Limiter) => notesOf(store, true, repeat);
const retry = (store: Store) => notesOf(store, false);
const stateOf = async (notes: Notes, target: unknown): Promise<NoteState> =>
	(await notes.add(target)).state;
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

type Row = { id: number; target: string };

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
	const known = looksAhead ? await notes.findEarlier(rows.map(({ target }) => target)) : undefined;
	for (let start = 0; start < rows.length; start += concurrency) {
		const batch = rows.slice(start, start + concurrency).map(async (row, position) => {
			if (known?.has(row.target) === true) return;
			step();
			const note = await notes.add(row.target);
			if (note.state !== 'new') return;
			step();
			if (rejected.includes(start + position)) {
				await note.remove();
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
	const targets = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
	await fc.assert(
		fc.asyncProperty(targets, attempts, async (given, killed) => {
			const store = new Store();
			const sent: number[] = [];
			const last = { killedAt: Infinity, concurrency: 2, order: 0, looksAhead: true, rejected: [] };
			for (const [index, attempt] of [...killed, last].entries()) {
				const rows = given.map((target, id) => ({ target, id }));
				const notes = index === 0 ? first(store) : retry(store);
				const ended = run(notes, rotated(rows, attempt.order), attempt, ({ id }) => sent.push(id));
				await ended.catch((error: unknown) => {
					if (!(error instanceof Killed)) throw error;
				});
			}
			expect(sent).toEqual(uniq(sent));
		}),
		{ numRuns: 1_000 },
	);
});

test('requests that start while n8n writes are noted together', async () => {
	const store = new Store();
	const notes = first(store);
	await Promise.all(Array.from({ length: 50 }, async (_, target) => await notes.add(target)));
	expect([store.writes, store.notes.length]).toEqual([1, 50]);
});

test('what was noted after an execution was stored stays', async () => {
	const store = new Store();
	const notes = first(store);
	await statesOf(notes, 'a', 'c');
	const stored = notes.own();
	await statesOf(notes, 'b', 'c');
	await notes.release(stored);
	expect(await retry(store).findEarlier(['a', 'b', 'c'])).toEqual(new Set(['b', 'c']));
});

test('of several requests to a target, a removed one does not remove the note of another', async () => {
	const store = new Store();
	const notes = first(store);
	const { remove } = await notes.add('a');
	await notes.add('a');
	await remove();
	expect(await statesOf(retry(store), 'a')).toEqual(['same']);
});

test('another execution that started in the same millisecond sends its requests', async () => {
	const store = new Store();
	expect(await stateOf(first(store), 'a')).toBe('new');
	expect(await stateOf(first(store), 'a')).toBe('new');
});

test('a note that cannot be written does not count, and the next ones do', async () => {
	const store = new Store();
	const notes = first(store);
	store.fails = 'before';
	const failed = ['a', 'b'].map(async (target) => await notes.add(target));
	for (const one of failed) await expect(one).rejects.toThrow('database is locked');
	store.fails = undefined;
	expect(await stateOf(notes, 'a')).toBe('new');
	expect(await statesOf(retry(store), 'a', 'b')).toEqual(['same', 'new']);
});

test("if n8n's store reports an error after it added a note, a first attempt sends the request, and its end removes the note", async () => {
	const store = new Store();
	store.fails = 'after';
	const repeat: Limiter = async (access) =>
		await access().catch(async () => {
			store.fails = undefined;
			return await access();
		});
	const notes = first(store, repeat);
	expect(await stateOf(notes, 'a')).toBe('new');
	await notes.release();
	expect(store.texts).toEqual([]);
});

describe('a part of a whole', () => {
	test('that was removed is noted again with a later part, which may have rows of it', async () => {
		const store = new Store();
		const notes = first(store);
		const { remove } = await notes.addPart('a', 'x');
		await remove();
		expect(store.texts).toEqual([]);
		await notes.addPart('b', 'y');
		expect(store.notes).toHaveLength(4);
	});

	test('is not taken for a noted one if n8n was killed while an earlier retry looked it up', async () => {
		const store = new Store();
		await first(store).addPart('a', 'x');
		store.remove = async () => await Promise.reject(new Error('killed'));
		for (let retries = 0; retries < 2; retries++)
			expect(await retry(store).addPart('a', 'y')).toMatchObject({ state: 'unclear' });
	});

	test('in place of a noted one makes all later parts unclear, in another process, too', async () => {
		const store = new Store();
		const before = first(store);
		for (const place of ['a', 'b']) await before.addPart(place, 'x');
		const notes = retry(store);
		const states: NoteState[] = [];
		for (const [place, content] of [
			['a', 'x'],
			['b', 'y'],
			['c', 'x'],
		] as const)
			states.push((await notes.addPart(place, content)).state);
		expect(states).toEqual(['same', 'unclear', 'unclear']);
		expect(await retry(store).addPart('d', 'x')).toMatchObject({ state: 'unclear' });
	});

	test('comes again in another sub-execution, and each is found by its content, in any order', async () => {
		const store = new Store();
		const parent = first(store);
		for (const content of ['x', 'y']) await parent.addPart('a', content);
		const notes = retry(store);
		const states: NoteState[] = [];
		for (const content of ['y', 'x', 'z']) states.push((await notes.addPart('a', content)).state);
		expect(states).toEqual(['same', 'same', 'new']);
	});

	test('is new after a restart while the parent of its sub-execution waits, and known in a retry of the parent', async () => {
		const store = new Store();
		const ofParent = (parent: string) =>
			new Notes(store, new AttemptState('e1', false, parent), () => 0, noLimit);
		const states: NoteState[] = [];
		const add = async (notes: Notes, content: string) =>
			states.push((await notes.addPart('a', content)).state);
		// Each has its own memory, as after a restart.
		for (const content of ['x', 'y', 'z']) await add(ofParent('p1'), content);
		expect(states.splice(0)).toEqual(['new', 'new', 'new']);
		const again = ofParent('p2');
		for (const content of ['x', 'y', 'z', 'w']) await add(again, content);
		expect(states.splice(0)).toEqual(['same', 'same', 'same', 'new']);
		await add(ofParent('p3'), 'v');
		expect(states).toEqual(['unclear']);
	});
});

test.each<[string, (notes: Notes) => Promise<unknown>]>([
	['request', async (notes) => await notes.add('a')],
	['part', async (notes) => await notes.addPart('a', 'x')],
])(
	"a %s is unknown in a retry if n8n's store fails, because an earlier attempt may have sent it",
	async (_what, add) => {
		const store = new Store();
		await add(first(store));
		const notes = retry(store);
		await notes.findEarlier([]);
		store.fails = 'before';
		await expect(add(notes)).rejects.toMatchObject({ outcome: 'unknown' });
	},
);
