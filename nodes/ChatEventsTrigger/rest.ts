/**
 * A session that was given up (the service away, another client holding it) is followed again, so that it heals by
 * itself, but less and less often, so that an outage is not answered with a storm of requests.
 */
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 900_000;

/** How long a session rests that was given up this many times in a row. */
export function restMs(giveUps: number): number {
	return Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (giveUps - 1));
}
