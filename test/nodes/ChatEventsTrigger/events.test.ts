import { setTimeout as realSleep } from 'node:timers/promises';
import { speedUp } from '../../engine';
import { eventually } from '../chatHarness';
import { eventsOf, sessions, triggerHarness } from './triggerHarness';

const harness = triggerHarness();

const count = async (list: unknown[], min: number) => await eventually(() => list.length >= min);

test('the key differs between sessions, events, and nodes, and stays the same after a restart', async () => {
	const parameters = { sessionIds: `${sessions.open}, ${sessions.dormant}` };
	const active = await harness.start(parameters);
	const { sessions: control } = harness.service();
	await harness.connected(2);
	const first = control.pushEvent(sessions.open, 'one');
	control.pushEvent(sessions.open, 'two');
	control.pushEvent(sessions.dormant, 'three');
	await count(active.emitted, 3);
	const keys = active.emitted.map(({ deduplicationKey }) => deduplicationKey);
	expect(new Set(keys).size).toBe(3);
	active.endExecutions();
	await active.stop();
	await harness.connected(0);

	// The service replays events to the same client, and n8n ignores stored keys.
	const again = await harness.start(parameters, 'init');
	await count(again.emitted, 3);
	expect(new Set(again.emitted.map(({ deduplicationKey }) => deduplicationKey))).toEqual(
		new Set(keys),
	);
	expect(again.emitted.some(({ items }) => items[0]?.[0]?.json.event_id === first)).toBe(true);
});

test('two triggers start with the same event, each with a key of its own', async () => {
	const parameters = { sessionIds: sessions.open };
	const both = [
		await harness.start(parameters),
		await harness.start(parameters, 'activate', {}, { id: 'other-node' }),
	];
	await harness.connected();
	harness.service().sessions.pushEvent(sessions.open, 'one');
	await Promise.all(both.map(async ({ emitted }) => await count(emitted, 1)));
	const [one, other] = both.flatMap(({ emitted }) => emitted);
	expect(one?.deduplicationKey).not.toBe(other?.deduplicationKey);
});

test('an event without an ID starts an execution each time, with a new key', async () => {
	const active = await harness.start({ sessionIds: sessions.open });
	const other = JSON.stringify({ type: 'odd', payload: {} });
	harness.service().sessions.pushRaw(sessions.open, other);
	harness.service().sessions.pushRaw(sessions.open, other);
	await count(active.emitted, 2);
	const keys = active.emitted.map(({ deduplicationKey }) => deduplicationKey);
	expect(keys).toEqual([expect.any(String), expect.any(String)]);
	expect(new Set(keys).size).toBe(2);
});

test('only chosen and custom types start executions', async () => {
	const active = await harness.start({
		sessionIds: sessions.open,
		eventTypes: ['mode_changed'],
		developerSettings: { otherEventTypes: 'typing_started' },
	});
	const { sessions: control } = harness.service();
	control.nudge(sessions.open);
	control.setMode(sessions.open, 'support');
	control.pushEvent(sessions.open, 'typing_started');
	await count(active.emitted, 2);
	expect(eventsOf(active)).toEqual(['mode_changed', 'typing_started']);
});

test('starts the workflow for a frame of 9 million characters', async () => {
	const active = await harness.start({ sessionIds: sessions.open });
	const { sessions: control } = harness.service();
	control.pushEvent(sessions.open, 'message_received', { content: 'x'.repeat(9_000_000) });
	await count(active.emitted, 1);
	expect(eventsOf(active)).toEqual(['message_received']);
});

describe('three token renewals under a stream of events', () => {
	const RENEWALS = 3;

	/** Pushes events, one per millisecond while the socket is replaced. Returns the lost ones by their position. */
	async function lostOf(replayMaxEvents: number | undefined) {
		const active = await harness.start({ sessionIds: sessions.open });
		await harness.connected();
		const { sessions: control, settings, requests } = harness.service();
		if (replayMaxEvents !== undefined) settings.replayMaxEvents = replayMaxEvents;
		const countOf = (end: string) => requests.filter(({ path }) => path.endsWith(end)).length;
		const pushed: string[] = [];
		speedUp(2_000);
		while (countOf('/user-stream') <= RENEWALS) {
			active.endExecutions();
			pushed.push(control.pushEvent(sessions.open, 'typing'));
			// One token is for the check when the workflow is published.
			await realSleep(countOf('/ws_token') > countOf('/user-stream') + 1 ? 1 : 5);
		}
		await harness.connected();
		const last = control.pushEvent(sessions.open, 'typing');
		const started = () => active.emitted.map(({ items }) => items[0]?.[0]?.json.event_id);
		await eventually(() => started().includes(last));
		expect(new Set(started()).size).toBe(started().length);
		return pushed.flatMap((id, index) => (started().includes(id) ? [] : [index]));
	}

	test('every event starts the workflow once, if the service replays them', async () => {
		expect(await lostOf(undefined)).toEqual([]);
	});

	/** On one machine, one to three events a renewal, so one to three milliseconds. */
	test('without a replay, only those are lost that happen while the socket is replaced', async () => {
		const lost = await lostOf(0);
		const gaps = lost.filter((index) => !lost.includes(index - 1));
		expect(gaps.length).toBeLessThanOrEqual(RENEWALS);
	});
});
