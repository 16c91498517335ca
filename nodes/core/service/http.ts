import type { JsonObject, JsonValue } from '../values/json';

export type Method = 'GET' | 'POST' | 'DELETE';

/** A request to the service. `path` is relative to the base URL. */
export type ServiceRequest = {
	method: Method;
	path: string;
	/** The query of a link from the service, as it wrote it, instead of `query`. The rest of the link isn't used. */
	search?: string;
	query?: Query;
	body?: JsonObject;
	list?: WrittenList;
	/** Whether a request other than GET changes nothing either. Its error then says so. */
	changesNothing?: true;
	/** For requests whose callers can't wait for the default time limit. */
	timeoutMs?: number;
};

/** A list of the body whose entries are already JSON, separated by commas. */
export type WrittenList = { field: string; entries: Buffer };

/** The serialized body. */
export function bytesOf(body: JsonObject, list?: WrittenList): Buffer {
	if (list === undefined) return Buffer.from(JSON.stringify(body));
	const others = Object.entries(body).filter(([field]) => field !== list.field);
	const text = JSON.stringify(Object.fromEntries([...others, [list.field, []]]));
	return Buffer.concat([Buffer.from(text.slice(0, -END.length)), list.entries, END]);
}

/** The end of a body whose last field is a list. */
const END = Buffer.from(']}');

export type QueryValue = string | number | boolean;

/** A list repeats its name: `status=picked&status=failed`. */
export type Query = { [name: string]: QueryValue | QueryValue[] };

/** A response as received. */
export type HttpResponse = {
	status: number;
	headers: { [name: string]: unknown };
	text: string;
	/** If the response is larger than the limit: how many bytes were read. */
	readBytes?: number;
};

/** Sends a request once. Throws {@link TransportFault} if there is no response. */
export type Transport = (request: ServiceRequest) => Promise<HttpResponse>;

/**
 * No response. `code` is Node's error code, such as `ECONNREFUSED`. `syscall` is the failed system call, such as
 * `connect` or `read`, if Node reports it. Only the system call shows whether the request was sent.
 */
export class TransportFault extends Error {
	override readonly name = 'TransportFault';

	constructor(
		readonly code: string,
		message = code,
		readonly syscall?: string,
	) {
		super(message);
	}
}

export const TOO_MANY_REQUESTS = 429;

/** Documented statuses of validation errors (HTTP status codes). */
export const VALIDATION_STATUSES: ReadonlySet<number> = new Set([400, 422]);

/** The code for a request that n8n blocked (SSRF protection, allowed domains). */
export const BLOCKED_BY_N8N = 'BLOCKED_BY_N8N';

/** A successful response: the body with `data` and the fields beside it, such as `message` or `meta`. */
export type ApiResponse = {
	status: number;
	body: JsonValue;
};
