import sortBy from 'lodash/sortBy';

/** A measured value and when, in seconds since the start. */
export type Point<T = number> = { at: number; value: T };

export type Trend = {
	median: number;
	/** What the slope comes to over the time of the points. */
	growth: number;
	allowed: number;
	isFlat: boolean;
};

/** The last two thirds: before them caches fill and code is compiled. */
export function afterWarmUp<T>(points: readonly Point<T>[]): Point<T>[] {
	const last = points.at(-1)?.at ?? 0;
	return points.filter(({ at }) => at >= last / 3);
}

/**
 * The median of the slopes between all pairs of points (Theil and Sen): neither a single peak nor the teeth of a
 * garbage collector move it, and a leak moves every pair.
 *
 * @param allowed how much it may grow over the time of the points; to fall is no leak
 */
export function trendOf(points: readonly Point[], allowed: number): Trend {
	const slopes = points.flatMap((one, index) =>
		points.slice(index + 1).map((other) => (other.value - one.value) / (other.at - one.at)),
	);
	const lasts = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
	const growth = medianOf(slopes) * lasts;
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
