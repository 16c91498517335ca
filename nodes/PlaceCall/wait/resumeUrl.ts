import {
	SEND_AND_WAIT_OPERATION,
	type IExecuteFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { clock } from '../../shared/n8n/http/accountClient';
import { backoffMs, type Backoff, type StoredDeadline } from '../../shared/clock';
import { isJsonObject } from '../../shared/json';

/** Reading 200 calls from a slow service takes time. */
const TIMEOUT_MS = 120_000;

/** n8n responds with 409 until it has stored the waiting execution. */
const PAUSE_BACKOFF: Backoff = { firstMs: 500, maxMs: 256_000 };
const MAX_PAUSE_CHECKS = 10;

/** Finds completed calls whose webhook never arrives. */
const POLL_BACKOFF: Backoff = { firstMs: 15_000, maxMs: 10 * 60_000 };

/**
 * On average, this process sends an occasional ping at most this often. Each costs n8n as much as an execution, and the
 * service a request, so with many waits, each one is polled less often.
 */
const POLL_EVERY_MS = 500;

/** n8n's own limit is this much later, because n8n would pass on the items without reading the calls. */
export const GRACE_MS = 60_000;

/** Interval of pings during this time, in case a proxy or the service fails. */
const LATE_POLL_MS = 10_000;

/**
 * n8n's responses if the execution isn't waiting anymore: it's unknown, running, or finished. Other responses, such as a
 * proxy's 502 or a 429, are inconclusive.
 */
const NOT_FOUND = 404;
const RESUMED = [NOT_FOUND, 409];

/** The waits whose resume URL this process pings. An execution may wait several times, as in a loop. */
const pinging = new Set<string>();

type Context = IExecuteFunctions | IWebhookFunctions;

/** Whether the operation is *Ask and Wait*. n8n protects its resume URL in another way. */
export function asksAndWaits(context: Context): boolean {
	return context.getNode().parameters.operation === SEND_AND_WAIT_OPERATION;
}

/** The URL that resumes this execution. Its query has n8n's token or signature. */
export function resumeUrlOf(context: Context): string {
	if (asksAndWaits(context)) return context.getSignedResumeUrl();
	const resumeUrl: unknown = context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
	const url = new URL(typeof resumeUrl === 'string' ? resumeUrl : '');
	// n8n finds the webhook by the node's ID at the end of the path.
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
 * Pings the resume URL until the execution has resumed. Runs once per wait and process, beside the waiting execution.
 *
 * @param onStored called when n8n has stored the waiting execution
 */
export async function keepPinging(
	context: Context,
	url: string,
	deadline: StoredDeadline,
	onStored?: () => Promise<void>,
): Promise<void> {
	const wait = `${url} ${deadline.at}`;
	if (pinging.has(wait)) return;
	pinging.add(wait);
	try {
		if (onStored !== undefined && (await isWaiting(context, url))) await onStored();
		await pollOccasionally(context, url, deadline);
	} finally {
		pinging.delete(wait);
	}
}

async function isWaiting(context: Context, url: string): Promise<boolean> {
	for (let count = 1; count <= MAX_PAUSE_CHECKS; count++) {
		await clock.sleep(backoffMs(PAUSE_BACKOFF, count));
		if ((await pingResumeUrl(context, url)) === 200) return true;
	}
	return false;
}

/** The last ping is immediately after the time limit and ends the wait with the known state. */
async function pollOccasionally(
	context: Context,
	url: string,
	deadline: StoredDeadline,
): Promise<void> {
	for (let count = 1; ; count++) {
		const { left } = deadline;
		const pause = Math.max(backoffMs(POLL_BACKOFF, count), pinging.size * POLL_EVERY_MS);
		await clock.sleep(left < 0 ? LATE_POLL_MS : Math.min(pause, left + 1));
		const isDue = deadline.left < 0;
		const status = await pingResumeUrl(context, url);
		if (RESUMED.includes(status) || (isDue && status === 200)) return;
		if (deadline.left < -GRACE_MS) return;
	}
}

/** Resumes an execution whose calls are all completed. Makes several attempts, because n8n or a proxy may fail. */
export async function resume(context: Context, url: string): Promise<void> {
	for (let count = 1; count <= MAX_PAUSE_CHECKS; count++) {
		const status = await pingResumeUrl(context, url);
		if (status === 200 || RESUMED.includes(status)) return;
		await clock.sleep(backoffMs(PAUSE_BACKOFF, count));
	}
}
