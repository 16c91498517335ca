import { ManualExecutionCancelledError } from 'n8n-workflow';
import { EVENT_LIMITS } from '../../../nodes/ChatEventsTrigger/eventStarter';
import { clock } from '../../../nodes/host/clock';
import { ENDED, passTime, speedUp, triggerContext } from '../../engine';
import { eventLoopTurns } from '../../n8n/until';
import { chatHarness, eventIds, eventually, sessions } from '../chatHarness';

const harness = chatHarness('chatEventsTrigger', {});

/** Executions of all triggers that run at the same time, and how long each counts. */
const RUNNING = 10;
const COUNTED_MS = 2_000;

/** Sends more events than executions may run at the same time. The executions don't end on their own. */
async function burst(events: number) {
	const active = await harness.publish({ sessionIds: sessions.open });
	speedUp(0);
	// Those that began in the test before don't count anymore.
	passTime(COUNTED_MS);
	const { sessions: control } = harness.simulator();
	const sent = Array.from({ length: events }, () => control.pushEvent(sessions.open, 'nudge_sent'));
	await eventually(() => active.emitted.length === RUNNING);
	const started = () => eventIds(active);
	return { active, sent, started };
}

test('deactivation in the middle of a burst: n8n gets every event once, in order, also one that arrives in the meantime', async () => {
	const { sent, started, active } = await burst(3 * RUNNING);
	speedUp(1);
	const stopping = active.stop();
	active.endExecutions();
	await eventually(() => active.emitted.length === 2 * RUNNING);
	const late = harness.simulator().sessions.pushEvent(sessions.open, 'mode_changed');
	await eventually(() => {
		active.endExecutions();
		return started().includes(late);
	});
	speedUp(1_000);
	await stopping;
	expect(started()).toEqual([...sent, late]);
	expect(active.failed).toEqual([]);
	await harness.connected(0);
});

test('10 executions run at the same time, and ended ones make room', async () => {
	const { sent, started, active } = await burst(RUNNING + 30);
	for (const [ended] of sent.entries()) {
		await eventually(() => active.ends.length > ended);
		expect(active.ends.length - ended).toBeLessThanOrEqual(RUNNING);
		active.ends[ended]?.resolve(ENDED);
	}
	expect(started()).toEqual(sent);
});

test("executions that never end don't stop the trigger: each makes room after 2 seconds", async () => {
	const { sent, started } = await burst(RUNNING + 30);
	passTime(COUNTED_MS - 1_000);
	await eventLoopTurns(10);
	expect(started()).toHaveLength(RUNNING);
	passTime(1_000);
	await eventually(() => started().length === 2 * RUNNING);
	speedUp(1_000);
	await eventually(() => started().length === sent.length);
});

test('if as many events as fit are waiting for their execution, more are reported, and the others start', async () => {
	const waiting = 100;
	jest.replaceProperty(EVENT_LIMITS, 'waiting', waiting);
	const { sent, started, active } = await burst(RUNNING);
	const { sessions: control } = harness.simulator();
	for (let event = 0; event < waiting + 2; event++)
		sent.push(control.pushEvent(sessions.open, 'nudge_sent'));
	await harness.reported(active);
	const lost = sent.splice(-2).map((id) => `nudge_sent (${id}) of ${sessions.open}`);
	expect(active.failed[0]).toMatchObject({
		message: "2 chat events didn't start an execution",
		description: expect.stringContaining(
			`check these conversations in the service: ${lost.join(', ')}.`,
		),
	});
	while (started().length < sent.length) {
		active.endExecutions();
		await eventLoopTurns(1);
	}
	expect(started()).toEqual(sent);
});

test("an execution that someone stops isn't started again, because n8n may not have saved it", async () => {
	const { started, active, sent } = await burst(RUNNING + 1);
	active.ends[0]?.reject(new ManualExecutionCancelledError('1'));
	await eventually(() => started().length === RUNNING + 1);
	speedUp(1_000);
	await clock.sleep(100_000);
	expect(started()).toEqual(sent);
	expect(active.failed).toEqual([]);
});

test("an event that n8n can't start is retried with the same key, then reported, and started if the service sends it again", async () => {
	const active = await harness.publish({ sessionIds: sessions.open });
	const { sessions: control, settings } = harness.simulator();
	settings.replayWindowMs = 3_600_000;
	const eventId = control.pushEvent(sessions.open, 'nudge_sent');
	let rejected = 0;
	speedUp(1_000);
	await eventually(() => {
		while (active.ends.length > rejected)
			active.ends[rejected++]?.reject(new Error('the database is locked'));
		return active.failed.length === 1;
	});
	expect(active.failed[0]).toMatchObject({
		message: "1 chat event didn't start an execution",
		description: expect.stringContaining(`nudge_sent (${eventId}) of ${sessions.open}.`),
	});
	expect(rejected).toBeGreaterThan(1);
	control.cutSockets();
	await eventually(() => active.ends.length > rejected);
	active.endExecutions();
	expect(new Set(active.emitted.map(({ deduplicationKey }) => deduplicationKey)).size).toBe(1);
	expect(active.failed).toHaveLength(1);
});

test("events that n8n didn't get in time are reported and logged", async () => {
	const { sent, started, active } = await burst(2_400);
	const node = await harness.triggerNode({});
	const { logger } = triggerContext(active.workflow, node);
	const log = jest.spyOn(logger, 'error');
	speedUp(1_000);
	await active.stop();
	const given = started().length;
	expect(given).toBeLessThan(20 * RUNNING);
	const [first, ...others] = sent.slice(given);
	await eventually(() => active.failed.length === 1);
	const [error = new Error()] = active.failed;
	const description = 'description' in error ? error.description : '';
	const count = (sent.length - given).toLocaleString('en-US');
	expect(error.message).toBe(`${count} chat events didn't start an execution`);
	expect(description).toContain(
		`The trigger was closed before n8n received them, 10,000 other events were waiting for an execution, or n8n couldn't start one (see the n8n log). Unless the service sends them again, check these conversations in the service: nudge_sent (${first}) of ${sessions.open}, `,
	);
	expect(description).toContain(`and ${others.length - 49} more.`);
	expect(log.mock.calls).toContainEqual([error.message, { originalMessage: description }]);
	// No event starts afterwards.
	await clock.sleep(15_000);
	expect(started()).toHaveLength(given);
});
