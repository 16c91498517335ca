import partition from 'lodash/partition';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';

/** Documented fields beside `data` (General conventions, `warnings` of campaign contacts). */
const BESIDE_DATA = new Set(['message', 'meta', 'warnings']);

/**
 * The record in a body: `data`, or the whole body if it has no envelope. Documented fields beside `data` are added
 * under their names, and all others under `envelope`, because a `status` of the envelope isn't the status of a call.
 * Fields of the record are never replaced.
 *
 * @param ownFields further fields beside `data` that belong to the record
 */
export function recordIn(body: JsonValue, ownFields: readonly string[] = []): JsonObject {
	if (!isJsonObject(body)) return body === null ? {} : { data: body };
	const { data = null } = body;
	const beside = Object.entries(body).filter(([name]) => name !== 'success' && name !== 'data');
	if (data === null) return Object.fromEntries(beside);
	const record = isJsonObject(data) ? data : { data };
	const [kept, others] = partition(
		beside,
		([name]) => BESIDE_DATA.has(name) || ownFields.includes(name),
	);
	if (others.length > 0) kept.push(['envelope', Object.fromEntries(others)]);
	return {
		...record,
		...Object.fromEntries(kept.filter(([name]) => !Object.hasOwn(record, name))),
	};
}
