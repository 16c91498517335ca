import type { Additions } from '../service/endpoints';
import { InvalidInput } from '../service/core/explained';
import type { Query } from '../service/core/http';
import type { JsonObject } from '../service/types';
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
		if (typeof value === 'object') {
			throw new InvalidInput(
				`The additional query parameter “${name}” is neither text nor a number`,
				'Give every additional query parameter a plain value.',
			);
		}
		query[name] = value;
	}
	return query;
}
