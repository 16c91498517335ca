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

/** Reports of unknown calls, and when each was read, in milliseconds. */
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

test('60 unknown calls are read immediately, and then one per second', async () => {
	const { report, entered } = reports();
	for (let count = 0; count < 100; count++) report();
	await after(0);
	expect(entered).toHaveLength(60);
	await after(10_000);
	expect(entered).toHaveLength(70);
	await after(120_000);
	expect(entered).toHaveLength(100);
	// The unused budget accumulates, up to 60 again.
	for (let count = 0; count < 100; count++) report();
	await after(0);
	expect(entered).toHaveLength(160);
});

test('the newest and the oldest waiting call are read alternately', async () => {
	const { report, names } = reports();
	for (let count = 0; count < 66; count++) report();
	await after(6_000);
	expect(names().slice(60)).toEqual([65, 60, 64, 61, 63, 62]);
});

test('a call that the service finds returns its budget immediately', async () => {
	const { report, names, budget } = reports();
	for (let count = 0; count < 61; count++) report();
	await after(0);
	expect(names()).toHaveLength(60);
	budget.noteKnown('a', true);
	await after(0);
	expect(names()).toHaveLength(61);
	// A call without budget returns none.
	report();
	budget.noteKnown('b', false);
	await after(0);
	expect(names()).toHaveLength(61);
});

test('calls that wait when the trigger closes are not read', async () => {
	const closing = new AbortController();
	const { report, names, budget } = reports();
	for (let count = 0; count < 70; count++) report(closing.signal);
	await after(0);
	expect(budget.waitingCount).toBe(10);
	closing.abort();
	await after(60_000);
	expect([names().length, budget.waitingCount]).toEqual([60, 0]);
});

test('calls of another trigger keep waiting', async () => {
	const closing = new AbortController();
	const { report, budget, names } = reports();
	for (let count = 0; count < 70; count++) report(count % 2 === 0 ? closing.signal : never);
	await after(0);
	closing.abort();
	expect(budget.waitingCount).toBe(5);
	await after(60_000);
	expect(names()).toHaveLength(65);
});

test('calls that were read or placed by this n8n are known, in upper and lower case', () => {
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

test('a call that the service did not find is read again after a minute', async () => {
	const budget = new ReadBudget();
	const callId = randomUUID();
	expect(budget.isUnknown(callId)).toBe(false);
	budget.noteFailedLookup(callId, true);
	await after(59_999);
	expect(budget.isUnknown(callId.toUpperCase())).toBe(true);
	await after(1);
	expect(budget.isUnknown(callId)).toBe(false);
});

test('many failed reads are a flood, and a burst of real calls is not', async () => {
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

/** Times of reports in milliseconds, and whether the service finds their calls. */
const arrivals = fc.array(fc.record({ wait: fc.nat({ max: 3_000 }), isReal: fc.boolean() }), {
	minLength: 1,
	maxLength: 300,
});

test('at any times, at most 120 unknown calls are read per minute, and finally all', async () => {
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

test('the memory for unknown calls is bounded', () => {
	const budget = new ReadBudget();
	const before = heapInUse();
	for (let count = 0; count < 100_000; count++) {
		const callId = `${count}`.padStart(128, 'x');
		budget.noteFailedLookup(callId, true);
		budget.noteRead(callId);
		budget.noteKnown(callId, false);
	}
	// 30,000 IDs of at most 128 characters.
	expect((heapInUse() - before) / 1024 / 1024).toBeLessThan(15);
	expect(budget.isUnknown('x'.repeat(127) + '0')).toBe(false);
	expect(budget.isUnknown('99999'.padStart(128, 'x'))).toBe(true);
});
