import type { Explanation } from './errorTable';
import { forEveryone, onScreenOnly } from './modelAdvice';
import { TOO_MANY_REQUESTS } from './errors';
import type { Method, ServiceRequest, HttpResponse } from './http';
import { retryAfterMs } from './retry';

/**
 * The few statuses that say by themselves, whoever sends them, that the request was not performed: a redirect asks
 * for the same request elsewhere (307 and 308; any, after a read), 401 "has not been applied", 407 did not pass the
 * proxy, 413 was rejected for its size, 429 for its haste. No other 4xx says so: behind a proxy's 403, 408 or 499
 * the service may have done it all the same.
 */
export function explainNotPerformed(
	{ method }: ServiceRequest,
	answer: HttpResponse,
	now: number,
): Explanation | undefined {
	const { status } = answer;
	if (!isNotPerformed(method, status)) return undefined;
	if (status === TOO_MANY_REQUESTS) return tooManyRequests(retryAfterMs(answer, now));
	return EXPLAINED[status] ?? REDIRECTED;
}

export function isNotPerformed(method: Method, status: number): boolean {
	const isRedirectedRead = method === 'GET' && status >= 300 && status < 400;
	return isRedirectedRead || status === TOO_MANY_REQUESTS || EXPLAINED[status] !== undefined;
}

const REDIRECTED: Explanation = {
	what: 'The base URL answers with a redirect, which is never followed with your API token',
	resolution: {
		onScreen: 'Open the credential and set Base URL to the final address of the service.',
		forModel: '',
	},
};

const EXPLAINED: { [status: number]: Explanation } = {
	307: REDIRECTED,
	308: REDIRECTED,
	401: {
		what: 'The service does not accept the API token',
		resolution: {
			onScreen:
				'Open the credential and check API Token and Base URL. If both are right, a proxy before the service wants a sign-in of its own.',
			forModel: '',
		},
	},
	407: {
		what: 'The proxy of your n8n wants a sign-in, so the request did not reach the service',
		resolution: onScreenOnly('Ask whoever runs your n8n to let it through the proxy.'),
	},
	413: {
		what: 'The request is larger than the service takes',
		resolution: forEveryone(
			'The request had no effect. Send less at once: shorten the texts, or leave out what is not needed.',
		),
	},
};

function tooManyRequests(waitMs: number | undefined): Explanation {
	return {
		what: 'The service receives too many requests at the moment',
		resolution: forEveryone(
			waitMs === undefined
				? 'The request had no effect. Try again later.'
				: `The request had no effect. The service asks to wait ${duration(waitMs)} before you try again.`,
		),
	};
}

/** Rounded up, so that nobody comes back too early. */
export function duration(ms: number): string {
	const seconds = Math.ceil(ms / 1000);
	if (seconds < 120) return counted(seconds, 'second');
	const minutes = Math.ceil(seconds / 60);
	return minutes < 120 ? counted(minutes, 'minute') : counted(Math.ceil(minutes / 60), 'hour');
}

function counted(count: number, unit: string): string {
	return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
