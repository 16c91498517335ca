import * as fc from 'fast-check';
import range from 'lodash/range';
import type { IExecuteFunctions, INode } from 'n8n-workflow';
import { NotSent } from '../../../../../nodes/shared/api/errors';
import type { DeduplicationStore } from '../../../../../nodes/shared/deduplicationStore';
import { clock } from '../../../../../nodes/shared/n8n/http/accountClient';
import { NamedRow } from '../../../../../nodes/shared/n8n/idempotency/namedRow';
import { withWorkflowLock } from '../../../../../nodes/shared/n8n/idempotency/workflowLock';
import {
	openWorkflowStore,
	runExclusiveOnWorkflow,
} from '../../../../../nodes/shared/n8n/idempotency/workflowStore';
import { engineHarness, executeContext, mcpContext, skipSleeps } from '../../../../engine';
import { eventLoopTurns, until } from '../../../../n8n/until';

const harness = engineHarness();
const USE = { message: "n8n can't read the list", description: 'Ask your n8n administrator.' };
const SLOT_S = 20;

let setTime: (iso: string) => void;
beforeEach(() => {
	setTime = skipSleeps(Date.parse('2026-11-24T12:00:00Z'));
});
afterEach(() => jest.restoreAllMocks());

/** Each node is in another process of n8n, because a process doesn't wait for itself here. */
const inProcess = async <T>(run: () => Promise<T>, node = harness.node('placeCall', {})) =>
	await withWorkflowLock(executeContext(node, []), USE, run);

const killed = async () => await new Promise<never>(() => {});
const seconds = () => clock.now() / 1_000;
const pass = (forSeconds: number) =>
	setTime(new Date(clock.now() + forSeconds * 1_000).toISOString());

it('only one process at a time runs its function, whatever the database does', async () => {
	const processes = fc.array(fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }), {
		minLength: 2,
		maxLength: 4,
	});
	/** For each use of the database: it works, is slow, isn't available, or writes and reports an error. */
	const faults = fc.array(
		fc.oneof(
			{ weight: 6, arbitrary: fc.constant('none') },
			{ weight: 1, arbitrary: fc.constantFrom('before', 'after') },
			{ weight: 1, arbitrary: fc.integer({ min: 1, max: 70 }) },
		),
		{ maxLength: 40 },
	);
	await fc.assert(
		fc.asyncProperty(processes, faults, fc.boolean(), async (all, inTurn, isOneKilled) => {
			harness.store.clear();
			const pending = [...inTurn];
			harness.store.beforeCall = () => {
				const fault = pending.shift();
				if (fault === 'before') throw new Error('the database is away');
				if (fault === 'after') harness.store.failAfterNextAdd();
				if (typeof fault === 'number') pass(fault);
			};
			const running = new Set<{ isAlone: boolean }>();
			const runOnce = async (ticks: number) => {
				const own = { isAlone: true };
				const result = inProcess(async () => {
					for (const other of running) other.isAlone = false;
					running.add(own);
					await eventLoopTurns(ticks);
					running.delete(own);
				});
				// One that took longer than the lock reports it.
				await result.then(
					() => expect(own).toEqual({ isAlone: true }),
					(error: unknown) => expect(error).toBeInstanceOf(NotSent),
				);
			};
			if (isOneKilled) void inProcess(killed).catch(() => undefined);
			await Promise.all(
				all.map(async (uses) => {
					for (const ticks of uses) await runOnce(ticks);
				}),
			);
		}),
		{ numRuns: 200 },
	);
});

it('processes that need it again and again take turns', async () => {
	const order: string[] = [];
	const use = async (name: string) => {
		for (let nth = 0; nth < 20; nth++) await inProcess(async () => void order.push(name));
	};
	await Promise.all([use('a'), use('b')]);
	expect(order).toHaveLength(40);
	const bothRun = order.slice(0, Math.min(order.lastIndexOf('a'), order.lastIndexOf('b')));
	expect(bothRun.join('')).not.toMatch(/aaaaa|bbbbb/);
	expect(bothRun.length).toBeGreaterThan(20);
	expect(harness.store.nodeIds).toEqual([]);
});

it.each([0, 1, 19])(
	'if a process is killed %i seconds after the start of a slot, others wait for the end of the next slot',
	async (at) => {
		pass(at);
		void inProcess(killed);
		await until('the row', async () => await Promise.resolve(harness.store.nodeIds.length > 0));
		const started = seconds();
		expect(await inProcess(async () => await Promise.resolve(seconds() - started))).toBeGreaterThan(
			2 * SLOT_S - at - 1,
		);
		expect(seconds() - started).toBeLessThan(2 * SLOT_S - at + 1);
	},
);

/** A process that has the lock until `end` is called. */
async function longRunning() {
	let end = () => {};
	const ended = inProcess(async () => await new Promise<void>((resolve) => (end = resolve)));
	await eventLoopTurns(20);
	return { end: () => end(), ended };
}

