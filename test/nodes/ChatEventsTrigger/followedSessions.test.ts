import { FollowedSessions } from '../../../nodes/ChatEventsTrigger/followedSessions';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import type { EndingKind } from '../../../nodes/shared/chat/reconnectPolicy';
import { ChatEnded } from '../../../nodes/shared/chat/endings';
import type { Readiness } from '../../../nodes/shared/chat/ackWaiter';

const TEXT = { message: 'It ended', resolution: forEveryone('Look.') };
const endingOf = (kind: EndingKind, status: number | null = null) =>
	new ChatEnded(kind, TEXT, undefined, null, status);
const gone = endingOf('unreachable');

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());
const after = async (ms: number) => await jest.advanceTimersByTimeAsync(ms);

/** Sessions whose connections are controlled by the test. */
function followed() {
	const startedAt = Date.now();
	const opened: Array<{ at: number; id: string; lose: (ending: ChatEnded) => void }> = [];
	const closed: string[] = [];
	const reported: ChatEnded[] = [];
	const waiting = new Map<string, () => void>();
	let readiness: () => Promise<Readiness> = async () => await Promise.resolve({ kind: 'open' });
	const sessions = new FollowedSessions({
		open: (id, lose) => {
			opened.push({ at: Date.now() - startedAt, id, lose });
			return { ready: async () => await readiness(), close: () => void closed.push(id) };
		},
		whenConnected: (id, onConnected) => {
			waiting.set(id, onConnected);
			return () => waiting.delete(id);
		},
		onLost: (_id, ending) => reported.push(ending),
	});
	return {
		sessions,
		opened,
		closed,
		reported,
		/** Calls `onConnected` of the sessions that wait for another node. */
		waiting,
		times: () => opened.map(({ at }) => at / 1_000),
		/** Ends the latest connection. */
		lose: async (ending = gone) => {
			await after(0);
			opened.at(-1)?.lose(ending);
			await after(0);
		},
		neverReady: () => (readiness = async () => await new Promise<Readiness>(() => {})),
	};
}

test('retries a failed session after 1, 2, 4, 8, and then every 15 minutes, and reports it once', async () => {
	const { sessions, lose, times, reported } = followed();
	sessions.follow('a');
	for (const minutes of [1, 2, 4, 8, 15, 15]) {
		await lose();
		await after(minutes * 60_000);
	}
	expect(times().map((at) => at / 60)).toEqual([0, 1, 3, 7, 15, 30, 45]);
	expect(reported).toEqual([gone]);
});

test.each([
	[3_599_999, 1, 120],
	[3_600_000, 2, 60],
])(
	'connected for %i ms in between: reported %i times, retried after %i s',
	async (ms, times, wait) => {
		const { sessions, lose, opened, reported } = followed();
		sessions.follow('a');
		await lose();
		await after(60_000);
		expect(opened).toHaveLength(2);
		await after(ms);
		await lose();
		expect(reported).toHaveLength(times);
		await after(wait * 1_000 - 1);
		expect(opened).toHaveLength(2);
		await after(1);
		expect(opened).toHaveLength(3);
	},
);

test("a session that was never connected doesn't count as connected", async () => {
	const { sessions, lose, reported, neverReady } = followed();
	neverReady();
	sessions.follow('a');
	await lose();
	await after(60_000);
	await after(4_000_000);
	await lose();
	expect(reported).toHaveLength(1);
});

test.each<[EndingKind, number | null, boolean]>([
	['session_closed', null, true],
	['mint_rejected', 404, true],
	['mint_rejected', 401, false],
	['bad_url', null, true],
	['client_bug', null, true],
	['agent_inactive', null, false],
	['in_use_or_inactive', null, false],
	['token_rejected', null, false],
	['unreachable', null, false],
	['displaced', null, false],
])('%s (%j) after other failures is final: %s', async (kind, status, isFinal) => {
	const { sessions, lose, opened, reported } = followed();
	sessions.follow('a');
	await lose();
	await after(60_000);
	await lose(endingOf(kind, status));
	expect(reported).toHaveLength(isFinal ? 2 : 1);
	expect(sessions.size).toBe(isFinal ? 0 : 1);
	await after(3_600_000);
	expect(opened).toHaveLength(isFinal ? 2 : 3);
});

