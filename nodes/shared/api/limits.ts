/** Limits of the service (Limits, Authentication and Call request sections of its document). */
export const LIMITS = {
	/** Characters of `initial_greeting`; how they are counted is open, so code points are. */
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

/** A call's ID is a UUID; what matters is that it cannot leave its place in the path. */
export const CALL_ID = /^[A-Za-z0-9_-]+$/;

/** Reads under way at once: 200 of them neither take long nor press the service, of which the document says no limit. */
export const READS_AT_ONCE = 10;
