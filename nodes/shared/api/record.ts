import partition from 'lodash/partition';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';

/** What the document has beside `data` (General conventions; `warnings` of campaign contacts). */
const BESIDE_DATA = new Set(['message', 'meta', 'warnings']);

/**
 * The record that a body carries: `data`, or all of it if the service used no envelope. Beside `data`, what the document
 * has there is kept under its name, and everything else under `envelope`: a `status` of the envelope is not the status
 * of a call. A field of the record is never replaced.
 *
 * @param ownFields further names that mean the record wherever they are
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
