import { backoffMs, pause, type Backoff, type Clock } from '../values/clock';
import {
	BLOCKED_BY_N8N,
	TOO_MANY_REQUESTS,
	TransportFault,
	type Method,
	type HttpResponse,
} from './http';

/** System calls before the first byte of a request is sent. */
const BEFORE_THE_REQUEST = new Set(['getaddrinfo', 'connect']);

/**
 * Node's codes for an untrusted certificate, which it checks before it sends the request. Rarer ones, such as that of a
 * revoked certificate, count as unknown. Other TLS faults (`ERR_SSL_*`, `EPROTO`) can occur at any time.
 */
const CERTIFICATE_FAULTS = new Set([
	'CERT_HAS_EXPIRED',
	'CERT_NOT_YET_VALID',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'ERR_TLS_CERT_ALTNAME_INVALID',
	'SELF_SIGNED_CERT_IN_CHAIN',
	'UNABLE_TO_GET_ISSUER_CERT',
	'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export const ATTEMPTS = 4;
/** Short, because an execution waits for it, and widely spread, because the requests of many items fail together. */
const REQUEST_BACKOFF: Backoff = { firstMs: 500, maxMs: 8_000, jitter: 0.5 };
/** If the service asks for a longer wait, the request fails instead. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Whether the request certainly didn't reach the service. */
export function neverSent(fault: TransportFault): boolean {
	if (isPermanent(fault)) return true;
	return fault.syscall !== undefined && BEFORE_THE_REQUEST.has(fault.syscall);
}

/** Faults that another attempt would repeat. */
export function isPermanent({ code }: TransportFault): boolean {
	return code === BLOCKED_BY_N8N || CERTIFICATE_FAULTS.has(code);
}

/**
 * The retry rule:
 * - Any request that certainly had no effect: no connection, or a 429 that `tookEffect` doesn't contradict.
 * - A GET also after network faults and 5xx.
 * - Nothing else.
 */
function mayRetry(
	method: Method,
	result: HttpResponse | TransportFault,
	tookEffect: (response: HttpResponse) => boolean = () => false,
): boolean {
	if (result instanceof TransportFault) {
		if (isPermanent(result)) return false;
		return method === 'GET' || neverSent(result);
	}
	if (result.status === TOO_MANY_REQUESTS) return !tookEffect(result);
	return method === 'GET' && result.status >= 500;
}

/** The wait of `Retry-After` in milliseconds. A date counts as none, because it's by the service's clock. */
function retryAfterMs({ headers }: HttpResponse): number | undefined {
	const { 'retry-after': value } = headers;
	const isGiven = typeof value === 'string' && value.trim() !== '';
	return isGiven && Number.isFinite(Number(value)) ? Math.max(0, Number(value) * 1000) : undefined;
}

type RetryOptions = {
	clock: Clock;
	/** In milliseconds of the clock's `elapsed()`: no further attempt starts after this. */
	notAfter?: number;
	/** Aborted when the response is no longer needed. */
	signal?: AbortSignal | undefined;
	/** Whether a response shows that the request took effect, whatever its status. */
	tookEffect?: (response: HttpResponse) => boolean;
};

/**
 * Sends a request until its result may not be retried, attempts or time run out, or the signal aborts.
 *
 * @throws TransportFault if the last attempt got no response
 */
export async function sendWithRetry<Result extends HttpResponse>(
	method: Method,
	send: () => Promise<Result>,
	{ clock, notAfter = Infinity, signal, tookEffect }: RetryOptions,
): Promise<Result> {
	for (let attempt = 1; ; attempt++) {
		const result = await send().catch((error: unknown) => {
			if (error instanceof TransportFault) return error;
			throw error;
		});
		const isRetried = attempt < ATTEMPTS && mayRetry(method, result, tookEffect);
		const wait = isRetried ? waitBefore(attempt, result) : undefined;
		const isLast = wait === undefined || clock.elapsed() + wait >= notAfter;
		if (isLast || !(await waitUnlessAborted(clock, wait, signal))) {
			if (result instanceof TransportFault) throw result;
			return result;
		}
	}
}

/** @returns false if the signal aborted */
async function waitUnlessAborted(clock: Clock, ms: number, signal?: AbortSignal): Promise<boolean> {
	if (signal !== undefined) return await pause(clock, ms, signal);
	await clock.sleep(ms);
	return true;
}

/** Milliseconds before the next attempt. Undefined if the service asks for too long a wait. */
function waitBefore(attempt: number, result: HttpResponse | TransportFault): number | undefined {
	const requestedMs = (result instanceof TransportFault ? 0 : retryAfterMs(result)) ?? 0;
	// Without any wait, the attempts would be used up immediately.
	if (requestedMs === 0) return backoffMs(REQUEST_BACKOFF, attempt);
	return requestedMs > MAX_RETRY_AFTER_MS ? undefined : requestedMs;
}
