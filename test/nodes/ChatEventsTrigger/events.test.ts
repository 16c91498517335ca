import { setTimeout as realSleep } from 'node:timers/promises';
import { passTime } from '../../engine';
import { chatHarness, eventIds, eventually, sessions, typesOf } from '../chatHarness';

const harness = chatHarness('chatEventsTrigger', {});

/** After this time, a token is renewed. */
const DUE_MS = 241_000;

const count = async (list: unknown[], min: number) => await eventually(() => list.length >= min);

test('the key differs between sessions and events, and stays the same after a restart', async () => {
	const parameters = { sessionIds: `${sessions.open}, ${sessions.dormant}` };
	const active = await harness.publish(parameters);
	const { sessions: control } = harness.simulator();
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
	const again = await harness.publish(parameters, 'init');
	await count(again.emitted, 3);
	expect(new Set(again.emitted.map(({ deduplicationKey }) => deduplicationKey))).toEqual(
		new Set(keys),
	);
	expect(eventIds(again)).toContain(first);
});

test('an event without an ID starts an execution each time, with a new key', async () => {
	const active = await harness.publish({ sessionIds: sessions.open });
	for (let time = 0; time < 2; time++) harness.receives({ type: 'odd', payload: {} });
	await count(active.emitted, 2);
	const keys = active.emitted.map(({ deduplicationKey }) => deduplicationKey);
	expect(keys).toEqual([expect.any(String), expect.any(String)]);
	expect(new Set(keys).size).toBe(2);
});

test('only chosen and custom types start executions', async () => {
	const active = await harness.publish({
		sessionIds: sessions.open,
		eventTypes: ['mode_changed'],
		options: { otherEventTypes: 'typing_started' },
	});
	const { sessions: control } = harness.simulator();
	control.nudge(sessions.open);
	control.setMode(sessions.open, 'support');
	control.pushEvent(sessions.open, 'typing_started');
	await count(active.emitted, 2);
	expect(typesOf(active)).toEqual(['mode_changed', 'typing_started']);
});

describe('three token renewals under a stream of events', () => {
	const RENEWALS = 3;

	/** Pushes events, one per millisecond while a socket is replaced. Returns the positions of those that started no execution. */
	async function lostOf(replayMaxEvents: number | undefined) {
		const active = await harness.publish({ sessionIds: sessions.open });
		const { sessions: control, settings } = harness.simulator();
		if (replayMaxEvents !== undefined) settings.replayMaxEvents = replayMaxEvents;
		const pushed: string[] = [];
		for (let renewal = 1; renewal <= RENEWALS; renewal++) {
			await harness.settled();
			passTime(DUE_MS);
			while (harness.sockets().length <= renewal) {
				active.endExecutions();
				pushed.push(control.pushEvent(sessions.open, 'typing'));
				await realSleep(1);
			}
		}
		await harness.settled();
		const last = control.pushEvent(sessions.open, 'typing');
		const started = () => eventIds(active);
		await eventually(() => {
			active.endExecutions();
			return started().includes(last);
		});
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
