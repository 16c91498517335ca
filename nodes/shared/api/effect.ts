import { fieldsIn, type JsonValue } from '../json';
import { plainText } from '../values';
import { isId, saysSuccess } from './successChecks';
import type { ServiceRequest } from './http';
import { notProcessed } from './errorTable';

const MAX_SHOWN_CHARACTERS = 100;

/**
 * Finds a sign in the response that a write took effect although the rest looks like a rejection: an effect field,
 * or `success: true` with a status that means "not processed". A value of the request itself doesn't count, because
 * the response may only repeat it.
 *
 * @param effectFields fields that only an effect fills: the ID of the created record, or a count of accepted contacts
 * @returns a predicate for messages, such as `contains a call_id (c-1)`
 */
export function findEffect(
	request: ServiceRequest,
	{ status, body }: { status: number; body: JsonValue | undefined },
	effectFields: readonly string[],
): string | undefined {
	const { method, body: sent = {} } = request;
	if (method === 'GET' || body === undefined) return undefined;
	for (const field of effectFields) {
		const own = new Set(fieldsIn(sent, field));
		for (const value of fieldsIn(body, field)) {
			if (!isId(value) || own.has(value)) continue;
			return `contains a ${field} (${plainText(value).slice(0, MAX_SHOWN_CHARACTERS)})`;
		}
	}
	const isContradicted = saysSuccess(body) && notProcessed(request, status) !== undefined;
	return isContradicted ? 'says "success": true' : undefined;
}
