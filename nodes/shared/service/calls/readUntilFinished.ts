import pLimit from 'p-limit';
import { hasFinishedStatus } from './completion';
import { ExplainedError, isTransient } from '../core/explained';
import type { Clock } from '../core/http';
import type { ReadCall } from './openCalls';
import type { JsonObject } from '../types';

const FIRST_INTERVAL_MS = 5_000;
const LONGEST_INTERVAL_MS = 60_000;
const GROWTH = 1.5;
const READS_AT_ONCE = 10;

/** A call that the service refuses to show this often in a row is not asked for again. */
const MOST_REFUSALS = 3;

export type WaitedCall = {
	/** As last read; empty when it never was. */
	record: JsonObject;
	isOver: boolean;
	/** Why it is not read any more. */
	refused?: string;
	refusals: number;
};

/** Reads the calls in rounds, at growing intervals, until each has a finished status or the time is over. */
export async function readUntilFinished(
	callIds: readonly string[],
	finished: readonly string[],
	read: ReadCall,
	{ clock, until }: { clock: Clock; until: number },
): Promise<Map<string, WaitedCall>> {
	const calls = new Map<string, WaitedCall>();
	for (const callId of callIds) calls.set(callId, { record: {}, isOver: false, refusals: 0 });
	const limit = pLimit(READS_AT_ONCE);
	for (let interval = FIRST_INTERVAL_MS; ; interval = longer(interval)) {
		const open = [...calls].filter(([, { isOver, refused }]) => !isOver && refused === undefined);
		const left = until - clock.now();
		if (open.length === 0 || left <= 0) return calls;
		await clock.sleep(Math.min(interval, left));
		const reading = open.map(([callId, call]) =>
			limit(async () => await look(callId, call, finished, read)),
		);
		await Promise.all(reading);
	}
}

function longer(interval: number): number {
	return Math.min(LONGEST_INTERVAL_MS, interval * GROWTH);
}

async function look(
	callId: string,
	call: WaitedCall,
	finished: readonly string[],
	read: ReadCall,
): Promise<void> {
	try {
		call.record = await read(callId);
		call.refusals = 0;
		call.isOver = hasFinishedStatus(call.record, finished);
	} catch (error) {
		// The call has been placed whatever happens now, so nothing here may stop the others.
		if (isTransient(error)) return;
		call.refusals++;
		if (call.refusals >= MOST_REFUSALS) call.refused = sentences(error);
	}
}

function sentences(error: unknown): string {
	if (error instanceof ExplainedError) return `${error.message}. ${error.todo}`;
	return error instanceof Error ? error.message : String(error);
}
