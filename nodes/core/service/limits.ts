import pLimit from 'p-limit';

/** Limits of the service (docs/openapi.yaml). */
export const LIMITS = {
	/** Length of `initial_greeting` in code points. How the service counts isn't documented. */
	initialGreetingCharacters: 2000,
	maxCallDurationSeconds: { min: 30, max: 1800 },
	retryMaxAttempts: { min: 1, max: 10 },
	retryIntervalMinutes: { min: 1, max: 1440 },
	contactsPerRequest: 10_000,
	dndEntriesPerPage: 100,
	apiTokenCharacters: 16,
} as const;

/** Parallel reads. The service documents no rate limit. */
export const READS_AT_ONCE = 10;

/** Reads something for each entry, several at a time. */
export async function readEach<Entry, Result>(
	entries: readonly Entry[],
	read: (entry: Entry, index: number) => Promise<Result>,
): Promise<Result[]> {
	const parallel = pLimit(READS_AT_ONCE);
	return await Promise.all(entries.map(async (entry, index) => await parallel(read, entry, index)));
}
