import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { ENDED, speedUp, triggerContext } from '../../engine';
import { eventually } from '../chatHarness';
import { sessions, triggerHarness } from './triggerHarness';

const harness = triggerHarness();

/** Sends more events than may start at the same time, of 30 sessions. Their executions don't end on their own. */
async function burst(events: number) {
	const { sessions: control } = harness.service();
	const ids = Array.from({ length: 30 }, () => control.create().sessionId);
	const active = await harness.start({ sessionIds: ids.join(' ') });
	speedUp(0);
	const sent = Array.from({ length: events }, (_, index) =>
		control.pushEvent(ids[index % ids.length] ?? '', 'nudge_sent'),
	);
	await eventually(() => active.emitted.length === 20);
	const started = () => active.emitted.map(({ items }) => items[0]?.[0]?.json.event_id);
	return { active, ids, sent, started };
}

test('deactivation in the middle of a burst: n8n gets every event once, in order, also one that arrives in the meantime', async () => {
	const { ids, sent, started, active } = await burst(60);
	speedUp(1);
	const stopping = active.stop();
	await eventually(() => started().length === 40);
	const late = harness.service().sessions.pushEvent(ids[0] ?? '', 'mode_changed');
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

test('events of a session start one after another, and sessions do not wait for each other', async () => {
	const active = await harness.start({ sessionIds: `${sessions.open} ${sessions.dormant}` });
	speedUp(0);
	const { sessions: control } = harness.service();
	const [question, reply, other] = [sessions.open, sessions.open, sessions.dormant].map((id) =>
		control.pushEvent(id, 'message_received'),
	);
	const started = () => active.emitted.map(({ items }) => items[0]?.[0]?.json.event_id);
	await eventually(() => started().length === 2);
	expect(started()).toEqual([question, other]);
	active.ends[0]?.resolve(ENDED);
	await eventually(() => started().length === 3);
	expect(started()).toEqual([question, other, reply]);
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
		message: "A chat event didn't start an execution",
		description: expect.stringContaining(`nudge_sent (${eventId}) of ${sessions.open}.`),
	});
	expect(rejected).toBeGreaterThan(1);
	expect(new Set(active.emitted.map(({ deduplicationKey }) => deduplicationKey)).size).toBe(1);
});

test("events that n8n didn't get in time are reported and logged", async () => {
	const { ids, sent, started, active } = await burst(2_400);
	const node = await harness.node({});
	const { logger } = triggerContext(harness.credentials, active.workflow, node);
	const log = jest.spyOn(logger, 'error');
	speedUp(50);
	await active.stop();
	const given = started().length;
	expect(given).toBeLessThan(sent.length);
	const left = sent.flatMap((id, index) =>
		started().includes(id) ? [] : `nudge_sent (${id}) of ${ids[index % ids.length]}`,
	);
	await eventually(() => active.failed.length === 1);
	const [error = new Error()] = active.failed;
	const description = 'description' in error ? String(error.description) : '';
	expect(error.message).toBe(`${left.length} chat events didn't start an execution`);
	const [text, named = ''] = description.split(' in the service: ');
	expect(text).toBe(
		"The trigger was closed before n8n received them, or n8n couldn't start an execution (see the n8n log). Unless the service sends them again, check these conversations",
	);
	const more = ` and ${left.length - 50} more.`;
	expect(named.endsWith(more)).toBe(true);
	const names = named.slice(0, -more.length).split(', ');
	expect(names).toHaveLength(50);
	expect(names.filter((name) => !left.includes(name))).toEqual([]);
	expect(log.mock.calls).toContainEqual([error.message, { originalMessage: description }]);
	// No event starts afterwards.
	await clock.sleep(15_000);
	expect(started()).toHaveLength(given);
});
