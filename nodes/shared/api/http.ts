import type { JsonObject, JsonValue } from '../json';

export type Method = 'GET' | 'POST' | 'DELETE';

/** A request to the service; `path` is relative to the base URL. */
export type ServiceRequest = {
	method: Method;
	path: string;
	/** A link that the service gave, as a whole URL: where the request goes instead, if that is below the base URL. */
	link?: string;
	query?: Query;
	body?: JsonObject;
	list?: WrittenList;
	/** Where the answer is worth less the later it comes. */
	timeoutMs?: number;
	/** Aborted when nobody wants the answer any more. */
	signal?: AbortSignal | undefined;
};

/** A list of the body whose entries are JSON already, with commas in between. */
export type WrittenList = { field: string; entries: Buffer };

/** The body as it travels. */
export function bytesOf(body: JsonObject, list?: WrittenList): Buffer {
	if (list === undefined) return Buffer.from(JSON.stringify(body));
	const others = Object.entries(body).filter(([field]) => field !== list.field);
	const text = JSON.stringify(Object.fromEntries([...others, [list.field, []]]));
	return Buffer.concat([Buffer.from(text.slice(0, -END.length)), list.entries, END]);
}

/** Of a body whose last field is a list. */
const END = Buffer.from(']}');

export type QueryValue = string | number | boolean;

/** A list is sent as its name repeated: `status=picked&status=failed`. */
export type Query = { [name: string]: QueryValue | QueryValue[] };

/** What came back, before anyone judged it. */
export type HttpResponse = {
	status: number;
	headers: { [name: string]: unknown };
	text: string;
	/** Of a response that is larger: how much of it was read. */
	readBytes?: number;
	/** Where it came from, to resolve relative links. */
	url?: string | undefined;
};

/** Sends one request once. Throws {@link TransportFault} when no answer came. */
export type Transport = (request: ServiceRequest) => Promise<HttpResponse>;

/**
 * No answer: `code` is Node's error code (`ECONNREFUSED`, `ECONNRESET`, …), `syscall` what the machine was doing
 * (`connect`, `getaddrinfo`, `read`, …) where Node tells it: only that shows whether the request had left.
 */
export class TransportFault extends Error {
	override readonly name = 'TransportFault';

	constructor(
		readonly code: string,
		message: string,
		readonly syscall?: string,
	) {
		super(message);
	}
}

/** n8n stopped the request by itself (SSRF guard, allowed domains), by an error that it names so. */
export const BLOCKED_BY_N8N = 'BLOCKED_BY_N8N';

/** A success as the service gave it: `data`, and what stands beside it (`message`, `meta`, …). */
export type ApiResponse = {
	status: number;
	body: JsonValue;
	/** Where it came from, to resolve relative links. */
	url?: string | undefined;
};
