import { transcriptTurns, withExpiry } from './callRecord';
import { isOver, OBSERVED_OUTCOMES } from './completion';
import { getCall, getRecording, getTranscript } from '../endpoints';
import { recordOf } from '../core/envelope';
import { ExplainedError, isRefusal, isTransient } from '../core/explained';
import type { Clock } from '../core/http';
import type { Service } from '../core/service';
import type { JsonObject } from '../types';

export type Included = { transcript: boolean; recording: boolean };

/** The record may lag behind its webhook a little; each wait before it is read again. */
const LAG_WAITS_MS = [1_000, 2_000, 4_000];
const UNKNOWN_WAIT_MS = 1_000;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;

/** The service holds another call under this ID: nothing of it may be used. */
export class OtherCall extends Error {
	override readonly name = 'OtherCall';
}

/** The call as the service itself holds it. */
export async function readCall(service: Service, callId: string): Promise<JsonObject> {
	const record = recordOf(await getCall(service, callId));
	if (record.call_id !== undefined && record.call_id !== callId) throw new OtherCall();
	return record;
}

/** Reads until the service answers, also when it is down for a while, and until the call shows its end. */
export async function readCompletedCall(
	service: Service,
	callId: string,
	included: Included,
	until: number,
): Promise<JsonObject> {
	const { clock } = service;
	const read = async () =>
		await throughOutage(clock, until, async () => await readCall(service, callId));
	let record = await read().catch(async (error: unknown) => {
		if (!isUnknownCall(error)) throw error;
		await clock.sleep(UNKNOWN_WAIT_MS);
		return await read();
	});
	for (const wait of LAG_WAITS_MS) {
		if (isOver(record, OBSERVED_OUTCOMES)) break;
		await clock.sleep(wait);
		record = await read();
	}
	const more = async () => await readIncluded(service, callId, included);
	return { ...record, ...(await throughOutage(clock, until, more)) };
}

/** Transcript and recording; a call that has none of them shows `[]` and `null`. */
async function readIncluded(
	service: Service,
	callId: string,
	{ transcript, recording }: Included,
): Promise<JsonObject> {
	return {
		...(transcript && {
			transcript: transcriptTurns(recordOf(await getTranscript(service, callId))),
		}),
		...(recording && { recording: await readRecording(service, callId) }),
	};
}

async function throughOutage<T>(clock: Clock, until: number, act: () => Promise<T>): Promise<T> {
	for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
		const result = await act().then(
			(value) => ({ value }),
			(error: unknown) => {
				if (!isTransient(error) || clock.now() + wait > until) throw error;
				return undefined;
			},
		);
		if (result !== undefined) return result.value;
		await clock.sleep(wait);
	}
}

export function isUnknownCall(error: unknown): boolean {
	return error instanceof OtherCall || isRefusal(error, 'call_not_found');
}

/** For an item of the output: why its call could not be read, and what to do. */
export function whyNotRead(error: unknown): string {
	if (error instanceof ExplainedError) return `${error.message}. ${error.todo}`;
	return error instanceof Error ? error.message : String(error);
}

async function readRecording(service: Service, callId: string): Promise<JsonObject | null> {
	const askedAt = service.clock.now();
	const answer = await getRecording(service, callId).catch((error: unknown) => {
		if (isRefusal(error, 'recording_not_available')) return undefined;
		throw error;
	});
	return answer === undefined ? null : withExpiry(recordOf(answer), askedAt);
}
