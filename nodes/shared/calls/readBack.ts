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

/** The record may lag behind its report: it is read again after these times. */
export const LAG_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 };
/** So is, once, a call that the service does not know yet. */
const UNKNOWN_WAIT_MS = 1_000;
const OUTAGE_BACKOFF: Backoff = { firstMs: 2_000, maxMs: 30_000 };

/** The call as the service itself holds it. */
export async function readCallRecord(client: ApiClient, callId: string): Promise<JsonObject> {
	return recordOf(await getCall(client, callId));
}

/** The service shows no end of this call: it goes on, or its record lags. */
export class NotEndedYet extends Error {
	override readonly name = 'ShowsNoEnd';

	/** @param status as the record shows it */
	constructor(readonly status: JsonValue) {
		super();
	}
}

export type ReadBack = {
	included: Included;
	/** Statuses that the user counts as finished. */
	finished: readonly string[];
	/** Whether so many milliseconds may still be waited. If not, the reading ends. */
	mayWait: (ms: number) => boolean;
	/** Time; its sleep may throw to end the reading. */
	clock: Clock;
	/** Called when the record shows the end: a report that comes later may be of another outcome. */
	onEnded: () => void;
	/** Puts each read in its turn. */
	limiter: Limiter;
};

/**
 * Reads until the service answers, also when it is down for a while, and until the call shows its end.
 *
 * @throws ShowsNoEnd when the time is over before that
 */
export async function readCompletedCall(
	client: ApiClient,
	callId: string,
	{ included, finished, mayWait, clock, onEnded, limiter }: ReadBack,
): Promise<JsonObject> {
	const throughOutages = async <T>(act: () => Promise<T>) =>
		await throughOutage({ clock, mayWait }, async () => await limiter(act));
	const read = async () => await throughOutages(async () => await readCallRecord(client, callId));
	let record = await read().catch(async (error: unknown) => {
		if (!isUnknownCall(error)) throw error;
		await clock.sleep(UNKNOWN_WAIT_MS);
		return await read();
	});
	for (let reading = 1; !hasEnded(record, finished); reading++) {
		const wait = backoffMs(LAG_BACKOFF, reading);
		if (!mayWait(wait)) throw new NotEndedYet(record.status ?? null);
		await clock.sleep(wait);
		record = await read();
	}
	onEnded();
	const more = async () => await readIncluded(client, callId, included);
	return { ...record, ...(await throughOutages(more)) };
}

/** Transcript and recording; a call that has none of them shows `[]` and `null`. */
async function readIncluded(
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
