import { InvalidInput } from '../api/errors';
import { onScreenOnly } from '../api/modelAdvice';
import type { Query, QueryValue } from '../api/http';
import { DEEPEST, isJsonObject, type JsonObject, type JsonValue, pathOf } from '../json';
import type { Additions } from '../api/endpoints';

/** A value of a request, with where it goes and its name there, as the credential says. */
export type PlacedValue = { placement: string; name: string; value: QueryValue };

/**
 * Puts values into a request. In the query a name is sent as it is written, and a name that is used
 * twice is sent twice. In the body dots nest (`entry.phone`) and a number is a place in a list (`phones.0`).
 *
 * @throws InvalidInput where two values would take the same place in the body
 */
export function placeValues(values: readonly PlacedValue[]): Additions {
	const inQuery = values.filter(({ placement }) => placement === 'query');
	const inBody = values.filter(({ placement }) => placement !== 'query');
	return {
		...(inQuery.length > 0 && { query: queryOf(inQuery) }),
		...(inBody.length > 0 && { body: bodyOf(inBody) }),
	};
}

/** Values under their names; those of one name become a list, which is sent as the name repeated. */
export function queryOf(values: ReadonlyArray<{ name: string; value: QueryValue }>): Query {
	const byName = new Map<string, QueryValue[]>();
	for (const { name, value } of values) {
		const same = byName.get(name);
		if (same === undefined) byName.set(name, [value]);
		else same.push(value);
	}
	return Object.fromEntries(
		[...byName].map(([name, same]) => {
			const [only = '', ...others] = same;
			return [name, others.length === 0 ? only : same];
		}),
	);
}

/** A query with one value more; what stands under the same name stays. */
export function withValue(query: Query, name: string, value: QueryValue): Query {
	const known = Object.hasOwn(query, name) ? query[name] : undefined;
	if (known === undefined) return { ...query, [name]: value };
	return { ...query, [name]: Array.isArray(known) ? [...known, value] : [known, value] };
}

function bodyOf(values: readonly PlacedValue[]): JsonObject {
	return values.reduce<JsonObject>((body, { name, value }) => {
		const [first = name, ...rest] = pathOf(name);
		if (rest.length >= DEEPEST) throw tooDeep();
		return { ...body, [first]: put(own(body, first), rest, value, name) };
	}, {});
}

/** What stands at a place of the body once a value has been put into it. */
function put(
	present: JsonValue | undefined,
	[next, ...rest]: string[],
	value: QueryValue,
	name: string,
): JsonValue {
	if (next === undefined) {
		if (present === undefined) return value;
		throw taken(name);
	}
	if (/^\d$/.test(next)) {
		if (present !== undefined && !Array.isArray(present)) throw taken(name);
		const list = present ?? [];
		const at = Number(next);
		const length = Math.max(list.length, at + 1);
		return Array.from({ length }, (_, index) =>
			index === at ? put(list[at] ?? undefined, rest, value, name) : (list[index] ?? null),
		);
	}
	if (present !== undefined && !isJsonObject(present)) throw taken(name);
	return { ...present, [next]: put(own(present ?? {}, next), rest, value, name) };
}

function own(record: JsonObject, name: string): JsonValue | undefined {
	return Object.hasOwn(record, name) ? record[name] : undefined;
}

function tooDeep(): InvalidInput {
	return new InvalidInput(
		`A name in the API mapping of the credential has more than ${DEEPEST} parts with dots between them`,
		onScreenOnly(
			'Open the credential and correct the name. Write \\. for a dot that belongs to it.',
		),
	);
}

function taken(name: string): InvalidInput {
	return new InvalidInput(
		`The credential gives two values of this request the same place in the body: “${name}”`,
		onScreenOnly('Open the credential and give each value of this request a name of its own.'),
	);
}
