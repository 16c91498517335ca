/**
 * n8n starts a trigger that gave up again at once, and each give-up runs the error workflow. So that an outage of the
 * service does not fill the owner's inbox, a trigger that gives up again and again rests before it connects.
 */
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 900_000;

/** One that went on for so long was healthy: its give-up counts as the first. */
const HEALTHY_AFTER_MS = 600_000;

/** Give-ups in a row of the triggers of this process. */
const giveUps = new Map<string, number>();

export function restMs(trigger: string): number {
	const count = giveUps.get(trigger) ?? 0;
	return count === 0 ? 0 : Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (count - 1));
}

/** Called when the trigger ends, by giving up after so long or because it was deactivated. */
export function countEnd(trigger: string, gaveUpAfterMs: number | null): void {
	if (gaveUpAfterMs === null) giveUps.delete(trigger);
	else if (gaveUpAfterMs >= HEALTHY_AFTER_MS) giveUps.set(trigger, 1);
	else giveUps.set(trigger, (giveUps.get(trigger) ?? 0) + 1);
}
