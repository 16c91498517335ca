import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { ENDED, speedUp, triggerContext } from '../../engine';
import { eventually } from '../chatHarness';
import { sessions, triggerHarness } from './triggerHarness';

const harness = triggerHarness();

/** Sends more events than may start at the same time. Their executions don't end on their own. */
async function burst(events: number) {
	const active = await harness.start({ sessionIds: sessions.open });
	speedUp(0);
	const { sessions: control } = harness.service();
	const sent = Array.from({ length: events }, () => control.pushEvent(sessions.open, 'nudge_sent'));
	await eventually(() => active.emitted.length === 20);
	const started = () => active.emitted.map(({ items }) => items[0]?.[0]?.json.event_id);
	return { active, sent, started };
}

test('deactivation in the middle of a burst: n8n gets every event once, in order, also one that arrives in the meantime', async () => {
	const { sent, started, active } = await burst(60);
	speedUp(1);
	const stopping = active.stop();
	await eventually(() => started().length === 40);
	const late = harness.service().sessions.pushEvent(sessions.open, 'mode_changed');
	speedUp(50);
	await stopping;
	expect(started()).toEqual([...sent, late]);
	expect(active.failed).toEqual([]);
	await harness.connected(0);
});

test('ended executions make room, with at most 20 at the same time', async () => {
	const { sent, started, active } = await burst(60);
	for (const [ended] of sent.entries()) {
		await eventually(() => active.ends.length > ended);
		expect(active.ends.length - ended).toBeLessThanOrEqual(20);
		active.ends[ended]?.resolve(ENDED);
	}
	expect(started()).toEqual(sent);
	speedUp(50);
});

test("an event that n8n can't start is retried with the same key, and then reported", async () => {
	const active = await harness.start({ sessionIds: sessions.open });
	const eventId = harness.service().sessions.pushEvent(sessions.open, 'nudge_sent');
	let rejected = 0;
	const reject = () => active.ends[rejected++]?.reject(new Error('the database is locked'));
	speedUp(500);
	await eventually(() => {
		while (active.ends.length > rejected) reject();
		return active.failed.length === 1;
	});
	expect(active.failed[0]).toMatchObject({
		message: "1 chat event didn't start an execution",
		description: expect.stringContaining(`nudge_sent (${eventId}) of ${sessions.open}.`),
	});
	expect(rejected).toBeGreaterThan(1);
	expect(new Set(active.emitted.map(({ deduplicationKey }) => deduplicationKey)).size).toBe(1);
});

test("events that n8n didn't get in time are reported and logged", async () => {
	const { sent, started, active } = await burst(2_400);
	const node = await harness.node({});
	const { logger } = triggerContext(active.workflow, node);
	const log = jest.spyOn(logger, 'error');
	speedUp(50);
	await active.stop();
	const given = started().length;
	expect(given).toBeLessThan(sent.length);
	const [first, ...others] = sent.slice(given);
	await eventually(() => active.failed.length === 1);
	const [error = new Error()] = active.failed;
	const description = 'description' in error ? error.description : '';
	expect(error.message).toBe(`${others.length + 1} chat events didn't start an execution`);
	expect(description).toContain(
		`The trigger was closed before n8n received them, or n8n couldn't start an execution (see the n8n log). Unless the service sends them again, check these conversations in the service: nudge_sent (${first}) of ${sessions.open}, `,
	);
	expect(description).toContain(`and ${others.length - 49} more.`);
	expect(log.mock.calls).toContainEqual([error.message, { originalMessage: description }]);
	// No event starts afterwards.
	await clock.sleep(15_000);
	expect(started()).toHaveLength(given);
});
