import { READS_AT_ONCE } from '../../shared/api/limits';
import pLimit from 'p-limit';
import { hasEnded, type CallState } from '../../shared/calls/callEnd';
import { isTransient } from '../../shared/api/errors';
import type { Reader } from '../../shared/api/resolution';
import { backoffMs, type Backoff, type Clock } from '../../shared/clock';
import type { ReadRecord } from './pendingCalls';
import { whyNotRead } from '../../shared/notRead';

const READ_BACKOFF: Backoff = { firstMs: 5_000, maxMs: 60_000, factor: 1.5 };

/** On average, this process reads a call for all of its waits at most this often. With many calls, each is read less often. */
const READ_EVERY_MS = 20;

/** Pending calls of all waits in this process. */
let pendingInProcess = 0;

/** A call is no longer read after this many rejected reads in a row. */
const MAX_REJECTIONS = 3;

export type WaitedCall = CallState & {
	/** Rejected reads in a row, without temporary failures. */
	rejections: number;
};

/**
 * Reads the calls in rounds, at growing intervals, until each one is completed or the time limit is reached.
 *
 * @param until in milliseconds of the clock's `elapsed()`
 * @param reader of the message about a call that can't be read
 */
export async function readUntilFinished(
	callIds: readonly string[],
	finished: readonly string[],
	read: ReadRecord,
	{ clock, until, reader }: { clock: Clock; until: number; reader: Reader },
): Promise<Map<string, WaitedCall>> {
	const calls = new Map<string, WaitedCall>();
	for (const callId of callIds) calls.set(callId, { record: {}, hasEnded: false, rejections: 0 });
	const limit = pLimit(READS_AT_ONCE);
	for (let round = 1; ; round++) {
		const pending = [...calls].filter(
			([, { hasEnded, rejections }]) => !hasEnded && rejections < MAX_REJECTIONS,
		);
		const remaining = until - clock.elapsed();
		if (pending.length === 0 || remaining <= 0) return calls;
		await pauseBefore(round, pending.length, remaining, clock);
		const reads = pending.map(([callId, call]) =>
			limit(async () => await poll(callId, call, { finished, read, reader })),
		);
		await Promise.all(reads);
	}
}

async function pauseBefore(
	round: number,
	calls: number,
	remaining: number,
	clock: Clock,
): Promise<void> {
	pendingInProcess += calls;
	try {
		const ms = Math.max(backoffMs(READ_BACKOFF, round), pendingInProcess * READ_EVERY_MS);
		await clock.sleep(Math.min(ms, remaining));
	} finally {
		pendingInProcess -= calls;
	}
}

async function poll(
	callId: string,
	call: WaitedCall,
	{ finished, read, reader }: { finished: readonly string[]; read: ReadRecord; reader: Reader },
): Promise<void> {
	try {
		call.record = await read(callId);
		delete call.readFailure;
		call.rejections = 0;
		call.hasEnded = hasEnded(call.record, finished);
	} catch (error) {
		// The call was placed, so a failed read must not stop the node.
		call.readFailure = whyNotRead(error, reader);
		if (!isTransient(error)) call.rejections++;
	}
}