/** A process that notes whether it runs. */
function started() {
	const process = { runs: false, ended: Promise.resolve() };
	process.ended = inProcess(async () => {
		process.runs = true;
		await Promise.resolve();
	});
	return process;
}

/** A process whose row is inserted when `insert` is called. */
function startedWithSlowDatabase() {
	let insert = () => {};
	harness.store.beforeCall = async () => {
		harness.store.beforeCall = () => {};
		await new Promise<void>((resolve) => (insert = resolve));
	};
	return { slow: started(), insert: () => insert() };
}

it('waits for a process that acquired it in the slot before', async () => {
	pass(SLOT_S - 1);
	const first = await longRunning();
	pass(2);
	const second = started();
	await eventLoopTurns(50);
	expect(second.runs).toBe(false);
	first.end();
	await Promise.all([first.ended, second.ended]);
});

it('waits for a process that has the lock, although one that waited in between gives up', async () => {
	pass(SLOT_S - 1);
	const first = await longRunning();
	pass(2);
	const second = started();
	await eventLoopTurns(20);
	const third = started();
	await eventLoopTurns(20);
	expect(harness.store.nodeIds).toHaveLength(3);
	let isFirstCount = true;
	harness.store.beforeCall = (made) => {
		if (made !== 'lock count' || !isFirstCount) return;
		isFirstCount = false;
		throw new Error('the database is away');
	};
	const outcomes = await Promise.all([
		Promise.race([second.ended, third.ended]).catch(String),
		eventLoopTurns(50),
	]);
	expect(outcomes[0]).toContain(USE.message);
	expect([second.runs, third.runs]).toEqual([false, false]);
	first.end();
	await first.ended;
	await Promise.allSettled([second.ended, third.ended]);
	expect([second.runs, third.runs].sort()).toEqual([false, true]);
});

it('withdraws if the database was so slow that another process has acquired a later slot', async () => {
	pass(SLOT_S - 1);
	const { slow, insert } = startedWithSlowDatabase();
	await eventLoopTurns(5);
	pass(2);
	const second = await longRunning();
	const third = longRunning();
	await eventLoopTurns(20);
	second.end();
	await second.ended;
	const { end, ended } = await third;
	insert();
	await eventLoopTurns(50);
	expect(slow.runs).toBe(false);
	end();
	await Promise.all([ended, slow.ended]);
});

it('deletes its row only once if the database fails after it has withdrawn', async () => {
	pass(SLOT_S - 1);
	const { slow, insert } = startedWithSlowDatabase();
	const outcome = slow.ended.catch(String);
	await eventLoopTurns(5);
	pass(2);
	const { end, ended } = await longRunning();
	harness.store.calls.length = 0;
	harness.store.beforeCall = (made) => {
		if (made === 'add 1') throw new Error('the database is away');
	};
	insert();
	expect(await outcome).toContain(USE.message);
	expect(harness.store.calls.filter((made) => made === 'lock clear')).toHaveLength(1);
	end();
	await ended;
});

it('reports a function that took longer than the lock', async () => {
	const result = inProcess(async () => {
		pass(2 * SLOT_S);
		await Promise.resolve();
	});
	await expect(result).rejects.toMatchObject({
		message: USE.message,
		resolution: USE.description,
		originalMessage: 'It took too long.',
	});
});

it("doesn't report that its release took longer than the lock", async () => {
	harness.store.beforeCall = (call) => {
		if (call === 'lock clear') pass(2 * SLOT_S);
	};
	expect(await inProcess(async () => await Promise.resolve(1))).toBe(1);
});

describe('the list of numbers, after the lock of a frozen process has ended', () => {
	const openList = () => {
		const context = executeContext(harness.node('placeCall', {}), []);
		const list = openWorkflowStore(context, USE);
		const use = async (run: () => Promise<unknown>) =>
			await runExclusiveOnWorkflow(context, USE, run);
		return { list, use };
	};
	const changes = {
		add: async (list: DeduplicationStore) => await list.add(['1']),
		remove: async (list: DeduplicationStore) => await list.remove(['earlier']),
		clear: async (list: DeduplicationStore) => await list.clear(),
	};

	it.each(Object.entries(changes))("doesn't change (%s)", async (_name, change) => {
		const { list, use } = openList();
		await use(async () => await list.add(['earlier']));
		const result = use(async () => {
			pass(2 * SLOT_S);
			await change(list);
		});
		await expect(result).rejects.toMatchObject({
			message: USE.message,
			originalMessage: 'It took too long.',
		});
		expect(await list.add(['earlier', '1'])).toEqual(['1']);
	});

	it.each([
		['add 1', changes.add, ['1']],
		['remove 1', changes.remove, []],
	])(
		'has what another process added while this one was reading it (%s)',
		async (call, change, missing) => {
			const { list, use } = openList();
			await use(async () => await list.add(['earlier']));
			harness.store.afterRead = async (made) => {
				if (made !== call) return;
				harness.store.afterRead = () => {};
				pass(2 * SLOT_S);
				const { helpers } = executeContext(harness.node('placeCall', {}), []);
				await inProcess(
					async () =>
						await helpers.checkProcessedAndRecord(['of another'], 'workflow', { mode: 'entries' }),
				);
			};
			await expect(use(async () => await change(list))).rejects.toMatchObject({
				originalMessage: 'It took too long.',
			});
			expect(await list.add(['earlier', 'of another', ...missing])).toEqual(missing);
		},
	);
});

