import { afterWarmUp, trendOf, type Point } from './trend';

const MINUTE = 60;

/** A sample every 10 s for half an hour. */
function samples(value: (at: number) => number): Point[] {
	return Array.from({ length: 180 }, (_, index) => ({ at: index * 10, value: value(index * 10) }));
}

/** Deterministic noise, so that a failure is reproducible. */
const noise = (at: number) => ((at * 7_919) % 41) - 20;

describe('the trend of a soak test', () => {
	it('finds a leak of 1 MB per minute in noise of 40 MB', () => {
		const leak = samples((at) => 400 + at / MINUTE + noise(at));
		const { growth, isFlat } = trendOf(afterWarmUp(leak), 10);
		expect(growth).toBeGreaterThan(17);
		expect(growth).toBeLessThan(23);
		expect(isFlat).toBe(false);
	});

	it('treats noise, a peak, and a sawtooth as flat', () => {
		const calm = samples((at) => 400 + noise(at) + (at % 300) / 10 + (at === 1_500 ? 500 : 0));
		expect(trendOf(afterWarmUp(calm), 5)).toMatchObject({ isFlat: true });
	});

	it('ignores the first third, in which caches fill', () => {
		const warming = samples((at) => Math.min(at, 590));
		expect(trendOf(warming, 5).isFlat).toBe(false);
		expect(trendOf(afterWarmUp(warming), 5)).toMatchObject({ growth: 0, isFlat: true });
	});

	it('treats falling values as flat', () => {
		expect(
			trendOf(
				samples((at) => 1_000 - at),
				0,
			).isFlat,
		).toBe(true);
	});
});
