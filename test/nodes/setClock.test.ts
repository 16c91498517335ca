import fc from 'fast-check';
import { awaitEvent } from '../../nodes/ChatSession/chatWait';
import { pause, type Clock } from '../../nodes/shared/clock';

const LIMIT_MS = 300_000;

/** After `at` milliseconds, the system clock is wrong by `by` milliseconds. */
type ClockChange = { at: number; by: number };

/** Time passes only in `sleep`, and the system clock changes at given times. */
class SetClock implements Clock {
	private passed = 0;

	constructor(private readonly changes: readonly ClockChange[]) {}

	now(): number {
		const { by = 0 } = this.changes.findLast(({ at }) => at <= this.passed) ?? {};
		return 1_800_000_000_000 + this.passed + by;
	}

	elapsed(): number {
		return this.passed;
	}

	async sleep(ms: number): Promise<void> {
		this.passed += ms;
		await Promise.resolve();
	}
}

const never = new AbortController().signal;

/** Waits that last five minutes, because nothing happens. Other waits use a clock that can't be set. */
const WAITS: { [name: string]: (clock: Clock) => Promise<unknown> } = {
	'a pause': async (clock) => await pause(clock, LIMIT_MS, never),
	'Wait for Event': async (clock) =>
		await awaitEvent(
			{
				signal: never,
				missed: [],
				connection: {
					isConnected: true,
					ready: async () => await Promise.resolve(true),
					subscribe: () => () => {},
				},
			},
			{ types: null, timeoutMs: LIMIT_MS },
			clock,
		),
};

const clockChanges = fc.array(
	fc.record({
		at: fc.nat(LIMIT_MS),
		by: fc.oneof(fc.constantFrom(-3_600_000, 86_400_000), fc.integer({ min: -1e10, max: 1e10 })),
	}),
	{ maxLength: 4 },
);

/** How long it waits while the clock changes. */
async function duration(wait: (clock: Clock) => Promise<unknown>, set: readonly ClockChange[]) {
	const clock = new SetClock(set.toSorted((one, other) => one.at - other.at));
	await wait(clock);
	return clock.elapsed();
}

test.each(Object.entries(WAITS))(
	'%s waits equally long if the system clock changes',
	async (_name, wait) => {
		const usual = await duration(wait, []);
		expect(usual).toBeGreaterThan(LIMIT_MS - 31_000);
		const property = fc.asyncProperty(clockChanges, async (set) => {
			expect(await duration(wait, set)).toBe(usual);
		});
		await fc.assert(property);
	},
);
