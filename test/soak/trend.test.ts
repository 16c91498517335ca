import { afterWarmUp, trendOf } from './trend';

const MINUTE = 60;

/** Deterministic noise of 40 MB, so that a failure is reproducible. */
const noise = (at: number) => ((at * 7_919) % 41) - 20;

test.each<[string, boolean, value: (at: number) => number]>([
	['a leak of 1 MB per minute in noise', false, (at) => 400 + at / MINUTE + noise(at)],
	[
		'noise, a peak, and a sawtooth',
		true,
		(at) => noise(at) + (at % 300) / 10 + 500 * +(at === 1_500),
	],
	['caches that fill in the first third', true, (at) => Math.min(at, 590)],
	['falling values', true, (at) => 1_000 - at],
])('%s in half an hour: flat is %s', (_what, expected, value) => {
	const samples = Array.from({ length: 180 }, (_, index) => ({
		at: index * 10,
		value: value(index * 10),
	}));
	expect(trendOf(afterWarmUp(samples), 10).isFlat).toBe(expected);
});
