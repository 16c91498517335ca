import { fieldsIn, type JsonValue } from '../json';
import { plainText } from '../values';
import { isId, saysSuccess } from './successChecks';
import type { ServiceRequest } from './http';
import { isNotPerformed } from './notProcessed';

const MAX_SHOWN_CHARACTERS = 100;

/**
 * What in a response contradicts a rejection of a write, in words: a field that only a request with an effect fills,
 * or `success: true` beside a status that says that nothing was done. What the request itself has under the name of
 * such a field may only be repeated.
 *
 * @param effectFields the ID of what the request makes, or a count of what the service accepted
 */
export function shownEffect(
	{ method, body: sent = {} }: ServiceRequest,
	{ status, body }: { status: number; body: JsonValue | undefined },
	effectFields: readonly string[],
): string | undefined {
	if (method === 'GET' || body === undefined) return undefined;
	for (const field of effectFields) {
		const own = new Set(fieldsIn(sent, field));
		for (const value of fieldsIn(body, field)) {
			if (!isId(value) || own.has(value)) continue;
			return `contains a ${field} (${plainText(value).slice(0, MAX_SHOWN_CHARACTERS)})`;
		}
	}
	const isContradicted = saysSuccess(body) && isNotPerformed(method, status);
	return isContradicted ? 'says "success": true' : undefined;
}
