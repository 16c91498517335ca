import {
	createRunExecutionData,
	type IExecutionContext,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import sum from 'lodash/sum';
import { clock } from '../../../../../nodes/shared/n8n/http/accountClient';
import type { Notes } from '../../../../../nodes/shared/n8n/once/notes';
import { notesOfWaiting, openNotes } from '../../../../../nodes/shared/n8n/once/openNotes';
import {
	DATABASE_DELAYS_MS,
	openStore,
} from '../../../../../nodes/shared/n8n/once/rememberedTexts';
import {
	engineHarness,
	executeContext,
	makeAdditionalData,
	mcpContext,
	skipSleeps,
} from '../../../../engine';

const harness = engineHarness();
// A process remembers the noted requests of each node, so each test uses its own node.
let nodes = 0;
beforeEach(() => nodes++);
afterEach(() => jest.restoreAllMocks());

type Attempt = {
	mode?: WorkflowExecuteMode;
	/** Start of the first attempt, which n8n passes on to each retry. */
	establishedAt?: number;
	parentExecutionId?: string;
	signal?: AbortSignal;
};

const runtimeOf = ({ establishedAt = 1_000, parentExecutionId }: Attempt): IExecutionContext => ({
	version: 1,
	establishedAt,
	source: 'trigger',
	...(parentExecutionId !== undefined && { parentExecutionId }),
});

/** A node in an execution: opens its notes like each run of the node, and ends like in n8n. */
function execution(executionId: string, attempt: Attempt = {}) {
	const { mode = 'trigger', signal } = attempt;
	const placeCall = harness.node('placeCall', { id: `node-${nodes}` });
	const dataOf = (runtimeData: IExecutionContext) =>
		createRunExecutionData({ executionData: { runtimeData } });
	const additionalData = makeAdditionalData(mode, {
		executionId,
		// Start of the topmost parent.
		getRunExecutionData: async () =>
			await Promise.resolve(dataOf(runtimeOf({ establishedAt: 1_000 }))),
	});
	const ends: Array<() => unknown> = [];
	const context = () => {
		const data = dataOf(runtimeOf(attempt));
		const of = { mode, additionalData, data, signal };
		const opened = executeContext(placeCall, [{ json: {} }], of);
		jest.spyOn(opened, 'onExecutionFinish').mockImplementation((end) => ends.push(end));
		return opened;
	};
	const open = async (opened = context()): Promise<Notes> => {
		const notes = await openNotes(opened);
		if (notes === undefined) throw new Error('There are no notes');
		return notes;
	};
	const end = async () => {
		await Promise.all(ends.splice(0).map(async (one) => await one()));
	};
	return { context, open, end };
}

/** Whether an earlier attempt noted the request. Notes it. */
const isNoted = async (notes: Notes, target: unknown) => (await notes.add(target)).state !== 'new';
/** Without the mark of the execution. */
const noteCount = () => Math.max(0, harness.store.size - 1);
const signal = () => new AbortController().signal;

test('after a retry that noted nothing, a second retry finds nothing', async () => {
	const retry = execution('e2', { mode: 'retry', signal: signal() });
	expect(await (await retry.open()).findEarlier([])).toBeUndefined();
	await retry.end();
	expect(harness.store.size).toBe(0);
	const again = execution('e3', { mode: 'retry', signal: signal() });
	const notes = await again.open();
	expect(await notes.findEarlier([])).toBeUndefined();
	await (await notes.add('rejected')).remove();
	await (await notes.addPart('rejected', 'part')).remove();
	await again.end();
	expect(harness.store.size).toBe(0);
	const third = execution('e4', { mode: 'retry', signal: signal() });
	await isNoted(await third.open(), 'a');
	await third.end();
	expect(await (await execution('e5', { mode: 'retry' }).open()).findEarlier([])).toBeDefined();
});

test('the runs of a node in an execution share its notes, and its end removes them', async () => {
	const loop = execution('e1', { signal: signal() });
	const [one, two] = [await loop.open(), await loop.open()];
	expect([await isNoted(one, 'a'), await isNoted(two, 'a')]).toEqual([false, false]);
	expect(noteCount()).toBe(1);
	await loop.end();
	expect(harness.store.size).toBe(0);
});

test('an execution resumed after its end finds its own notes', async () => {
	const stop = new AbortController();
	const stopped = execution('e1', { signal: stop.signal });
	await isNoted(await stopped.open(), 'a');
	stop.abort();
	await stopped.end();
	const resumed = await execution('e1', { mode: 'retry' }).open();
	expect(await isNoted(resumed, 'a')).toBe(true);
});

test("simultaneous executions keep each other's notes", async () => {
	const logs = await Promise.all(
		[1, 2, 3].map(async (nth) => await execution(`e${nth}`, { establishedAt: nth }).open()),
	);
	await Promise.all(logs.map(async (log) => await isNoted(log, 'a')));
	for (const nth of [1, 2, 3]) {
		const retry = execution(`r${nth}`, { mode: 'retry', establishedAt: nth });
		expect(await (await retry.open()).findEarlier(['a'])).toEqual(new Set(['a']));
	}
});

test('notes of a running execution are never evicted for another one', async () => {
	const many = await execution('e1').open();
	await Promise.all(Array.from({ length: 40_100 }, async (_, nth) => await isNoted(many, nth)));
	await isNoted(await execution('e2', { establishedAt: 2_000 }).open(), 'b');
	const retry = await execution('e3', { mode: 'retry' }).open();
	expect(await retry.findEarlier([0, 40_099])).toEqual(new Set([0, 40_099]));
});

test('notes of interrupted executions are limited', async () => {
	const one = execution('e1');
	const context = one.context();
	const old = Array.from({ length: 45_000 }, (_, nth) => `old ${nth}`);
	await openStore(context, 'node', { message: '', description: '' }).add(old);
	await isNoted(await one.open(context), 'a');
	expect(harness.store.size).toBeLessThanOrEqual(40_003);
	expect(await isNoted(await execution('e2', { mode: 'retry' }).open(), 'a')).toBe(true);
});

test('an n8n version that does not report the end of an execution keeps the notes', async () => {
	const one = execution('e1');
	const context = one.context();
	Reflect.set(context, 'onExecutionFinish', undefined);
	expect(await isNoted(await one.open(context), 'a')).toBe(false);
	expect(noteCount()).toBe(1);
});

test('a request waits while its note cannot be written, up to 68 seconds, and is then sent', async () => {
	skipSleeps();
	const log = await execution('e1').open();
	const startedAt = clock.elapsed();
	let failures = DATABASE_DELAYS_MS.length;
	harness.store.beforeCall = () => {
		if (failures-- > 0) throw new Error('database is locked');
	};
	expect(await isNoted(log, 'a')).toBe(false);
	expect(noteCount()).toBe(1);
	expect(clock.elapsed() - startedAt).toBe(sum(DATABASE_DELAYS_MS));
});

test('an execution that cannot be retried has no notes', async () => {
	const context = mcpContext(harness.node('placeCall'), 'session');
	expect(await openNotes(context)).toBeUndefined();
	const clearNotes = await notesOfWaiting(context);
	await clearNotes();
	expect(harness.store.calls).toEqual([]);
});

test('sub-executions of one parent share its notes, so that each of them writes once', async () => {
	let calls = 0;
	harness.store.beforeCall = (call) => {
		if (call.startsWith('add')) calls++;
	};
	for (let index = 0; index < 30; index++) {
		const child = execution(`c${index}`, { mode: 'integrated', parentExecutionId: 'busy parent' });
		expect(await isNoted(await child.open(), 'a')).toBe(false);
		await child.end();
	}
	expect(calls).toBe(30);
	// The notes of a retried parent are found all the same.
	const ofRetry = { mode: 'integrated', parentExecutionId: 'retry of busy parent' } as const;
	expect(await isNoted(await execution('r1', ofRetry).open(), 'a')).toBe(true);
	expect(await isNoted(await execution('r2', ofRetry).open(), 'b')).toBe(false);
});
