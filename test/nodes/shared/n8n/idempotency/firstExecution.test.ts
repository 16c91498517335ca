import * as fc from 'fast-check';
import { FirstExecutions } from '../../../../../nodes/shared/n8n/idempotency/firstExecution';

/** n8n's deduplication store: one value, which is read, and written as a whole some time later. */
function sharedSet() {
	let stored: readonly string[] = [];
	let now = 0;
	let writes = 0;
	const waiting: Array<{ at: number; go: () => void }> = [];
	const until = async (at: number) => await new Promise<void>((go) => waiting.push({ at, go }));
	return {
		recorder: (readMs: () => number) => async (texts: string[]) => {
			const before = stored;
			await until(now + readMs());
			const added = texts.filter((text) => !before.includes(text));
			stored = [...before, ...added];
			writes++;
			return added;
		},
		sleep: async (ms: number) => await until(now + ms),
		elapsed: () => now,
		writes: () => writes,
		/** Lets time pass until nothing waits. */
		async runOut(): Promise<void> {
			for (;;) {
				await new Promise(setImmediate);
				waiting.sort((one, other) => one.at - other.at);
				const next = waiting.shift();
				if (next === undefined) return;
				now = next.at;
				next.go();
			}
		},
	};
}

const LONGEST_WRITE_MS = 100;
const PAUSE_MS = 10 * LONGEST_WRITE_MS;

it('exactly one of several almost simultaneous executions is the first', async () => {
	const claims = fc.array(
		fc.record({
			key: fc.constantFrom('a', 'b', 'c'),
			process: fc.nat(2),
			after: fc.nat(400),
			writeMs: fc.nat(LONGEST_WRITE_MS),
		}),
		{ minLength: 1, maxLength: 14 },
	);
	await fc.assert(
		fc.asyncProperty(claims, async (all) => {
			const set = sharedSet();
			const processes = [0, 1, 2].map(() => new FirstExecutions(set));
			const won: string[] = [];
			const claiming = all.map(async ({ key, process, after, writeMs }, index) => {
				await set.sleep(after);
				const record = set.recorder(() => writeMs);
				const executions = processes[process] ?? new FirstExecutions(set);
				if (await executions.isFirst(key, String(index), record, PAUSE_MS)) won.push(key);
			});
			const running = Promise.all(claiming);
			await set.runOut();
			await running;
			expect(won.sort()).toEqual([...new Set(all.map(({ key }) => key))].sort());
			expect(processes.every(({ isIdle }) => isIdle)).toBe(true);
		}),
		{ numRuns: 2_000 },
	);
});

it("many executions don't wait for each other's slow writes", async () => {
	const set = sharedSet();
	const executions = new FirstExecutions(set);
	const endedAfter: number[] = [];
	const claiming = Array.from({ length: 100 }, async (_, index) => {
		await set.sleep(index * 50);
		const startedAt = set.elapsed();
		const record = set.recorder(() => LONGEST_WRITE_MS);
		expect(await executions.isFirst(String(index), String(index), record, PAUSE_MS)).toBe(true);
		endedAfter.push(set.elapsed() - startedAt);
	});
	const running = Promise.all(claiming);
	await set.runOut();
	await running;
	// The pause, and for each of two writes, its own time and the time since the one before began.
	expect(Math.max(...endedAfter)).toBeLessThanOrEqual(1.4 * PAUSE_MS + 2 * LONGEST_WRITE_MS);
	// Five a second.
	expect(set.writes()).toBeLessThanOrEqual(5 * (set.elapsed() / PAUSE_MS) + 1);
});

const noSleep = { elapsed: () => 0, sleep: async () => await Promise.resolve() };

it('the first execution stays the first when n8n runs it again', async () => {
	const texts = new Set<string>();
	const record = async (these: string[]) => {
		const added = these.filter((text) => !texts.has(text));
		added.forEach((text) => texts.add(text));
		return await Promise.resolve(added);
	};
	const executions = new FirstExecutions(noSleep);
	expect(await executions.isFirst('a', '1', record, 0)).toBe(true);
	expect(await executions.isFirst('a', '2', record, 0)).toBe(false);
	expect(await executions.isFirst('a', '1', record, 0)).toBe(true);
});

describe('an unavailable database', () => {
	const record = (comesBackAt: number) => {
		let attempts = 0;
		return async () => {
			if (++attempts < comesBackAt) throw new Error('the database is away');
			return await Promise.resolve([]);
		};
	};

	it('is tried again, and reported if it stays unavailable', async () => {
		const executions = new FirstExecutions(noSleep);
		expect(await executions.isFirst('a', '1', record(3), 0)).toBe(true);
		await expect(executions.isFirst('a', '1', record(Infinity), 0)).rejects.toThrow(
			'the database is away',
		);
	});

	it('leaves the event to the next execution of the process', async () => {
		const executions = new FirstExecutions(noSleep);
		const failing = executions.isFirst('a', '1', record(Infinity), 0);
		const next = executions.isFirst('a', '2', record(0), 0);
		await expect(failing).rejects.toThrow('the database is away');
		expect(await next).toBe(true);
	});
});
