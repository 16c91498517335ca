import { ExplainedError } from './errors';
import type { Reader } from './resolution';
import { messageOf } from '../values/values';

/**
 * Name of the output field for why the last reading failed. The item also has the values of an earlier reading, if
 * there was one.
 */
export const NOT_READ_FIELD = 'not_read';

/** The value of {@link NOT_READ_FIELD}: what happened, and what to do. */
export function whyNotRead(error: unknown, reader: Reader): string {
	if (error instanceof ExplainedError)
		return `${error.message}. ${error.descriptionFor(reader)}`.trim();
	return messageOf(error);
}
