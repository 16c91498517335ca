import { ExplainedError } from './api/errors';
import type { Reader } from './api/modelAdvice';

/**
 * Name of the field that tells why the last reading gave nothing. Beside it, an item shows what was read before, if
 * anything was.
 */
export const NOT_READ_FIELD = 'not_read';

/** For that field: what happened, and what its reader can do. */
export function whyNotRead(error: unknown, reader: Reader): string {
	if (error instanceof ExplainedError) return `${error.message}. ${error.adviceFor(reader)}`.trim();
	return error instanceof Error ? error.message : String(error);
}
