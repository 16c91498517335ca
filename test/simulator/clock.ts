/** The simulator's own time, so that a test can make tokens, recordings, and windows expire. */
export class Clock {
	private offsetMs = 0;

	now(): number {
		return Date.now() + this.offsetMs;
	}

	advance(ms: number): void {
		this.offsetMs += ms;
	}

	reset(): void {
		this.offsetMs = 0;
	}
}

/** ISO 8601 with the offset of India, the time zone of the seeded account. */
export function istTimestamp(ms: number): string {
	return new Date(ms + 19_800_000).toISOString().replace('Z', '+05:30');
}

export async function delay(ms: number): Promise<void> {
	if (ms > 0) await new Promise<void>((resolve) => setTimeout(resolve, ms));
}
