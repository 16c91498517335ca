import { statusKey } from '../../../../nodes/core/calls/callEnd';
import { CallWatch } from '../../../../nodes/core/calls/callWatch';
import type { JsonObject } from '../../../../nodes/core/values/json';
import { virtualClock } from '../service/virtualClock';

const IDS = Array.from({ length: 30 }, (_, index) => `call-${index}`);
const FINISHED = new Set(['not_picked', 'voicemail'].map(statusKey));
const HOUR = 3_600_000;
const ENDED = { status: 'not_picked' };

const watchOf = (callIds: readonly string[], read: (callId: string) => Promise<JsonObject>) =>
	new CallWatch(callIds, { read, finished: FINISHED });

describe('reading until all have ended', () => {
	it('reads each call at growing intervals until it has ended', async () => {
		const clock = virtualClock();
		const reads = new Map<string, number>();
		const watch = watchOf(IDS, async (callId) => {
			const times = (reads.get(callId) ?? 0) + 1;
			reads.set(callId, times);
			const isLast = callId === 'call-29';
			return { call_id: callId, status: times >= (isLast ? 8 : 2) ? 'not_picked' : 'ringing' };
		});
		await watch.readUntilAllEnded(clock, HOUR);
		expect(watch.pending).toEqual([]);
		expect(reads.get('call-0')).toBe(2);
		expect(reads.get('call-29')).toBe(8);
		expect(clock.slept).toEqual([5000, 7500, 11250, 16875, 25313, 37969, 56953, 60000]);
	});

	it('has at max ten reads in flight', async () => {
		let inFlight = 0;
		let max = 0;
		const watch = watchOf(IDS, async () => {
			max = Math.max(max, ++inFlight);
			await Promise.resolve();
			inFlight--;
			return ENDED;
		});
		await watch.readUntilAllEnded(virtualClock(), HOUR);
		expect(max).toBe(10);
	});

	it('a call that cannot be read anymore keeps what was read before', async () => {
		const ringing = { status: 'ringing' };
		let reads = 0;
		const watch = watchOf(['a'], async () => {
			if (++reads > 1) throw new Error('away');
			return ringing;
		});
		await watch.readUntilAllEnded(virtualClock(), HOUR);
		expect(watch.state('a')).toEqual({ record: ringing, hasEnded: false, readFailure: 'away' });
	});

	it('reads a last time at the limit', async () => {
		const clock = virtualClock();
		const watch = watchOf(['a'], async () => ({
			status: clock.now() === 8_000 ? 'not_picked' : 'ringing',
		}));
		await watch.readUntilAllEnded(clock, 8_000);
		expect(clock.slept).toEqual([5_000, 3_000]);
		expect(watch.pending).toEqual([]);
	});
});