test('follow() retries a waiting session immediately, and only once', async () => {
	const { sessions, lose, times } = followed();
	const session = sessions.follow('a');
	await lose();
	await after(10_000);
	expect(sessions.follow('a')).toBe(session);
	await after(600_000);
	expect(times()).toEqual([0, 10]);
});

test('a waiting session is retried when another node has connected it, and only once', async () => {
	const { sessions, lose, times, waiting } = followed();
	sessions.follow('a');
	expect(waiting.size).toBe(0);
	await lose();
	await after(10_000);
	waiting.get('a')?.();
	await after(600_000);
	expect(times()).toEqual([0, 10]);
	expect(waiting.size).toBe(0);
});

test('a session that is unfollowed stops waiting for another node', async () => {
	const { sessions, lose, waiting } = followed();
	sessions.follow('a');
	await lose();
	expect([...waiting.keys()]).toEqual(['a']);
	await sessions.unfollow('a');
	await after(0);
	expect(waiting.size).toBe(0);
});

test("follow() doesn't change a connected session", async () => {
	const { sessions, opened } = followed();
	sessions.follow('a');
	await after(1_000);
	sessions.follow('a');
	expect(opened).toHaveLength(1);
});

test('unfollowed sessions are closed and not retried', async () => {
	const { sessions, lose, opened, closed } = followed();
	for (const id of ['a', 'b', 'c']) sessions.follow(id);
	await lose();
	await sessions.unfollow('a');
	expect([closed, sessions.size]).toEqual([['a'], 2]);
	await sessions.closeAll();
	expect([closed, sessions.size]).toEqual([['a', 'b', 'c'], 0]);
	await after(3_600_000);
	expect(opened).toHaveLength(3);
});

test('followAll returns when all statuses are known, or after the timeout', async () => {
	const { sessions, neverReady, opened } = followed();
	expect(await sessions.followAll(['a', 'b'], 10_000)).toEqual([
		{ sessionId: 'a', connected: true, ended: null },
		{ sessionId: 'b', connected: true, ended: null },
	]);
	expect(opened.map(({ id }) => id)).toEqual(['a', 'b']);
	neverReady();
	let result: unknown;
	void sessions.followAll(['c'], 10_000).then((statuses) => (result = statuses));
	await after(9_999);
	expect(result).toBeUndefined();
	await after(1);
	expect(result).toEqual([{ sessionId: 'c', connected: false, ended: null }]);
});

test('connects 20 sessions at the same time, and a slow one makes room after 5 seconds', async () => {
	const { sessions, opened, neverReady } = followed();
	neverReady();
	for (let count = 0; count < 50; count++) sessions.follow(`s${count}`);
	await after(0);
	expect(opened).toHaveLength(20);
	await after(4_999);
	expect(opened).toHaveLength(20);
	await after(1);
	expect(opened).toHaveLength(40);
	await sessions.unfollow('s45');
	await after(5_000);
	expect(opened.map(({ id }) => id)).not.toContain('s45');
	expect(opened).toHaveLength(49);
});

test('a connected session makes room immediately', async () => {
	const { sessions, opened } = followed();
	for (let count = 0; count < 50; count++) sessions.follow(`s${count}`);
	await after(0);
	expect(opened).toHaveLength(50);
});

test('ready() of a waiting session resolves when it is unfollowed', async () => {
	const { sessions, neverReady } = followed();
	neverReady();
	for (let count = 0; count < 20; count++) sessions.follow(`s${count}`);
	const ready = sessions.follow('last').ready();
	await sessions.unfollow('last');
	expect(await ready).toEqual({ kind: 'closed_by_us' });
});
