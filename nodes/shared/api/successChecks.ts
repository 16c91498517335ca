import { fieldsIn, isJsonObject, numberIn, type JsonObject, type JsonValue } from '../json';
import { asText } from './parseIds';
import { recordIn } from './record';

/**
 * What shows in the body of a 2xx answer that the service itself answered and, for a write, that it took
 * effect. A status proves neither: proxies, sign-in pages and load balancers answer 200 as well.
 */
export type SuccessCheck = (body: JsonValue) => boolean;

/** One of the fields that the document promises is filled, in `data` or, without an envelope, at the top. */
export function hasAnyField(...fields: string[]): SuccessCheck {
	return (body) => {
		const record = recordIn(body);
		return fields.some((name) => isFilled(record[name]));
	};
}

/** The same for a field that identifies what the service has made. */
export function hasId(field: string): SuccessCheck {
	return (body) => isId(recordIn(body)[field]);
}

/** Whether a value can identify anything: neither empty nor 0. */
export function isId(value: JsonValue | undefined): boolean {
	if (typeof value === 'number') return Number.isFinite(value) && value > 0;
	return typeof value === 'string' && !/^[\s0]*$/.test(value);
}

/** A count of the service, also one of 0. */
export function hasCount(field: string): SuccessCheck {
	return (body) => {
		const count = numberIn(recordIn(body)[field]);
		return count !== undefined && Number.isInteger(count) && count >= 0;
	};
}

/** The field, if it is given, identifies what was asked for. */
export function isAbout(field: string, id: string | number): SuccessCheck {
	return (body) => isSameId(recordIn(body)[field], id);
}

/** UUIDs are the same in capitals, numbers also as text; what is not given contradicts nothing. */
export function isSameId(given: JsonValue | undefined, asked: string | number): boolean {
	if (given === undefined || given === null) return true;
	return asText(given).toLowerCase() === String(asked).toLowerCase();
}

/** The same where the document names the fields and not their place: found at any depth. */
export function hasAnyFieldWithin(...fields: string[]): SuccessCheck {
	return (body) => {
		for (const value of fieldsIn(body, ...fields)) if (isFilled(value)) return true;
		return false;
	};
}

/** `success: true` (General conventions): the only proof where the rest of the answer is open. */
export const saysSuccess: SuccessCheck = (body) => isJsonObject(body) && body.success === true;

export function both(one: SuccessCheck, other: SuccessCheck): SuccessCheck {
	return (body) => one(body) && other(body);
}

export function either(one: SuccessCheck, other: SuccessCheck): SuccessCheck {
	return (body) => one(body) || other(body);
}

/** The envelope with a record in it: `success: true` and `data` with at least one field. */
export const hasRecord: SuccessCheck = (body) =>
	saysSuccess(body) &&
	isJsonObject(body) &&
	isJsonObject(body.data) &&
	Object.keys(body.data).length > 0;

/**
 * A read whose shape is open: `data` with a list or a record, `success: true` with something else beside it, or a
 * bare list that is not empty. `{ success: true }` alone would show an account without agents or calls.
 */
export const hasAnyValue: SuccessCheck = (body) => {
	if (Array.isArray(body)) return body.length > 0;
	if (!isJsonObject(body)) return false;
	if (Array.isArray(body.data) || isJsonObject(body.data)) return true;
	return body.success === true && Object.keys(body).some((name) => isBeside(body, name));
};

function isBeside(body: JsonObject, name: string): boolean {
	return name !== 'success' && name !== 'data' && isFilled(body[name]);
}

/** An empty list is a value (a transcript without turns); `null`, `false` and an empty text are none. */
function isFilled(value: JsonValue | undefined): boolean {
	if (typeof value === 'string') return value.trim() !== '';
	return value !== undefined && value !== null && value !== false;
}
