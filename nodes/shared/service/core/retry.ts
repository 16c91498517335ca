import { BLOCKED_BY_N8N, TransportFault, type Clock, type Method, type WireAnswer } from './http';

/** Codes at which no byte of the request can have reached the service. */
const NEVER_LEFT = new Set([
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EHOSTUNREACH',
	'ENETUNREACH',
	'ENETDOWN',
	BLOCKED_BY_N8N,
]);

/** A TLS handshake comes before the request, so a fault in it sent nothing; it does not heal either. */
const TLS_FAULT =
	/^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;

export const ATTEMPTS = 4;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 8_000;
/** Longer than this and the workflow is better told than kept waiting. */
export const LONGEST_RETRY_AFTER_MS = 60_000;

export function isTlsFault(code: string): boolean {
	return TLS_FAULT.test(code);
}

export function neverLeft(fault: TransportFault): boolean {
	return NEVER_LEFT.has(fault.code) || isTlsFault(fault.code);
}

/** Faults that another attempt would only repeat. */
function isLasting({ code }: TransportFault): boolean {
	return code === BLOCKED_BY_N8N || isTlsFault(code);
}

/**
 * The rule in one breath: send again what surely did not take effect (no connection, 429);
 * send a GET again also when the network or the service stumbled (5xx); nothing else, ever.
 */
export function mayRetry(method: Method, result: WireAnswer | TransportFault): boolean {
	if (result instanceof TransportFault) {
		if (isLasting(result)) return false;
		return method === 'GET' || neverLeft(result);
	}
	if (result.status === 429) return true;
	return method === 'GET' && result.status >= 500;
}

/** Milliseconds that `Retry-After` asks for, given in seconds or as a date (RFC 9110). */
export function retryAfterMs(answer: WireAnswer, now: number): number | undefined {
	const value = answer.headers['retry-after'];
	if (typeof value !== 'string' || value.trim() === '') return undefined;
	const seconds = Number(value);
	if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
	const date = Date.parse(value);
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Capped exponential back-off with jitter: half of the step is fixed, half is chance. */
export function backOffMs(attempt: number, random: () => number): number {
	const step = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
	return step / 2 + (step / 2) * random();
}

/** Sends until an answer stands that may not be retried, or the attempts are used up. */
export async function sendWithRetry<Result extends WireAnswer>(
	method: Method,
	send: () => Promise<Result>,
	clock: Clock,
	random: () => number,
): Promise<Result> {
	for (let attempt = 0; ; attempt++) {
		const result = await settle(send);
		const wait = nextWait(method, result, attempt, clock, random);
		if (wait === undefined) {
			if (result instanceof TransportFault) throw result;
			return result;
		}
		await clock.sleep(wait);
	}
}

function nextWait(
	method: Method,
	result: WireAnswer | TransportFault,
	attempt: number,
	clock: Clock,
	random: () => number,
): number | undefined {
	if (attempt + 1 >= ATTEMPTS || !mayRetry(method, result)) return undefined;
	const asked = result instanceof TransportFault ? undefined : retryAfterMs(result, clock.now());
	if (asked === undefined) return backOffMs(attempt, random);
	return asked > LONGEST_RETRY_AFTER_MS ? undefined : asked;
}

async function settle<Result>(send: () => Promise<Result>): Promise<Result | TransportFault> {
	return await send().catch((error: unknown) => {
		if (error instanceof TransportFault) return error;
		throw error;
	});
}
