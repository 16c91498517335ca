import { pushContacts, type Additions } from '../endpoints';
import { recordOf } from '../core/envelope';
import { ExplainedError, InvalidInput, OutcomeUnknown } from '../core/explained';
import type { Service } from '../core/service';
import type { JsonObject } from '../types';
import type { Campaign } from './campaign';
import type { Columns } from './columns';
import { toContact } from './contact';
import type { FeedItem, FeedOutcome, LeftOutRow, RowStatus } from './feed';
import { namedRows } from './namedRows';
import type { PreparedFeed } from './prepare';

/** A request is sent again without a row that the service named, at most this often. */
export const RESENDS_PER_REQUEST = 100;

export type PushOptions = {
	service: Service;
	campaign: Campaign;
	columns: Columns;
	/** At most the documented 10,000. */
	contactsPerRequest: number;
	additions: Additions;
	/** Asked before each request: whether the person at the screen has stopped the workflow. */
	stopRequested: () => boolean;
};

/**
 * Sends the prepared rows in requests of a bounded size, one after another, and stops at the
 * first that did not surely succeed. Never throws for what happens to a request: the outcome says it.
 * With an `earlier` outcome of the same feed only the rows that it left unsent are sent.
 */
export async function pushFeed(
	items: readonly FeedItem[],
	{ rows: usable, phones, leftOut }: PreparedFeed,
	options: PushOptions,
	earlier?: FeedOutcome,
): Promise<FeedOutcome> {
	const rows = earlier === undefined ? usable : indexesOf(earlier, 'not_sent');
	const outcome = earlier === undefined ? startOf(items, leftOut) : continuationOf(earlier);
	const send = async (request: readonly number[]) =>
		await sendRows(request, items, phones, options);

	for (let start = 0; start < rows.length; start += options.contactsPerRequest) {
		const end = start + options.contactsPerRequest;
		const stopped = await pushRequest(rows.slice(start, end), send, outcome);
		if (stopped === undefined) continue;
		outcome.stopped ??= stopped;
		leaveOut(rows.slice(end), 'not_sent', notReached(stopped), outcome);
		break;
	}
	outcome.leftOut.sort((one, other) => one.index - other.index);
	return outcome;
}

function startOf(items: readonly FeedItem[], leftOut: readonly LeftOutRow[]): FeedOutcome {
	return { received: items.length, pushed: [], leftOut: [...leftOut] };
}

/** Rows whose fate is unknown stay unknown, and with them what stopped the feed. */
function continuationOf({ received, pushed, leftOut, stopped }: FeedOutcome): FeedOutcome {
	return {
		received,
		pushed: [...pushed],
		leftOut: leftOut.filter(({ status }) => status !== 'not_sent'),
		...(stopped?.outcome === 'unknown' && { stopped }),
	};
}

function indexesOf({ leftOut }: FeedOutcome, wanted: RowStatus): number[] {
	return leftOut.filter(({ status }) => status === wanted).map(({ index }) => index);
}

type Send = (rows: readonly number[]) => Promise<JsonObject | ExplainedError>;

/** Pushes one request, without the rows that the service names; gives back what stops the feed. */
async function pushRequest(
	request: readonly number[],
	send: Send,
	outcome: FeedOutcome,
): Promise<ExplainedError | undefined> {
	let rows = request;
	for (let resends = 0; rows.length > 0; resends++) {
		const answer = await send(rows);
		if (!(answer instanceof ExplainedError)) {
			outcome.pushed.push({ rows, answer });
			return undefined;
		}
		const refused = namedRows(answer, rows);
		if (refused.length === 0) return stop(rows, answer, outcome);
		outcome.leftOut.push(...refused);
		const named = new Set(refused.map(({ index }) => index));
		rows = rows.filter((row) => !named.has(row));
		if (resends === RESENDS_PER_REQUEST && rows.length > 0) {
			return stop(rows, tooManyRefused(), outcome);
		}
	}
	return undefined;
}

async function sendRows(
	rows: readonly number[],
	items: readonly FeedItem[],
	phones: readonly string[],
	{ service, campaign, columns, additions, stopRequested }: PushOptions,
): Promise<JsonObject | ExplainedError> {
	if (stopRequested()) return stoppedByHand();
	try {
		const contacts = rows.map((row) =>
			toContact(items[row]?.json ?? {}, columns, phones[row] ?? ''),
		);
		const body = { agent_uuid: campaign.agentUuid, contacts, enqueue: campaign.enqueue };
		return recordOf(await pushContacts(service, campaign.id, body, additions));
	} catch (error) {
		// Whatever was not foreseen may have happened after the request left.
		return error instanceof ExplainedError ? error : notForeseen(error);
	}
}

function stop(
	rows: readonly number[],
	error: ExplainedError,
	outcome: FeedOutcome,
): ExplainedError {
	leaveOut(rows, error.outcome === 'unknown' ? 'unknown' : 'not_sent', reasonOf(error), outcome);
	return error;
}

function leaveOut(
	rows: readonly number[],
	status: RowStatus,
	reason: string,
	{ leftOut }: FeedOutcome,
): void {
	for (const index of rows) leftOut.push({ index, status, reason });
}

function reasonOf({ message, advice }: ExplainedError): string {
	return `${message}. ${advice}`;
}

function notReached(stopped: ExplainedError): string {
	return stopped.outcome === 'unknown'
		? `Not sent, because the feed stopped at an earlier request: ${stopped.message}. This row can be pushed again as it is.`
		: reasonOf(stopped);
}

function tooManyRefused(): ExplainedError {
	return new InvalidInput(
		`The service refused more than ${RESENDS_PER_REQUEST} rows of one request, one after the other, so the rest of the feed was not sent`,
		'Read the reasons of the refused rows: they most likely share one cause, such as the wrong Phone Column.',
	);
}

function stoppedByHand(): ExplainedError {
	return new InvalidInput(
		'The workflow was stopped, so the rest of the feed was not sent',
		'The rows that are not sent can be pushed again as they are.',
	);
}

function notForeseen(error: unknown): ExplainedError {
	const said = error instanceof Error ? error.message : String(error);
	return new OutcomeUnknown(
		'Something unexpected happened while the request was under way, so it is not known whether it took effect',
		'Look at the campaign in the service before you push these rows again.',
		said,
	);
}
