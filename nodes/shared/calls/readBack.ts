import { readTurns, recordingOrNull } from './callRecord';
import { hasEnded } from './callEnd';
import { getCall } from '../api/endpoints';
import { recordOf } from '../api/envelope';
import { isRejection, isTransient, OtherRecord } from '../api/errors';
import { backoffMs, type Backoff, type Clock } from '../clock';
import type { ApiClient } from '../api/client';
import type { Limiter } from '../keyedMutex';
import type { JsonObject, JsonValue } from '../json';

export type Included = { transcript: boolean; recording: boolean };

/** While the record lags behind its report. Soon at first, because the service has already reported the end. */
export const LAG_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 };
/** Delay before one more reading if the service doesn't find a call that may not exist. */
const UNKNOWN_CALL_DELAY_MS = 1_000;
/** While the service fails. Later than for a lag, because each reading has made its own quick attempts before. */
const OUTAGE_BACKOFF: Backoff = { firstMs: 2_000, maxMs: 30_000 };

/** Reads the call record from the service. */
export async function readCallRecord(client: ApiClient, callId: string): Promise<JsonObject> {
	return recordOf(await getCall(client, callId));
}

/** The record doesn't show the end of the call, because it's in progress or the record lags. */
export class NotEndedYet extends Error {
	override readonly name = 'NotEndedYet';

	/** @param status as the record shows it */
	constructor(readonly status: JsonValue) {
		super();
	}
}

/** The record doesn't show the reported outcome, because it lags, or the report is older or isn't true. */
export class FormerOutcome extends Error {
	override readonly name = 'FormerOutcome';
}

export type ReadBack = {
	included: Included;
	/** Statuses that count as finished. */
	finished: readonly string[];
	/** Whether a record shows the outcome before the reported one, so that it's read again. */
	isFormer: (record: JsonObject) => boolean;
	/** Whether there is time to wait this long. If not, the reading fails. */
	mayWait: (ms: number) => boolean;
	/** Its `sleep` may throw to end the reading. */
	clock: Clock;
	/** Called when the record shows the end. A later report may be about another outcome. */
	onEnded: () => void;
	/** Limits parallel reads. */
	limiter: Limiter;
	/** Whether the call exists, so that the service is asked again if it doesn't find the call. */
	isKnown: () => boolean;
};

/**
 * Reads a call until its record shows the end, and the reported outcome. Retries during outages of the service.
 *
 * @throws NotEndedYet or FormerOutcome if the time runs out first
 */
export async function readCompletedCall(
	client: ApiClient,
	callId: string,
	{ included, finished, isFormer, mayWait, clock, onEnded, limiter, isKnown }: ReadBack,
): Promise<JsonObject> {
	const throughOutages = async <T>(act: () => Promise<T>) =>
		await throughOutage({ clock, mayWait }, async () => await limiter(act));
	const read = async () => await throughOutages(async () => await readCallRecord(client, callId));
	const find = async (attempt = 1): Promise<JsonObject> =>
		await read().catch(async (error: unknown) => {
			if (!isUnknownCall(error)) throw error;
			const exists = isKnown();
			const wait = exists ? backoffMs(LAG_BACKOFF, attempt) : UNKNOWN_CALL_DELAY_MS;
			if (exists ? !mayWait(wait) : attempt > 1) throw error;
			await clock.sleep(wait);
			return await find(attempt + 1);
		});
	let record = await find();
	for (let reading = 1; ; reading++) {
		const isEnded = hasEnded(record, finished);
		if (isEnded && !isFormer(record)) break;
		const wait = backoffMs(LAG_BACKOFF, reading);
		if (!mayWait(wait))
			throw isEnded ? new FormerOutcome() : new NotEndedYet(record.status ?? null);
		await clock.sleep(wait);
		record = await read();
	}
	onEnded();
	const more = async () => await readIncluded(client, callId, included);
	return { ...record, ...(await throughOutages(more)) };
}

/** Transcript and recording. `[]` and `null` for a call without them. */
export async function readIncluded(
	client: ApiClient,
	callId: string,
	{ transcript, recording }: Included,
): Promise<JsonObject> {
	return {
		...(transcript && { transcript: await readTurns(client, callId) }),
		...(recording && { recording: await recordingOrNull(client, callId) }),
	};
}

async function throughOutage<T>(
	{ clock, mayWait }: Pick<ReadBack, 'clock' | 'mayWait'>,
	act: () => Promise<T>,
): Promise<T> {
	for (let failure = 1; ; failure++) {
		const wait = backoffMs(OUTAGE_BACKOFF, failure);
		const result = await act().then(
			(value) => ({ value }),
			(error: unknown) => {
				if (!isTransient(error) || !mayWait(wait)) throw error;
				return undefined;
			},
		);
		if (result !== undefined) return result.value;
		await clock.sleep(wait);
	}
}

export function isUnknownCall(error: unknown): boolean {
	return error instanceof OtherRecord || isRejection(error, 'call_not_found');
}
