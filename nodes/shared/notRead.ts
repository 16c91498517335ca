import { ExplainedError } from './api/errors';

/**
 * Name of the field that tells why the last reading gave nothing. Beside it, an item shows what was read before, if
 * anything was.
 */
export const NOT_READ_FIELD = 'not_read';

/** For that field: what happened, and what to do. */
export function whyNotRead(error: unknown): string {
	if (error instanceof ExplainedError) return `${error.message}. ${error.advice}`;
	return error instanceof Error ? error.message : String(error);
}
