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

test('under a stream of events, each starts the workflow once, also while the token is renewed three times', async () => {
	const active = await harness.publish({ sessionIds: sessions.open });
	const { sessions: control } = harness.simulator();
	const pushed: string[] = [];
	for (let renewal = 1; renewal <= 3; renewal++) {
		await harness.settled();
		passTime(DUE_MS);
		while (harness.sockets().length <= renewal) {
			active.endExecutions();
			pushed.push(control.pushEvent(sessions.open, 'typing'));
			await realSleep(1);
		}
	}
	await eventually(() => {
		active.endExecutions();
		return active.emitted.length >= pushed.length;
	});
	expect(new Set(eventIds(active))).toEqual(new Set(pushed));
	expect(active.emitted).toHaveLength(pushed.length);
});
