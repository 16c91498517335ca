import * as fc from 'fast-check';
import { isFirstExecution } from '../../../../../nodes/shared/n8n/idempotency/firstExecution';

/** n8n's deduplication store: one value, which is read, and written as a whole some time later. */
function sharedSet() {
	let stored: readonly string[] = [];
	let now = 0;
	const waiting: Array<{ at: number; go: () => void }> = [];
	const until = async (at: number) => await new Promise<void>((go) => waiting.push({ at, go }));
	return {
		recorder: (readMs: () => number) => async (texts: string[]) => {
			const before = stored;
			await until(now + readMs());
			const added = texts.filter((text) => !before.includes(text));
			stored = [...before, ...added];
			return added;
		},
		sleep: async (ms: number) => await until(now + ms),
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
			after: fc.nat(400),
			writeMs: fc.nat(LONGEST_WRITE_MS),
		}),
		{ minLength: 1, maxLength: 6 },
	);
	await fc.assert(
		fc.asyncProperty(claims, async (all) => {
			const set = sharedSet();
			const won: string[] = [];
			const claiming = all.map(async ({ key, after, writeMs }, index) => {
				await set.sleep(after);
				const pause = async () => await set.sleep(PAUSE_MS + index);
				if (
					await isFirstExecution(
						set.recorder(() => writeMs),
						key,
						String(index),
						pause,
					)
				)
					won.push(key);
			});
			const running = Promise.all(claiming);
			await set.runOut();
			await running;
			expect(won.sort()).toEqual([...new Set(all.map(({ key }) => key))].sort());
		}),
		{ numRuns: 500 },
	);
});

it('the first execution stays the first when n8n runs it again', async () => {
	const texts = new Set<string>();
	const record = async (these: string[]) => {
		const added = these.filter((text) => !texts.has(text));
		added.forEach((text) => texts.add(text));
		return await Promise.resolve(added);
	};
	const pause = async () => await Promise.resolve();
	expect(await isFirstExecution(record, 'a', '1', pause)).toBe(true);
	expect(await isFirstExecution(record, 'a', '2', pause)).toBe(false);
	expect(await isFirstExecution(record, 'a', '1', pause)).toBe(true);
});

it('an unavailable database is tried again, and reported if it stays unavailable', async () => {
	let attempts = 0;
	const record = (comesBackAt: number) => async () => {
		if (++attempts < comesBackAt) throw new Error('the database is away');
		return await Promise.resolve([]);
	};
	const pause = async () => await Promise.resolve();
	expect(await isFirstExecution(record(3), 'a', '1', pause)).toBe(true);
	await expect(isFirstExecution(record(Infinity), 'a', '1', pause)).rejects.toThrow(
		'the database is away',
	);
});
