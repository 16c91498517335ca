import groupBy from 'lodash/groupBy';
import mapValues from 'lodash/mapValues';
import { InvalidInput } from '../service/errors';
import { onScreenOnly } from '../service/resolution';
import type { Query, QueryValue } from '../service/http';
import { MAX_DEPTH, isJsonObject, type JsonObject, type JsonValue, pathOf } from '../values/json';
import type { Additions } from '../service/endpoints';

/** A value of a request with its placement and name from the credential. */
export type PlacedValue = { placement: string; name: string; value: QueryValue };

/**
 * Adds values to the query or body of a request. The query has names unchanged, and repeats a name that is used
 * twice. In the body, dots nest (`entry.phone`) and a digit is an index of a list (`phones.0`).
 *
 * @throws InvalidInput if two values have the same name in the body
 */
export function placeValues(values: readonly PlacedValue[]): Additions {
	const inQuery = values.filter(({ placement }) => placement === 'query');
	const inBody = values.filter(({ placement }) => placement !== 'query');
	return {
		...(inQuery.length > 0 && { query: queryOf(inQuery) }),
		...(inBody.length > 0 && { body: bodyOf(inBody) }),
	};
}

/** A query of these values. Values with the same name become a list, which repeats the name. */
export function queryOf(values: ReadonlyArray<{ name: string; value: QueryValue }>): Query {
	return mapValues(groupBy(values, 'name'), (same) => {
		const [only = '', ...others] = same.map(({ value }) => value);
		return others.length === 0 ? only : [only, ...others];
	});
}

/** Adds a value to a query. Values with the same name are kept. */
export function withValue(query: Query, name: string, value: QueryValue): Query {
	const known = Object.hasOwn(query, name) ? query[name] : undefined;
	if (known === undefined) return { ...query, [name]: value };
	return { ...query, [name]: Array.isArray(known) ? [...known, value] : [known, value] };
}

function bodyOf(values: readonly PlacedValue[]): JsonObject {
	return values.reduce<JsonObject>((body, { name, value }) => {
		const [first = name, ...rest] = pathOf(name);
		if (rest.length >= MAX_DEPTH) throw tooDeep();
		return { ...body, [first]: putAt(own(body, first), rest, value, name) };
	}, {});
}

/** Returns `present` with the value at the rest of the path. */
function putAt(
	present: JsonValue | undefined,
	[next, ...rest]: string[],
	value: QueryValue,
	name: string,
): JsonValue {
	if (next === undefined) {
		if (present === undefined) return value;
		throw alreadyUsed(name);
	}
	if (/^\d$/.test(next)) {
		if (present !== undefined && !Array.isArray(present)) throw alreadyUsed(name);
		const list = present ?? [];
		const at = Number(next);
		const length = Math.max(list.length, at + 1);
		return Array.from({ length }, (_, index) =>
			index === at ? putAt(list[at] ?? undefined, rest, value, name) : (list[index] ?? null),
		);
	}
	if (present !== undefined && !isJsonObject(present)) throw alreadyUsed(name);
	return { ...present, [next]: putAt(own(present ?? {}, next), rest, value, name) };
}

function own(record: JsonObject, name: string): JsonValue | undefined {
	return Object.hasOwn(record, name) ? record[name] : undefined;
}

function tooDeep(): InvalidInput {
	return new InvalidInput(
		`A field name in the API mapping of the credential has more than ${MAX_DEPTH} parts`,
		onScreenOnly(
			'In the credential, shorten the name. Write \\. for a dot that is part of a name.',
		),
	);
}

function alreadyUsed(name: string): InvalidInput {
	return new InvalidInput(
		`Two values of this request have the same field name in the credential (got "${name}")`,
		onScreenOnly('In the credential, give each value of this request its own field name.'),
	);
}
