import { forEveryone, onScreenOnly, type Explanation } from './resolution';
import { TOO_MANY_REQUESTS } from './errors';
import type { Method, ServiceRequest, HttpResponse } from './http';
import { retryAfterMs } from './retry';

const REDIRECTED: Explanation = {
	message: "The service or a proxy responded with a redirect, which isn't followed",
	resolution: {
		onScreen:
			"Set 'Base URL' in the credential to the final URL of the service. The API token is only sent to that URL.",
		forModel: '',
	},
};

const BY_STATUS: { [status: number]: Explanation } = {
	307: REDIRECTED,
	308: REDIRECTED,
	401: {
		message: 'The request was rejected as unauthorized (HTTP status 401)',
		resolution: {
			onScreen:
				"Check 'API Token' and 'Base URL' in the credential. If both are correct, a proxy in front of the service may require its own sign-in.",
			forModel: '',
		},
	},
	407: {
		message:
			"A proxy requires a sign-in, so the request didn't reach the service (HTTP status 407)",
		resolution: onScreenOnly(
			'Ask your n8n administrator to let requests to the service pass the proxy.',
		),
	},
	413: {
		message: 'The request is too large for the service or a proxy (HTTP status 413)',
		resolution: forEveryone(
			"The request had no effect. Shorten the texts, or leave out values that aren't needed.",
		),
	},
};

/**
 * Explains a status that counts as a rejection even without an error body of the service. HTTP defines these
 * statuses so that the request wasn't processed, whether the service or a proxy sent them (RFC 9110, RFC 6585):
 * - 307 and 308: send the same request to another URL. For a GET, any 3xx.
 * - 401: the request "has not been applied". 407: it didn't pass the proxy.
 * - 413: it's too large. 429: too many requests.
 *
 * No other 4xx counts. After a 403, 408, or 499 of a proxy, the service may have processed the request.
 *
 * @param now epoch milliseconds, for a `Retry-After` date
 */
export function explainNotProcessed(
	{ method }: ServiceRequest,
	response: HttpResponse,
	now: number,
): Explanation | undefined {
	const { status } = response;
	if (!isNotProcessed(method, status)) return undefined;
	if (status === TOO_MANY_REQUESTS) return tooManyRequests(retryAfterMs(response, now));
	return BY_STATUS[status] ?? REDIRECTED;
}

export function isNotProcessed(method: Method, status: number): boolean {
	const isRedirectedRead = method === 'GET' && status >= 300 && status < 400;
	return isRedirectedRead || status === TOO_MANY_REQUESTS || BY_STATUS[status] !== undefined;
}

function tooManyRequests(waitMs: number | undefined): Explanation {
	const when = waitMs === undefined ? 'later' : `after ${duration(waitMs)}`;
	const forModel = `The request had no effect. Try again ${when}.`;
	return {
		message:
			'The service or a proxy rejected the request because it receives too many (HTTP status 429)',
		resolution: {
			onScreen: `${forModel} If this node can send fewer requests at the same time, set it to fewer.`,
			forModel,
		},
	};
}

/** In seconds, minutes, or hours, rounded up. */
export function duration(ms: number): string {
	const seconds = Math.ceil(ms / 1000);
	if (seconds < 120) return counted(seconds, 'second');
	const minutes = Math.ceil(seconds / 60);
	return minutes < 120 ? counted(minutes, 'minute') : counted(Math.ceil(minutes / 60), 'hour');
}

function counted(count: number, unit: string): string {
	return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
