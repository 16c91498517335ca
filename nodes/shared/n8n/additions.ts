import type { Additions } from '../api/endpoints';
import { InvalidInput } from '../api/errors';
import type { Query, QueryValue } from '../api/http';
import type { JsonObject, JsonValue } from '../api/types';
import { parseJsonObject } from './parameters';

/** Reads *Additional Body Fields* and *Additional Query Parameters* of an Options collection. */
export function readAdditions(options: JsonObject): Additions {
	return {
		body: parseJsonObject(options.additionalBodyFields, 'Additional Body Fields'),
		query: toQuery(
			parseJsonObject(options.additionalQueryParameters, 'Additional Query Parameters'),
		),
	};
}

function toQuery(values: JsonObject): Query {
	const query: Query = {};
	for (const [name, value] of Object.entries(values)) {
		const list = Array.isArray(value) ? value : [value];
		const plain = list.filter(isPlain);
		if (plain.length < list.length) {
			throw new InvalidInput(
				`The additional query parameter “${name}” is neither text nor a number`,
				'Give every additional query parameter a plain value, or a list of plain values to send its name several times.',
			);
		}
		const [first = ''] = plain;
		query[name] = Array.isArray(value) ? plain : first;
	}
	return query;
}

function isPlain(value: JsonValue): value is QueryValue {
	return typeof value !== 'object';
}
