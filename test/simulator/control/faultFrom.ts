import type { Fault, FaultKind } from '../http/faults';
import { isObject, type JsonObject } from '../json';

const KINDS: readonly FaultKind[] = [
	'latency',
	'resetBefore',
	'resetMiddle',
	'resetAfter',
	'status',
	'tooManyRequests',
	'html',
	'truncatedJson',
	'successFalseAt200',
	'rejectingWords',
	'wrongCounts',
	'redirect',
	'redirectLoop',
	'cutGzip',
	'cutWithoutLength',
	'hugeBody',
	'hang',
];

/** A fault as JSON: `match.path` is a whole path, `match.pathPattern` a regular expression. */
export function faultFrom(body: JsonObject): Fault {
	const kind = KINDS.find((known) => known === body.kind);
	if (!kind) throw new Error(`kind must be one of ${KINDS.join(', ')}`);
	const { times, skip, status, retryAfterSeconds, latencyMs, afterHandling } = body;
	return {
		kind,
		match: matchFrom(body.match),
		...(typeof times === 'number' ? { times } : {}),
		...(typeof skip === 'number' ? { skip } : {}),
		...(typeof status === 'number' ? { status } : {}),
		...(typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
		...(typeof latencyMs === 'number' ? { latencyMs } : {}),
		...(typeof afterHandling === 'boolean' ? { afterHandling } : {}),
		...(body.body === undefined ? {} : { body: body.body }),
	};
}

function matchFrom(value: unknown): NonNullable<Fault['match']> {
	if (!isObject(value)) return {};
	const { method, path, pathPattern } = value;
	return {
		...(typeof method === 'string' ? { method } : {}),
		...(typeof path === 'string' ? { path } : {}),
		...(typeof pathPattern === 'string' ? { path: new RegExp(pathPattern) } : {}),
	};
}
