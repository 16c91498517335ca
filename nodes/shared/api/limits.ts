/** Limits of the service (Limits, Authentication and Call request sections of its document). */
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

/** The prefix and the characters of `agent_uuid` (General conventions › Agent identifier). */
export const AGENT_UUID = /^agent_[A-Za-z0-9_-]+$/;

/** The form of the IDs of calls and chat sessions. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A call ID is a UUID. This looser form accepts anything that is safe in a path. */
export const CALL_ID = /^[A-Za-z0-9_-]+$/;

/** Parallel reads. The service documents no rate limit. */
export const READS_AT_ONCE = 10;
