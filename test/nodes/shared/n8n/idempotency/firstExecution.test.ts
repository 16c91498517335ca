import * as fc from 'fast-check';
import {
	type CheckTimes,
	FirstExecutions,
} from '../../../../../nodes/shared/n8n/idempotency/firstExecution';

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
const TIMES: CheckTimes = { pauseMs: PAUSE_MS, minIntervalMs: 200, maxIntervalMs: 5_000 };
const NO_TIMES: CheckTimes = { pauseMs: 0, minIntervalMs: 0, maxIntervalMs: 0 };

const randomNumbers = fc
	.infiniteStream(fc.noBias(fc.nat(999)))
	.map((numbers) => () => numbers.next().value / 1_000);

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
		fc.asyncProperty(claims, randomNumbers, async (all, random) => {
			const set = sharedSet();
			const processes = [0, 1, 2].map(() => new FirstExecutions(set, random));
			const won: string[] = [];
			const claiming = all.map(async ({ key, process, after, writeMs }, index) => {
				await set.sleep(after);
				const record = set.recorder(() => writeMs);
				const executions = processes[process] ?? new FirstExecutions(set);
				if (await executions.isFirst(key, String(index), record, TIMES)) won.push(key);
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
		expect(await executions.isFirst(String(index), String(index), record, TIMES)).toBe(true);
		endedAfter.push(set.elapsed() - startedAt);
	});
	const running = Promise.all(claiming);
	await set.runOut();
	await running;
	// The pause, and for each of two writes, its own time and at most 1.5 intervals since the one before began.
	const longestInterval = 1.5 * 10 * LONGEST_WRITE_MS;
	expect(Math.max(...endedAfter)).toBeLessThanOrEqual(
		PAUSE_MS + 2 * (longestInterval + LONGEST_WRITE_MS),
	);
	expect(set.writes()).toBeLessThanOrEqual(5 * (set.elapsed() / PAUSE_MS) + 1);
});

describe('two processes that check one execution after another', () => {
	/** Each execution is in one process, and each tenth also in the other. @returns how often each key was the first */
	async function checkMany(writeMs: number, random: () => number): Promise<number[]> {
		const set = sharedSet();
		const processes = [0, 1].map(() => new FirstExecutions(set, random));
		const firsts = Array.from({ length: 200 }, () => 0);
		const checking = firsts.flatMap((_, index) => {
			const inOne = processes.slice(index % 2, (index % 2) + 1);
			return (index % 10 === 0 ? processes : inOne).map(async (executions, process) => {
				await set.sleep(index * 60);
				const record = set.recorder(() => writeMs);
				const key = String(index);
				if (await executions.isFirst(key, `${key} of ${process}`, record, TIMES))
					firsts[index] = (firsts[index] ?? 0) + 1;
			});
		});
		const running = Promise.all(checking);
		await set.runOut();
		await running;
		return firsts;
	}

	it.each([5, 20, 100, 400])(
		"don't keep overwriting each other, and each key has one first, if a write takes %i ms",
		async (writeMs) => {
			await fc.assert(
				fc.asyncProperty(randomNumbers, async (random) => {
					expect(new Set(await checkMany(writeMs, random))).toEqual(new Set([1]));
				}),
				{ numRuns: 20 },
			);
		},
	);
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
	expect(await executions.isFirst('a', '1', record, NO_TIMES)).toBe(true);
	expect(await executions.isFirst('a', '2', record, NO_TIMES)).toBe(false);
	expect(await executions.isFirst('a', '1', record, NO_TIMES)).toBe(true);
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
		expect(await executions.isFirst('a', '1', record(3), NO_TIMES)).toBe(true);
		await expect(executions.isFirst('a', '1', record(Infinity), NO_TIMES)).rejects.toThrow(
			'the database is away',
		);
	});

	it('leaves the event to the next execution of the process', async () => {
		const executions = new FirstExecutions(noSleep);
		const failing = executions.isFirst('a', '1', record(Infinity), NO_TIMES);
		const next = executions.isFirst('a', '2', record(0), NO_TIMES);
		await expect(failing).rejects.toThrow('the database is away');
		expect(await next).toBe(true);
	});
});
