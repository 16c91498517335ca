import {
	SEND_AND_WAIT_OPERATION,
	type IExecuteFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { backoffMs, type Backoff } from '../../core/values/clock';
import { isJsonObject } from '../../core/values/json';
import { clock } from '../../host/clock';

/** Reading 200 calls from a slow service takes time. */
const TIMEOUT_MS = 120_000;

/** Soon at first, because n8n rejects reports until it has stored the waiting execution. */
const PING_BACKOFF: Backoff = { firstMs: 500, maxMs: 30 * 60_000, factor: 4 };

/** n8n's own limit is this much later, because n8n would pass on the items without reading the calls. */
export const GRACE_MS = 60_000;

/** Interval of pings during this time, in case one at the time limit fails. */
const LATE_PING_MS = 10_000;

/** If n8n hasn't stored the waiting execution after this many pings, it has ended or failed. */
const MAX_PINGS_BEFORE_STORED = 7;

/**
 * n8n's responses if the execution isn't waiting: it's unknown, running, or finished. Other responses, such as a proxy's
 * 502 or a 429, are inconclusive.
 */
const NOT_FOUND = 404;
const NOT_WAITING = [NOT_FOUND, 409];

export type Context = IExecuteFunctions | IWebhookFunctions;

/** Whether the operation is *Ask and Wait*. n8n protects its resume URL in another way. */
export function asksAndWaits(context: Context): boolean {
	return context.getNode().parameters.operation === SEND_AND_WAIT_OPERATION;
}

/** The URL that resumes this execution. Its query has n8n's token or signature. */
export function resumeUrlOf(context: Context): string {
	if (asksAndWaits(context)) return context.getSignedResumeUrl();
	const resumeUrl: unknown = context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
	const url = new URL(typeof resumeUrl === 'string' ? resumeUrl : '');
	// The suffix of this node's webhook, so that a late report doesn't resume a wait of another node.
	url.pathname = `${url.pathname}/${context.getNode().id}`;
	return url.toString();
}

/** Sends a request to the resume URL. Returns the HTTP status, or 0 without a response. */
export async function pingResumeUrl(
	context: Context,
	url: string,
	method: 'GET' | 'POST' = 'POST',
): Promise<number> {
	try {
		const response: unknown = await context.helpers.httpRequest({
			method,
			url,
			// n8n sends no body for an empty object.
			...(method === 'POST' && { body: { poll: true }, json: true }),
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: TIMEOUT_MS,
		});
		if (!isJsonObject(response)) return 0;
		const isPage = response.statusCode === 200 && !isJsonObject(response.body);
		// If the approval isn't waiting anymore, n8n returns a page that says so.
		return isPage && asksAndWaits(context) ? NOT_FOUND : Number(response.statusCode);
	} catch {
		return 0;
	}
}

/**
 * Lets the webhook read the calls, rarely: for calls that ended before n8n stored the waiting execution, whose report
 * never arrived, or that are known at the time limit. Runs beside the waiting execution, until it resumes.
 *
 * @param until the end of the wait, in epoch milliseconds. n8n also ends its waits by the system clock.
 * @param onStored called when n8n has stored the waiting execution
 */
export async function pingUntilResumed(
	context: Context,
	url: string,
	until: number,
	onStored: () => Promise<void>,
): Promise<void> {
	let isStored = false;
	for (let count = 1; clock.now() < until + GRACE_MS; count++) {
		const left = until - clock.now();
		await clock.sleep(left > 0 ? Math.min(backoffMs(PING_BACKOFF, count), left) : LATE_PING_MS);
		const status = await pingResumeUrl(context, url);
		if (status === 200 && !isStored) await onStored();
		isStored ||= status === 200;
		const isGone = isStored || count >= MAX_PINGS_BEFORE_STORED;
		if (isGone && NOT_WAITING.includes(status)) return;
	}
}
