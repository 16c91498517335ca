import { READS_AT_ONCE } from '../../shared/api/limits';
import pLimit from 'p-limit';
import { hasEnded, type CallState } from '../../shared/calls/callEnd';
import { isTransient } from '../../shared/api/errors';
import type { Reader } from '../../shared/api/modelAdvice';
import { backoffMs, type Backoff, type Clock } from '../../shared/clock';
import type { ReadRecord } from './pendingCalls';
import { whyNotRead } from '../../shared/notRead';

const READ_BACKOFF: Backoff = { firstMs: 5_000, maxMs: 60_000, factor: 1.5 };

/** A call is no longer read after this many rejected reads in a row. */
const MAX_REJECTIONS = 3;

export type WaitedCall = CallState & {
	/** In a row; an outage is none. */
	rejections: number;
};

/**
 * Reads the calls in rounds, at growing intervals, until each is over or the time is.
 *
 * @param until by the clock's elapsed time
 * @param reader who is told why a call could not be read
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
		const open = [...calls].filter(
			([, { hasEnded, rejections }]) => !hasEnded && rejections < MAX_REJECTIONS,
		);
		const left = until - clock.elapsed();
		if (open.length === 0 || left <= 0) return calls;
		await clock.sleep(Math.min(backoffMs(READ_BACKOFF, round), left));
		const reading = open.map(([callId, call]) =>
			limit(async () => await poll(callId, call, { finished, read, reader })),
		);
		await Promise.all(reading);
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
		// The call has been placed whatever happens now, so nothing here may stop the others.
		call.readFailure = whyNotRead(error, reader);
		if (!isTransient(error)) call.rejections++;
	}
}
