import omit from 'lodash/omit';
import { fieldsIn, isJsonObject, numberIn, type JsonObject, type JsonValue } from '../values/json';
import { asText } from '../values/values';

/**
 * The record in a response: `data` with the fields beside it, or the whole body if it has no envelope. Fields of the record
 * are never replaced. A status or an empty error beside it is about the request.
 */
export function recordOf({ body }: { body: JsonValue }): JsonObject {
	if (!isJsonObject(body)) return body === null ? {} : { data: body };
	const { data = null, ...beside } = omit(body, 'success');
	if (data === null) return beside;
	const others = omit(beside, ['status', 'error', 'errors']);
	return { ...others, ...(isJsonObject(data) ? data : { data }) };
}

/** A record whose fields are documented, by one that it always has: `data` alone, if it's there. */
export function documentedRecord(field: string, response: { body: JsonValue }): JsonObject {
	const { body } = response;
	const data = isJsonObject(body) ? body.data : undefined;
	return isJsonObject(data) && field in data ? data : recordOf(response);
}

/**
 * Whether the body of a 2xx response proves that the service itself responded and, for a write, that it took
 * effect. The status isn't enough: proxies, sign-in pages, and load balancers also return 200.
 */
export type SuccessCheck = (body: JsonValue) => boolean;

/** One of these documented fields has a value, in `data` or, without an envelope, at the top level. */
export function hasAnyField(...fields: string[]): SuccessCheck {
	return (body) => {
		const record = recordOf({ body });
		return fields.some((name) => isFilled(record[name]));
	};
}

/** The field has an ID, such as that of the created record. */
export function hasId(field: string): SuccessCheck {
	return (body) => isId(recordOf({ body })[field]);
}

/** Whether a value can be an ID: neither empty nor 0. */
export function isId(value: JsonValue | undefined): boolean {
	if (typeof value === 'number') return Number.isFinite(value) && value > 0;
	return typeof value === 'string' && !/^[\s0]*$/.test(value);
}

/** The field has a count, 0 included. */
export function hasCount(field: string): SuccessCheck {
	return (body) => {
		const count = numberIn(recordOf({ body })[field]);
		return count !== undefined && Number.isInteger(count) && count >= 0;
	};
}

/** The field has the requested ID, or is missing. */
export function isAbout(field: string, id: string | number): SuccessCheck {
	return (body) => isSameId(recordOf({ body })[field], id);
}

/** Compares IDs without regard to case, and numbers with text. A missing ID counts as the same. */
export function isSameId(given: JsonValue | undefined, requested: string | number): boolean {
	if (given === undefined || given === null) return true;
	return asText(given).toLowerCase() === String(requested).toLowerCase();
}

/** One of these fields has a value at any depth, for fields whose position isn't documented. */
export function hasAnyFieldWithin(...fields: string[]): SuccessCheck {
	return (body) => [...fieldsIn(body, fields)].some(isFilled);
}

/** `success: true` (General conventions). The only proof if the rest of the response isn't documented. */
export const saysSuccess: SuccessCheck = (body) => isJsonObject(body) && body.success === true;

export function both(one: SuccessCheck, other: SuccessCheck): SuccessCheck {
	return (body) => one(body) && other(body);
}

export function either(one: SuccessCheck, other: SuccessCheck): SuccessCheck {
	return (body) => one(body) || other(body);
}

/**
 * For a read with an undocumented response: it has a list or an object, such as `data`. `{ success: true }` alone would
 * look like an account without agents or calls, and gateways return texts and numbers.
 */
export const hasListOrObject: SuccessCheck = (body) =>
	Array.isArray(body) ||
	(isJsonObject(body) &&
		Object.values(omit(body, 'errors')).some(
			(value) => typeof value === 'object' && value !== null,
		));

/** An empty list is a value, such as a transcript without turns. `null`, `false`, and an empty text aren't. */
function isFilled(value: JsonValue | undefined): boolean {
	if (typeof value === 'string') return value.trim() !== '';
	return value !== undefined && value !== null && value !== false;
}
