import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { ReadBudget } from '../../../nodes/CallCompletedTrigger/readBudget';
import { notePlaced } from '../../../nodes/shared/calls/placedCalls';
import { heapInUse } from '../../engine/heap';

const never = new AbortController().signal;
let begun = 0;

beforeEach(() => {
	jest.useFakeTimers();
	begun = Date.now();
});
afterEach(() => jest.useRealTimers());
const after = async (ms: number) => await jest.advanceTimersByTimeAsync(ms);

/** Reports of calls that may be made up, and when each was looked up, in milliseconds. */
function reports(budget = new ReadBudget()) {
	const entered: Array<{ name: number; at: number }> = [];
	let count = 0;
	return {
		budget,
		entered,
		names: () => entered.map(({ name }) => name),
		report: (signal = never) => {
			const name = count++;
			void budget.enter(signal).then((isIn) => {
				if (isIn) entered.push({ name, at: Date.now() - begun });
			});
		},
	};
}

test('60 made-up calls are looked up at once, and then one a second', async () => {
	const { report, entered } = reports();
	for (let count = 0; count < 100; count++) report();
	await after(0);
	expect(entered).toHaveLength(60);
	await after(10_000);
	expect(entered).toHaveLength(70);
	await after(120_000);
	expect(entered).toHaveLength(100);
	// What was not used meanwhile is there for the next ones, up to 60 again.
	for (let count = 0; count < 100; count++) report();
	await after(0);
	expect(entered).toHaveLength(160);
});

test('of those that wait the newest goes next, and then the oldest', async () => {
	const { report, names } = reports();
	for (let count = 0; count < 66; count++) report();
	await after(6_000);
	expect(names().slice(60)).toEqual([65, 60, 64, 61, 63, 62]);
});

test('a call that the service knows gives its place to the next at once', async () => {
	const { report, names, budget } = reports();
	for (let count = 0; count < 61; count++) report();
	await after(0);
	expect(names()).toHaveLength(60);
	budget.noteKnown('a', true);
	await after(0);
	expect(names()).toHaveLength(61);
	// One that took nothing gives nothing back.
	report();
	budget.noteKnown('b', false);
	await after(0);
	expect(names()).toHaveLength(61);
});

test('what waits when the trigger is closed is not looked up', async () => {
	const closing = new AbortController();
	const { report, names, budget } = reports();
	for (let count = 0; count < 70; count++) report(closing.signal);
	await after(0);
	expect(budget.waitingCount).toBe(10);
	closing.abort();
	await after(60_000);
	expect([names().length, budget.waitingCount]).toEqual([60, 0]);
});

test('those that wait for another trigger stay when one is closed', async () => {
	const closing = new AbortController();
	const { report, budget, names } = reports();
	for (let count = 0; count < 70; count++) report(count % 2 === 0 ? closing.signal : never);
	await after(0);
	closing.abort();
	expect(budget.waitingCount).toBe(5);
	await after(60_000);
	expect(names()).toHaveLength(65);
});

test('known are the calls that were read, and those that this n8n has placed, in upper and lower case', () => {
	const budget = new ReadBudget();
	const [read, placed, neither] = [randomUUID(), randomUUID(), randomUUID()];
	budget.noteKnown(read, true);
	notePlaced(placed.toUpperCase());
	notePlaced(undefined);
	const isKnown = (id: string) => [budget.isKnown(id), budget.isKnown(id.toUpperCase())];
	expect([read, placed, neither].map(isKnown)).toEqual([
		[true, true],
		[true, true],
		[false, false],
	]);
	expect(new ReadBudget().isKnown(read)).toBe(false);
});

test('a call that the service did not know is asked for again after a minute', async () => {
	const budget = new ReadBudget();
	const callId = randomUUID();
	expect(budget.isUnknown(callId)).toBe(false);
	budget.noteFailedLookup(callId, true);
	await after(59_999);
	expect(budget.isUnknown(callId.toUpperCase())).toBe(true);
	await after(1);
	expect(budget.isUnknown(callId)).toBe(false);
});

test('it is flooded when many were looked up in vain, and not by a burst of real calls', async () => {
	const { report, budget } = reports();
	for (let count = 0; count < 100; count++) report();
	await after(0);
	expect([budget.isSpent, budget.isFlooded]).toEqual([true, false]);
	for (let count = 0; count < 29; count++) budget.noteFailedLookup(`${count}`, true);
	expect(budget.isFlooded).toBe(false);
	budget.noteFailedLookup('made up', false);
	expect(budget.isFlooded).toBe(true);
	await after(200_000);
	expect([budget.isSpent, budget.isFlooded]).toEqual([false, false]);
});

test('a call is read again 2 seconds after it was read', async () => {
	const budget = new ReadBudget();
	expect(budget.untilNextRead('a')).toBe(0);
	budget.noteRead('a');
	expect(budget.untilNextRead('a')).toBe(2_000);
	await after(1_500);
	expect([budget.untilNextRead('a'), budget.untilNextRead('b')]).toEqual([500, 0]);
	await after(1_000);
	expect(budget.untilNextRead('a')).toBe(0);
});

/** When reports arrive, in milliseconds, and whether the service knows their calls. */
const arrivals = fc.array(fc.record({ wait: fc.nat({ max: 3_000 }), isReal: fc.boolean() }), {
	minLength: 1,
	maxLength: 300,
});

test('whenever they come, in no minute more than 120 made-up calls are looked up, and all are in the end', async () => {
	await fc.assert(
		fc.asyncProperty(arrivals, fc.boolean(), async (all, isFlood) => {
			const budget = new ReadBudget();
			const start = Date.now();
			const madeUp: number[] = [];
			let lookedUp = 0;
			for (const { wait, isReal } of all) {
				void budget.enter(never).then(() => {
					lookedUp++;
					if (isReal) budget.noteKnown(randomUUID(), true);
					else madeUp.push(Date.now() - start);
				});
				if (!isFlood) await after(wait);
			}
			await after(300_000);
			expect([lookedUp, budget.waitingCount]).toEqual([all.length, 0]);
			for (const [index, at] of madeUp.entries()) {
				expect(
					madeUp.slice(index).filter((later) => later - at < 60_000).length,
				).toBeLessThanOrEqual(120);
			}
		}),
		{ numRuns: 30 },
	);
});

test('what is remembered of made-up calls stays bounded', () => {
	const budget = new ReadBudget();
	const before = heapInUse();
	for (let count = 0; count < 100_000; count++) {
		const callId = `${count}`.padStart(128, 'x');
		budget.noteFailedLookup(callId, true);
		budget.noteRead(callId);
		budget.noteKnown(callId, false);
	}
	// 30,000 IDs of 128 characters at most.
	expect((heapInUse() - before) / 1024 / 1024).toBeLessThan(15);
	expect(budget.isUnknown('x'.repeat(127) + '0')).toBe(false);
	expect(budget.isUnknown('99999'.padStart(128, 'x'))).toBe(true);
});
