import { fieldsIn, isJsonObject, numberIn, type JsonObject, type JsonValue } from '../json';
import { asText } from './parseIds';
import { recordIn } from './record';

/**
 * Whether the body of a 2xx response proves that the service itself responded and, for a write, that it took
 * effect. The status isn't enough: proxies, sign-in pages, and load balancers also return 200.
 */
export type SuccessCheck = (body: JsonValue) => boolean;

/** One of these documented fields has a value, in `data` or, without an envelope, at the top level. */
export function hasAnyField(...fields: string[]): SuccessCheck {
	return (body) => {
		const record = recordIn(body);
		return fields.some((name) => isFilled(record[name]));
	};
}

/** The field has an ID, such as that of the created record. */
export function hasId(field: string): SuccessCheck {
	return (body) => isId(recordIn(body)[field]);
}

/** Whether a value can be an ID: neither empty nor 0. */
export function isId(value: JsonValue | undefined): boolean {
	if (typeof value === 'number') return Number.isFinite(value) && value > 0;
	return typeof value === 'string' && !/^[\s0]*$/.test(value);
}

/** The field has a count, 0 included. */
export function hasCount(field: string): SuccessCheck {
	return (body) => {
		const count = numberIn(recordIn(body)[field]);
		return count !== undefined && Number.isInteger(count) && count >= 0;
	};
}

/** The field has the requested ID, or is missing. */
export function isAbout(field: string, id: string | number): SuccessCheck {
	return (body) => isSameId(recordIn(body)[field], id);
}

/** Compares IDs without regard to case, and numbers with text. A missing ID counts as the same. */
export function isSameId(given: JsonValue | undefined, requested: string | number): boolean {
	if (given === undefined || given === null) return true;
	return asText(given).toLowerCase() === String(requested).toLowerCase();
}

/** One of these fields has a value at any depth, for fields whose position isn't documented. */
export function hasAnyFieldWithin(...fields: string[]): SuccessCheck {
	return (body) => {
		for (const value of fieldsIn(body, ...fields)) if (isFilled(value)) return true;
		return false;
	};
}

/** `success: true` (General conventions). The only proof if the rest of the response isn't documented. */
export const saysSuccess: SuccessCheck = (body) => isJsonObject(body) && body.success === true;

export function both(one: SuccessCheck, other: SuccessCheck): SuccessCheck {
	return (body) => one(body) && other(body);
}

export function either(one: SuccessCheck, other: SuccessCheck): SuccessCheck {
	return (body) => one(body) || other(body);
}

/** `success: true`, and `data` is an object with at least one field. */
export const hasRecord: SuccessCheck = (body) =>
	saysSuccess(body) &&
	isJsonObject(body) &&
	isJsonObject(body.data) &&
	Object.keys(body.data).length > 0;

/**
 * For a read with an undocumented response: `data` is a list or an object, `success: true` has another field beside
 * it, or the body is a list with entries. `{ success: true }` alone would look like an account without agents or calls.
 */
export const hasAnyValue: SuccessCheck = (body) => {
	if (Array.isArray(body)) return body.length > 0;
	if (!isJsonObject(body)) return false;
	if (Array.isArray(body.data) || isJsonObject(body.data)) return true;
	return body.success === true && Object.keys(body).some((name) => isOtherFilledField(body, name));
};

function isOtherFilledField(body: JsonObject, name: string): boolean {
	return name !== 'success' && name !== 'data' && isFilled(body[name]);
}

/** An empty list is a value, such as a transcript without turns. `null`, `false`, and an empty text aren't. */
function isFilled(value: JsonValue | undefined): boolean {
	if (typeof value === 'string') return value.trim() !== '';
	return value !== undefined && value !== null && value !== false;
}
