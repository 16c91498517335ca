import { FollowedSessions } from '../../../nodes/ChatEventsTrigger/followedSessions';
import { forEveryone } from '../../../nodes/shared/api/modelAdvice';
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

/** Sessions whose connections stand and end as the test says. */
function followed() {
	const begun = Date.now();
	const opened: Array<{ at: number; id: string; lose: (ending: ChatEnded) => void }> = [];
	const closed: string[] = [];
	const told: ChatEnded[] = [];
	let readiness: () => Promise<Readiness> = async () => await Promise.resolve({ kind: 'open' });
	const sessions = new FollowedSessions({
		open: (id, lose) => {
			opened.push({ at: Date.now() - begun, id, lose });
			return { ready: async () => await readiness(), close: () => void closed.push(id) };
		},
		onLost: (_id, ending) => told.push(ending),
	});
	return {
		sessions,
		opened,
		closed,
		told,
		times: () => opened.map(({ at }) => at / 1_000),
		/** The latest connection is given up. */
		lose: async (ending = gone) => {
			opened.at(-1)?.lose(ending);
			await after(0);
		},
		neverReady: () => (readiness = async () => await new Promise<Readiness>(() => {})),
	};
}

test('a session that is given up is followed again after 1, 2, 4, 8 and then each 15 minutes, its owner told once', async () => {
	const { sessions, lose, times, told } = followed();
	sessions.follow('a');
	for (const minutes of [1, 2, 4, 8, 15, 15]) {
		await lose();
		await after(minutes * 60_000);
	}
	expect(times().map((at) => at / 60)).toEqual([0, 1, 3, 7, 15, 30, 45]);
	expect(told).toEqual([gone]);
});

test.each([
	[3_599_999, 1, 120],
	[3_600_000, 2, 60],
])('held for %i ms in between: told %i times, tried again after %i s', async (ms, times, wait) => {
	const { sessions, lose, opened, told } = followed();
	sessions.follow('a');
	await lose();
	await after(60_000);
	expect(opened).toHaveLength(2);
	await after(ms);
	await lose();
	expect(told).toHaveLength(times);
	await after(wait * 1_000 - 1);
	expect(opened).toHaveLength(2);
	await after(1);
	expect(opened).toHaveLength(3);
});

test('a session that never stood is not taken for one that was held', async () => {
	const { sessions, lose, told, neverReady } = followed();
	neverReady();
	sessions.follow('a');
	await lose();
	await after(60_000);
	await after(4_000_000);
	await lose();
	expect(told).toHaveLength(1);
});

test.each<[EndingKind, number | null, boolean]>([
	['session_closed', null, true],
	['mint_rejected', 404, true],
	['mint_rejected', 401, false],
	['bad_address', null, true],
	['defect', null, true],
	['agent_inactive', null, false],
	['held_or_inactive', null, false],
	['token_rejected', null, false],
	['unreachable', null, false],
	['lost_place', null, false],
])('%s (%j) after others is final: %s', async (kind, status, isFinal) => {
	const { sessions, lose, opened, told } = followed();
	sessions.follow('a');
	await lose();
	await after(60_000);
	await lose(endingOf(kind, status));
	expect(told).toHaveLength(isFinal ? 2 : 1);
	expect(sessions.size).toBe(isFinal ? 0 : 1);
	await after(3_600_000);
	expect(opened).toHaveLength(isFinal ? 2 : 3);
});

test('one that rests is tried at once when it is asked for, and not twice', async () => {
	const { sessions, lose, times } = followed();
	const session = sessions.follow('a');
	await lose();
	await after(10_000);
	expect(sessions.follow('a')).toBe(session);
	await after(600_000);
	expect(times()).toEqual([0, 10]);
});

test('one that is connected is left as it is when it is asked for', async () => {
	const { sessions, opened } = followed();
	sessions.follow('a');
	await after(1_000);
	sessions.follow('a');
	expect(opened).toHaveLength(1);
});

test('what is left, one or all, is closed and tried no more', async () => {
	const { sessions, lose, opened, closed } = followed();
	for (const id of ['a', 'b', 'c']) sessions.follow(id);
	await lose();
	await sessions.leave('a');
	expect([closed, sessions.size]).toEqual([['a'], 2]);
	await sessions.closeAll();
	expect([closed, sessions.size]).toEqual([['a', 'b', 'c'], 0]);
	await after(3_600_000);
	expect(opened).toHaveLength(3);
});

test('how several stand is told when all are known, or when the time is over', async () => {
	const { sessions, neverReady, opened } = followed();
	expect(await sessions.followAll(['a', 'b'], 10_000)).toEqual([
		{ sessionId: 'a', connected: true, ended: null },
		{ sessionId: 'b', connected: true, ended: null },
	]);
	expect(opened.map(({ id }) => id)).toEqual(['a', 'b']);
	neverReady();
	let told: unknown;
	void sessions.followAll(['c'], 10_000).then((standings) => (told = standings));
	await after(9_999);
	expect(told).toBeUndefined();
	await after(1);
	expect(told).toEqual([{ sessionId: 'c', connected: false, ended: null }]);
});

test('20 sessions connect at the same time; one that takes long makes room after 5 seconds', async () => {
	const { sessions, opened, neverReady } = followed();
	neverReady();
	for (let count = 0; count < 50; count++) sessions.follow(`s${count}`);
	expect(opened).toHaveLength(20);
	await after(4_999);
	expect(opened).toHaveLength(20);
	await after(1);
	expect(opened).toHaveLength(40);
	await sessions.leave('s45');
	await after(5_000);
	expect(opened.map(({ id }) => id)).not.toContain('s45');
	expect(opened).toHaveLength(49);
});

test('one that connects makes room at once', async () => {
	const { sessions, opened } = followed();
	for (let count = 0; count < 50; count++) sessions.follow(`s${count}`);
	await after(0);
	expect(opened).toHaveLength(50);
});

test('how a session stands that still waits to connect is told when it is left', async () => {
	const { sessions, neverReady } = followed();
	neverReady();
	for (let count = 0; count < 20; count++) sessions.follow(`s${count}`);
	const ready = sessions.follow('last').ready();
	await sessions.leave('last');
	expect(await ready).toEqual({ kind: 'closed_by_us' });
});
