import set from 'lodash/set';
import type { Field } from '../dialects/forms';
import type { JsonObject } from '../json';
import { isObject } from '../json';
import { WITHOUT_FAULTS } from '../http/faults';
import type { Simulator } from '..';

export interface Got {
	status: number;
	body: JsonObject;
	/** `body.data`, or an empty object. */
	data: JsonObject;
}

/** @param headers by default, those of a request with the token and without faults */
export async function call(
	sim: Simulator,
	method: string,
	path: string,
	body?: unknown,
	headers: Record<string, string> = { 'API-Token': sim.token, [WITHOUT_FAULTS]: '1' },
): Promise<Got> {
	const response = await fetch(`${sim.baseUrl}${path}`, {
		method,
		redirect: 'manual',
		headers: { 'Content-Type': 'application/json', ...headers },
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
	const parsed: unknown = await response.json();
	const object = isObject(parsed) ? parsed : {};
	const data = isObject(object.data) ? object.data : {};
	return { status: response.status, body: object, data };
}

/** `error` or `errors`, depending on the dialect. */
export function origin({ body }: Got): string {
	return Array.isArray(body.errors) ? body.errors.join('; ') : String(body.error);
}

/** Values as a client sends them: each in the query, or in the body, where dots nest. */
export function sent(values: Array<[Field, string]>): { query: string; body: JsonObject } {
	const query = new URLSearchParams();
	const body: JsonObject = {};
	for (const [field, value] of values) {
		if (field.in === 'query') query.set(field.name, value);
		else set(body, field.name, value);
	}
	return { query: `?${query.toString()}`, body };
}
