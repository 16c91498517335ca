import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { ENDED, speedUp } from '../../engine';
import { untilIdle } from '../../n8n/until';
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

describe('deactivation in the middle of a burst', () => {
	test('n8n gets every received event once, in order', async () => {
		const { sent, started, active } = await burst(60);
		speedUp(50);
		await active.stop();
		expect(started()).toEqual(sent);
		expect(active.failed).toEqual([]);
	});

	test('n8n also gets events that arrive in the meantime', async () => {
		const { sent, started, active } = await burst(60);
		speedUp(1);
		const stopping = active.stop();
		await eventually(() => started().length === 40);
		const late = harness.service().sessions.pushEvent(sessions.open, 'mode_changed');
		speedUp(50);
		await stopping;
		expect(started()).toEqual([...sent, late]);
		await harness.connected(0);
	});
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

test('limits events without an ID, too', async () => {
	const active = await harness.start({ sessionIds: sessions.open });
	speedUp(0);
	const { sessions: control } = harness.service();
	for (let n = 0; n < 60; n++) control.pushRaw(sessions.open, JSON.stringify({ type: 'odd', n }));
	await eventually(() => active.emitted.length === 20);
	await untilIdle();
	expect(active.emitted).toHaveLength(20);
	speedUp(50);
	await active.stop();
	expect(active.emitted).toHaveLength(60);
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
		message: "A chat event didn't start an execution",
		description: expect.stringContaining(`nudge_sent (${eventId}) of ${sessions.open}.`),
	});
	expect(rejected).toBeGreaterThan(1);
	expect(new Set(active.emitted.map(({ deduplicationKey }) => deduplicationKey)).size).toBe(1);
});

test("events that n8n didn't get in time are reported", async () => {
	const { sent, started, active } = await burst(2_400);
	speedUp(50);
	await active.stop();
	const given = started().length;
	expect(given).toBeLessThan(sent.length);
	const remaining = sent.slice(given);
	await eventually(() => active.failed.length === 1);
	expect(active.failed[0]).toMatchObject({
		message: `${remaining.length} chat events didn't start an execution`,
		description: expect.stringContaining(`nudge_sent (${remaining[0]}) of ${sessions.open}, `),
	});
	expect(active.failed[0]).toMatchObject({
		description: expect.stringContaining(`and ${remaining.length - 50} more.`),
	});
	// No event starts afterwards.
	await clock.sleep(15_000);
	expect(started()).toHaveLength(given);
});
