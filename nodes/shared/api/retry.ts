import { backoffMs, pause, type Backoff, type Clock } from '../clock';
import { TOO_MANY_REQUESTS } from './errors';
import { BLOCKED_BY_N8N, TransportFault, type Method, type HttpResponse } from './http';
import type { ReadPace } from './readPace';

/** What comes before the first byte of a request: finding the address and connecting to it. */
const BEFORE_THE_REQUEST = new Set(['getaddrinfo', 'connect']);

/**
 * OpenSSL's names for a certificate that is not trusted, and Node's own. Node checks the certificate before it lets
 * the request out; every other fault of TLS (`ERR_SSL_*`, `EPROTO`) may come at any time.
 */
const CERTIFICATE_FAULTS = new Set([
	'CERT_CHAIN_TOO_LONG',
	'CERT_HAS_EXPIRED',
	'CERT_NOT_YET_VALID',
	'CERT_REJECTED',
	'CERT_REVOKED',
	'CERT_SIGNATURE_FAILURE',
	'CERT_UNTRUSTED',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'ERR_TLS_CERT_ALTNAME_FORMAT',
	'ERR_TLS_CERT_ALTNAME_INVALID',
	'HOSTNAME_MISMATCH',
	'INVALID_CA',
	'INVALID_PURPOSE',
	'PATH_LENGTH_EXCEEDED',
	'SELF_SIGNED_CERT_IN_CHAIN',
	'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
	'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
	'UNABLE_TO_GET_ISSUER_CERT',
	'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export const ATTEMPTS = 4;
export const RETRY_BACKOFF: Backoff = { firstMs: 500, maxMs: 8_000, jitter: 0.5 };
/** Longer than this and the workflow is better told than kept waiting. */
export const LONGEST_RETRY_AFTER_MS = 60_000;

export function isCertificateFault(code: string): boolean {
	return CERTIFICATE_FAULTS.has(code);
}

/** Whether no byte of the request can have reached the service; without evidence it may have. */
export function neverSent(fault: TransportFault): boolean {
	if (isLasting(fault)) return true;
	return fault.syscall !== undefined && BEFORE_THE_REQUEST.has(fault.syscall);
}

/** Faults that another attempt would only repeat. */
function isLasting({ code }: TransportFault): boolean {
	return code === BLOCKED_BY_N8N || isCertificateFault(code);
}

/**
 * The rule in one breath: send again what surely did not take effect (no connection, 429 without a sign of the contrary);
 * send a GET again also when the network or the service stumbled (5xx); nothing else, ever.
 */
export function mayRetry(
	method: Method,
	result: HttpResponse | TransportFault,
	isFinal: (answer: HttpResponse) => boolean = () => false,
): boolean {
	if (result instanceof TransportFault) {
		if (isLasting(result)) return false;
		return method === 'GET' || neverSent(result);
	}
	if (result.status === TOO_MANY_REQUESTS) return !isFinal(result);
	return method === 'GET' && result.status >= 500;
}

/** Milliseconds that `Retry-After` asks for, given in seconds or as a date by the clock of the service (RFC 9110). */
export function retryAfterMs({ headers }: HttpResponse, now: number): number | undefined {
	const { 'retry-after': value } = headers;
	if (typeof value !== 'string' || value.trim() === '') return undefined;
	const seconds = Number(value);
	if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
	const at = dateIn(value);
	return at === undefined ? undefined : Math.max(0, at - (dateIn(headers.date) ?? now));
}

function dateIn(header: unknown): number | undefined {
	const at = typeof header === 'string' ? Date.parse(header) : NaN;
	return Number.isNaN(at) ? undefined : at;
}

export type RetryOptions = {
	clock: Clock;
	random: () => number;
	/** In milliseconds of the clock's `elapsed()`: from then on nothing is tried again. */
	notAfter?: number;
	/** Aborted when nobody wants the answer any more. */
	signal?: AbortSignal | undefined;
	/** Shared by the reads of a client. */
	pace?: ReadPace | undefined;
	/** Whether a response shows that the request took effect, whatever its status says. */
	isFinal?: (answer: HttpResponse) => boolean;
};

/**
 * Sends until an answer stands that may not be retried, the attempts or the time are used up, or nobody waits for it.
 * A 429 that came to one of several reads at the same time uses up no attempt: from then on they go one by one.
 */
export async function sendWithRetry<Result extends HttpResponse>(
	method: Method,
	send: () => Promise<Result>,
	{ clock, random, notAfter = Infinity, signal, pace, isFinal }: RetryOptions,
): Promise<Result> {
	const settled = async () => await settle(send);
	for (let attempt = 1; ; ) {
		const { result, wasAlone } =
			pace === undefined
				? { result: await settled(), wasAlone: true }
				: await pace.send(settled, signal);
		const isRetried = attempt < ATTEMPTS && mayRetry(method, result, isFinal);
		const wait = isRetried ? waitBefore(attempt, result, clock, random) : undefined;
		const isTooMany = statusOf(result) === TOO_MANY_REQUESTS;
		const isHopeless = isTooMany && pace?.slowDown(wait) === false;
		if ((statusOf(result) ?? 500) < 500 && !isTooMany) pace?.speedUp();
		const isLast = wait === undefined || isHopeless || clock.elapsed() + wait >= notAfter;
		// A pace that was slowed down waits by itself, with all others.
		const waits = pace === undefined || !isTooMany;
		if (isLast || (waits && !(await waited(clock, wait, signal)))) {
			if (result instanceof TransportFault) throw result;
			return result;
		}
		if (wasAlone || !isTooMany) attempt++;
	}
}

/** Whether there is still somebody who waits. */
async function waited(clock: Clock, ms: number, signal?: AbortSignal): Promise<boolean> {
	if (signal !== undefined) return await pause(clock, ms, signal);
	await clock.sleep(ms);
	return true;
}

/** Before the attempt that follows; undefined if the service asks for longer than anybody should wait. */
function waitBefore(
	attempt: number,
	result: HttpResponse | TransportFault,
	clock: Clock,
	random: () => number,
): number | undefined {
	const asked = result instanceof TransportFault ? undefined : retryAfterMs(result, clock.now());
	// None at all would use up the attempts at once.
	if (asked === undefined || asked === 0) return backoffMs(RETRY_BACKOFF, attempt, random);
	return asked > LONGEST_RETRY_AFTER_MS ? undefined : asked;
}

function statusOf(result: HttpResponse | TransportFault): number | undefined {
	return result instanceof TransportFault ? undefined : result.status;
}

async function settle<Result>(send: () => Promise<Result>): Promise<Result | TransportFault> {
	return await send().catch((error: unknown) => {
		if (error instanceof TransportFault) return error;
		throw error;
	});
}
