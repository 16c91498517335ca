import { istTimestamp } from '../clock';

const CLOCK_TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
const DAY_MS = 86_400_000;

/** The time in `scheduled_at`, or null if it has neither documented format. */
export function scheduledInstant(value: string, now: number): number | null {
	const clock = CLOCK_TIME.exec(value);
	if (clock) {
		const today = istTimestamp(now).slice(0, 10);
		const instant = Date.parse(`${today}T${value}:00+05:30`);
		return instant < now ? instant + DAY_MS : instant;
	}
	if (!TIMESTAMP.test(value)) return null;
	const instant = Date.parse(value);
	return Number.isNaN(instant) ? null : instant;
}
