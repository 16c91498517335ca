import {
	fingerprintsFromText,
	fingerprintsToText,
} from '../../../../nodes/CallCompletedTrigger/reading/fingerprints';
import { MAX_OUTCOMES, ReadState } from '../../../../nodes/CallCompletedTrigger/reading/readState';
import { fingerprint64 } from '../../../../nodes/shared/hash';

const HOUR_MS = 3_600_000;
const stored = (state: ReadState, now = 0): unknown =>
	JSON.parse(JSON.stringify(state.toStored(now)));
const restored = (state: ReadState, now: number, storedAt = 0): ReadState => {
	const again = ReadState.restore(stored(state, storedAt), state.subject, now);
	if (again === undefined) throw new Error('nothing was restored');
	return again;
};

describe('fingerprints', () => {
	it('are restored from their text', () => {
		const added = new Set([
			0n,
			1n,
			2n ** 64n - 1n,
			...Array.from({ length: 5_000 }, (_, n) => fingerprint64(`${n}`)),
		]);
		const text = fingerprintsToText(added);
		expect(text).toHaveLength(4 * Math.ceil((8 * added.size) / 3));
		expect(fingerprintsFromText(text)).toEqual(added);
		expect(fingerprintsFromText(fingerprintsToText(new Set()))).toEqual(new Set());
	});
});

describe('ReadState', () => {
	const publishedAt = Date.parse('2026-11-22T10:00:00Z');

	function withLists(): ReadState {
		const state = new ReadState('calls');
		state.openList('1', -Infinity);
		state.openList('2', publishedAt);
		state.addSeen('1', 11n);
		state.addSeen('2', 21n);
		return state;
	}

	it('is restored with its lists, and only for the same calls', () => {
		const state = withLists();
		state.isBegun = true;
		state.since = publishedAt;
		state.unlisted.set(7, 4);
		state.finish('2', { campaignId: 7, queues: '[]', latest: publishedAt + 5, count: 7 });
		const again = restored(state, publishedAt);
		expect(again).toMatchObject({ since: publishedAt, isBegun: true, size: 1 });
		expect([...again.unlisted]).toEqual([[7, 4]]);
		expect(again.isSeen('1', 11n)).toBe(true);
		expect(again.isSeen('1', 12n)).toBe(false);
		expect(again.openList('1', 0).after).toBe(-Infinity);
		expect([...again.finished]).toEqual([
			['2', { campaignId: 7, queues: '[]', latest: publishedAt + 5, count: 7 }],
		]);
		expect(ReadState.restore(stored(state), 'others', 0)).toBeUndefined();
		expect(ReadState.restore(undefined, 'calls', 0)).toBeUndefined();
	});

	it('forgets the outcomes of a finished list, and reads only later calls when it is read again', () => {
		const state = withLists();
		state.finish('1', { campaignId: 7, queues: '[]', latest: 99, count: 1 });
		expect(state.isKnown('1')).toBe(true);
		expect(state.size).toBe(1);
		state.addSeen('1', 12n);
		expect(state.size).toBe(1);
		state.reopen('1');
		expect(state.finished.size).toBe(0);
		expect(restored(state, 0).openList('1', 0).after).toBe(99);
	});

	it('an outcome whose execution has not ended is started again after a restart, within a day', () => {
		const state = withLists();
		state.addStarted('1', 13n);
		expect(state.isSeen('1', 13n)).toBe(true);
		expect(state.hasStarted('1')).toBe(true);
		expect(restored(state, publishedAt + 23 * HOUR_MS, publishedAt).isSeen('1', 13n)).toBe(false);
		expect(restored(state, publishedAt + 24 * HOUR_MS, publishedAt).isSeen('1', 13n)).toBe(true);
		state.settle('1', 13n, true);
		expect(restored(state, publishedAt, publishedAt).isSeen('1', 13n)).toBe(true);
		expect(state.hasStarted('1')).toBe(false);
	});

	it('an outcome that n8n could not start is not remembered', () => {
		const state = withLists();
		state.addStarted('1', 13n);
		state.settle('1', 13n, false);
		expect(state.isSeen('1', 13n)).toBe(false);
	});

	it('outcomes of lists that are not read are not remembered', () => {
		const state = withLists();
		state.addStarted('3', 31n);
		state.settle('3', 31n, true);
		expect(state.isSeen('3', 31n)).toBe(false);
		expect(state.size).toBe(2);
	});

	it('1,000,000 outcomes take less than 11 MB in n8n, and a finished list less than 130 bytes', () => {
		const state = new ReadState('calls');
		state.openList('1', -Infinity);
		for (let n = 1n; n <= MAX_OUTCOMES; n++)
			state.addSeen('1', (n * 0x9e3779b97f4a7c15n) % 2n ** 64n);
		expect(state.size).toBe(1_000_000);
		const text = JSON.stringify(state.toStored(0));
		expect(text.length).toBeGreaterThan(10_666_000);
		expect(text.length).toBeLessThan(10_667_200);
		const lists = new ReadState('calls');
		const empty = JSON.stringify(lists.toStored(0)).length;
		for (let id = 0; id < 100; id++) {
			const queues = '[["agent_sales_in",10000,true]]';
			const finished = { campaignId: 2_031, queues, latest: publishedAt, count: 10_000 };
			lists.finish(String(900_000 + id), finished);
		}
		expect((JSON.stringify(lists.toStored(0)).length - empty) / 100).toBeLessThan(130);
	});
});