it('is released after an error', async () => {
	const failed = inProcess(async () => await Promise.reject(new Error('no list')));
	await expect(failed).rejects.toThrow('no list');
	expect(harness.store.nodeIds).toEqual([]);
});

it("reports that n8n's database is unavailable, and runs nothing", async () => {
	const run = jest.fn();
	harness.store.beforeCall = () => {
		throw new Error('the database is away');
	};
	const result = inProcess(run);
	await expect(result).rejects.toBeInstanceOf(NotSent);
	await expect(result).rejects.toMatchObject({ originalMessage: 'the database is away' });
	expect(run).not.toHaveBeenCalled();
});

it("is released if n8n's database fails while it's acquired", async () => {
	harness.store.beforeCall = (made) => {
		if (made === 'lock count') throw new Error('the database is away');
	};
	await expect(inProcess(async () => await Promise.resolve())).rejects.toBeInstanceOf(NotSent);
	expect(harness.store.nodeIds).toEqual([]);
});

it("doesn't wait longer if the clock is set back", async () => {
	void inProcess(killed);
	await until('the row', async () => await Promise.resolve(harness.store.nodeIds.length > 0));
	const started = clock.elapsed();
	const result = inProcess(async () => await Promise.resolve(1));
	await eventLoopTurns(20);
	const back = clock.elapsed() - clock.now() + 3_600_000;
	jest.spyOn(clock, 'now').mockImplementation(() => clock.elapsed() - back);
	expect(await result).toBe(1);
	expect(clock.elapsed() - started).toBeLessThan(120_000);
});

it('gives up after two minutes', async () => {
	const context = executeContext(harness.node('placeCall', {}), []);
	const slot = Math.floor(seconds() / SLOT_S);
	for (const one of range(slot, slot + 10)) {
		await new NamedRow(context, `lock:${one}`).insert('another process');
	}
	const started = seconds();
	await expect(inProcess(async () => await Promise.resolve())).rejects.toMatchObject({
		message: USE.message,
		originalMessage: 'Another process uses it.',
	});
	expect(seconds() - started).toBeCloseTo(120, 0);
});

/** n8n gives the context of such a tool the task of the MCP Server Trigger, or of the agent. */
describe('a tool that an MCP Server Trigger or an older agent runs', () => {
	const inTool = async <T>(run: () => Promise<T>, context = toolContext()) =>
		await withWorkflowLock(context, USE, run);
	const toolContext = (): IExecuteFunctions =>
		mcpContext(harness.credentials, harness.node('placeCall', {}));

	it('waits for other processes', async () => {
		const first = await longRunning();
		let runs = false;
		const second = inTool(async () => await Promise.resolve((runs = true)));
		await eventLoopTurns(50);
		expect(runs).toBe(false);
		first.end();
		await Promise.all([first.ended, second]);
		expect(runs).toBe(true);
	});

	it("doesn't use the row of the node", async () => {
		const context = toolContext();
		const options = { mode: 'entries' } as const;
		await context.helpers.checkProcessedAndRecord(['1'], 'node', options);
		await context.helpers.removeProcessed(['1'], 'node', options);
		expect(await inTool(async () => await Promise.resolve(1), context)).toBe(1);
	});
});

describe('an n8n version with one row for all names', () => {
	function nodeWithFixedId(): INode {
		const node = harness.node('placeCall', {});
		Object.defineProperty(node, 'id', { get: () => 'node', set: () => {} });
		return node;
	}

	it('runs without the lock, and leaves no row', async () => {
		expect(await inProcess(async () => await Promise.resolve(1), nodeWithFixedId())).toBe(1);
		expect(harness.store.nodeIds).toEqual([]);
	});

	it.each([
		['keeps the texts that the node has stored', []],
		['runs without the lock if the node has removed all of its texts', ['1', '2']],
	])('%s', async (_name, removed) => {
		const node = nodeWithFixedId();
		const { helpers } = executeContext(node, []);
		await helpers.checkProcessedAndRecord(['1', '2'], 'node', { mode: 'entries' });
		await helpers.removeProcessed(removed, 'node', { mode: 'entries' });
		expect(await inProcess(async () => await Promise.resolve(1), node)).toBe(1);
		expect(await helpers.getProcessedDataCount('node', { mode: 'entries' })).toBe(
			2 - removed.length,
		);
	});
});
