import sortBy from 'lodash/sortBy';

/** A measured value and its time, in seconds since the start. */
export type Point = { at: number; value: number };

type Trend = {
	median: number;
	/** The slope multiplied by the duration. */
	growth: number;
	allowed: number;
	isFlat: boolean;
};

/** The last two thirds. In the first third, caches fill and code is compiled. */
export function afterWarmUp(points: readonly Point[]): Point[] {
	const last = points.at(-1)?.at ?? 0;
	return points.filter(({ at }) => at >= last / 3);
}

/**
 * The median of the slopes between all pairs of points (Theil–Sen estimator). A single peak or the sawtooth of a garbage
 * collector doesn't change it, but a leak does.
 *
 * @param allowed the allowed growth over the duration of the points
 */
export function trendOf(points: readonly Point[], allowed: number): Trend {
	const slopes = points.flatMap((one, index) =>
		points.slice(index + 1).map((other) => (other.value - one.value) / (other.at - one.at)),
	);
	const duration = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
	const growth = medianOf(slopes) * duration;
	return {
		median: medianOf(points.map(({ value }) => value)),
		growth,
		allowed,
		isFlat: growth <= allowed,
	};
}

function medianOf(values: readonly number[]): number {
	return sortBy(values)[Math.floor(values.length / 2)] ?? 0;
}
