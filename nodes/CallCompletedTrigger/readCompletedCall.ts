import type { ApiClient } from '../core/service/client';
import {
	asSentence,
	ExplainedError,
	isTransient,
	NotSent,
	OutcomeUnknown,
} from '../core/service/errors';
import { hasEnded, isBehind, type StatusKeys } from '../core/calls/callEnd';
import { isUnknownCall, readCallRecord } from '../core/calls/readCall';
import { backoffMs, type Backoff, type Clock } from '../core/values/clock';
import type { JsonObject, JsonValue } from '../core/values/json';
import { quoted } from '../core/values/values';

/** While the record lags behind its report. Soon at first, because the service has already reported the end. */
const LAG_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 };

/** How long to keep reading a call that can't be read or shows no end. */
const GIVE_UP_AFTER_MS = 5 * 60_000;

/** How long to keep reading a call that the service doesn't know. Not longer, because anyone can report one. */
const UNKNOWN_AFTER_MS = 15_000;

type CompletionOptions = {
	/** What was reported of the outcome. */
	report: JsonObject;
	/** Statuses that count as finished. */
	finished: StatusKeys;
	/** Its `sleep` throws if the execution is stopped. */
	clock: Pick<Clock, 'elapsed' | 'sleep'>;
};

/**
 * Reads a reported call until its record shows the end and the reported outcome, for up to five minutes, also while the
 * service is down.
 *
 * @returns the ended call, with an earlier outcome if the reported one never shows. Undefined if the service doesn't know
 * the call.
 * @throws OutcomeUnknown if the record never shows an end
 */
export async function readCompletedCall(
	client: ApiClient,
	callId: string,
	{ report, finished, clock }: CompletionOptions,
): Promise<JsonObject | undefined> {
	const start = clock.elapsed();
	for (let reading = 1; ; reading++) {
		const wait = backoffMs(LAG_BACKOFF, reading);
		const waited = clock.elapsed() - start;
		const isLast = waited + wait > GIVE_UP_AFTER_MS;
		const record = await readCallRecord(client, callId).catch((error: unknown) => {
			if (isUnknownCall(error)) return null;
			if (isLast || !isTransient(error)) throw notRead(callId, error);
			return undefined;
		});
		if (record === null && waited >= UNKNOWN_AFTER_MS) return undefined;
		if (record && hasEnded(record, finished) && (isLast || !isBehind(record, report)))
			return record;
		if (isLast) throw notEnded(callId, record?.status ?? null);
		await clock.sleep(wait);
	}
}

function notEnded(callId: string, status: JsonValue): OutcomeUnknown {
	const shown = typeof status === 'string' ? ` Its status is ${quoted(status)}.` : '';
	return new OutcomeUnknown(
		`Call ${callId} was reported as completed, but its record doesn't show an end yet`,
		`When the call has ended, retry this execution.${shown} In n8n, if this status means that a call has ended, add it to 'Finished Statuses'.`,
	);
}

/** The error for a reported call of which something can't be read. */
export function notRead(callId: string, error: unknown): unknown {
	if (!(error instanceof ExplainedError)) return error;
	const { message, resolution, originalMessage, origin } = error;
	return new NotSent(
		`Call ${callId} was reported as completed, but couldn't be read`,
		`${asSentence(message)} ${resolution} Then retry this execution.`,
		{ originalMessage, origin },
	);
}
