import {
	SEND_AND_WAIT_OPERATION,
	type IExecuteFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { clock } from '../../shared/n8n/http/accountClient';
import { backoffMs, type Backoff, type StoredDeadline } from '../../shared/clock';
import { isJsonObject } from '../../shared/json';

/** Looking at 200 calls takes a slow service a while. */
const TIMEOUT_MS = 120_000;

/** Until n8n has put the execution to sleep it answers 409; it is asked so often. */
const PAUSE_BACKOFF: Backoff = { firstMs: 500, maxMs: 256_000 };
const MAX_PAUSE_CHECKS = 10;

/** A completion that never arrives is found by looking now and then. */
const POLL_BACKOFF: Backoff = { firstMs: 15_000, maxMs: 10 * 60_000 };

/** n8n's own limit comes this much later: it would pass the items on without looking at the calls. */
export const GRACE_MS = 60_000;

/** Within it, a proxy or a service that stumbles gets another chance this often. */
const LATE_POLL_MS = 10_000;

/**
 * What n8n answers where nothing sleeps any more: it does not know the execution, or the execution runs or has
 * finished. Anything else (a proxy's 502, a 429 …) says nothing about it.
 */
const NOT_FOUND = 404;
const RESUMED = [NOT_FOUND, 409];

/** Waits at whose address this process knocks; an execution may wait several times, as in a loop. */
const pinging = new Set<string>();

type Context = IExecuteFunctions | IWebhookFunctions;

/** Whether the person is asked something: n8n guards the address of such a wait by other rules, told by the operation. */
export function asksAndWaits(context: Context): boolean {
	return context.getNode().parameters.operation === SEND_AND_WAIT_OPERATION;
}

/** The address that wakes this execution; its query holds n8n's own token or signature for it. */
export function resumeUrlOf(context: Context): string {
	if (asksAndWaits(context)) return context.getSignedResumeUrl();
	const resumeUrl: unknown = context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
	const url = new URL(typeof resumeUrl === 'string' ? resumeUrl : '');
	// The node's ID at the end of the path is what n8n finds the webhook by.
	url.pathname = `${url.pathname}/${context.getNode().id}`;
	return url.toString();
}

/** HTTP status of one request to an execution's own address; 0 where no answer came. */
export async function pingResumeUrl(
	context: Context,
	address: string,
	method: 'GET' | 'POST' = 'POST',
): Promise<number> {
	try {
		const response: unknown = await context.helpers.httpRequest({
			method,
			url: address,
			// n8n sends no body where it is an empty object.
			...(method === 'POST' && { body: { look: true }, json: true }),
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: TIMEOUT_MS,
		});
		if (!isJsonObject(response)) return 0;
		const isPage = response.statusCode === 200 && !isJsonObject(response.body);
		// Where nobody waits for an answer any more, n8n shows a page that says so.
		return isPage && asksAndWaits(context) ? NOT_FOUND : Number(response.statusCode);
	} catch {
		return 0;
	}
}

/**
 * Runs on beside the sleeping execution until it is awake; once for each execution and process.
 *
 * @param onStored for one that n8n has yet to put to sleep: called when it has stored it
 */
export async function keepPinging(
	context: Context,
	address: string,
	deadline: StoredDeadline,
	onStored?: () => Promise<void>,
): Promise<void> {
	const wait = `${address} ${deadline.at}`;
	if (pinging.has(wait)) return;
	pinging.add(wait);
	try {
		if (onStored !== undefined && (await isWaiting(context, address))) await onStored();
		await pollOccasionally(context, address, deadline);
	} finally {
		pinging.delete(wait);
	}
}

async function isWaiting(context: Context, address: string): Promise<boolean> {
	for (let count = 1; count <= MAX_PAUSE_CHECKS; count++) {
		await clock.sleep(backoffMs(PAUSE_BACKOFF, count));
		if ((await pingResumeUrl(context, address)) === 200) return true;
	}
	return false;
}

/** The last knock comes right after the time limit and ends the wait with what is known. */
async function pollOccasionally(
	context: Context,
	address: string,
	deadline: StoredDeadline,
): Promise<void> {
	for (let look = 1; ; look++) {
		const { left } = deadline;
		await clock.sleep(left < 0 ? LATE_POLL_MS : Math.min(backoffMs(POLL_BACKOFF, look), left + 1));
		const isDue = deadline.left < 0;
		const status = await pingResumeUrl(context, address);
		if (RESUMED.includes(status) || (isDue && status === 200)) return;
		if (deadline.left < -GRACE_MS) return;
	}
}

/** Wakes an execution all of whose calls are over; n8n or a proxy before it may stumble. */
export async function resume(context: Context, address: string): Promise<void> {
	for (let count = 1; count <= MAX_PAUSE_CHECKS; count++) {
		const status = await pingResumeUrl(context, address);
		if (status === 200 || RESUMED.includes(status)) return;
		await clock.sleep(backoffMs(PAUSE_BACKOFF, count));
	}
}
