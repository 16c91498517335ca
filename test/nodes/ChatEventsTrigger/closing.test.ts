import { setTimeout as realSleep } from 'node:timers/promises';
import type { IRun } from 'n8n-workflow';
import { z } from 'zod';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { eventually } from '../chatHarness';
import { hurry, sessions, triggerHarness } from './triggerHarness';

const harness = triggerHarness();

/** No pause of the trigger ends. */
function standStill(): void {
	jest.spyOn(clock, 'sleep').mockReturnValue(new Promise(() => {}));
}

/** More than are started side by side; the executions that they start do not end by themselves. */
async function burst(events: number) {
	const active = await harness.start({ sessionIds: sessions.open });
	standStill();
	const { sessions: control } = harness.service();
	const sent = Array.from({ length: events }, () => control.pushEvent(sessions.open, 'nudge_sent'));
	await eventually(() => active.emitted.length === 20);
	const started = () => active.emitted.map(({ items }) => items[0]?.[0]?.json.event_id);
	return { active, sent, started };
}

describe('deactivating in the middle of a burst', () => {
	test('n8n is given every event that has come, in their order and once', async () => {
		const { sent, started, active } = await burst(60);
		hurry(50);
		await active.stop();
		expect(started()).toEqual(sent);
		expect(active.failed).toEqual([]);
	});

	test('what comes while n8n takes them is given to n8n too', async () => {
		const { sent, started, active } = await burst(60);
		hurry(1);
		const stopping = active.stop();
		await eventually(() => started().length === 40);
		const late = harness.service().sessions.pushEvent(sessions.open, 'mode_changed');
		hurry(50);
		await stopping;
		expect(started()).toEqual([...sent, late]);
		await harness.connected(0);
	});
});

test('executions that end make room: never more than 20 are under way', async () => {
	const { sent, started, active } = await burst(60);
	for (const [ended] of sent.entries()) {
		await eventually(() => active.ends.length > ended);
		expect(active.ends.length - ended).toBeLessThanOrEqual(20);
		active.ends[ended]?.resolve(z.custom<IRun>().parse({}));
	}
	expect(started()).toEqual(sent);
	hurry(50);
});

test('events without an ID are not started all at once either', async () => {
	const active = await harness.start({ sessionIds: sessions.open });
	standStill();
	const { sessions: control } = harness.service();
	for (let n = 0; n < 60; n++) control.pushRaw(sessions.open, JSON.stringify({ type: 'odd', n }));
	await eventually(() => active.emitted.length === 20);
	await realSleep(100);
	expect(active.emitted).toHaveLength(20);
	hurry(50);
	await active.stop();
	expect(active.emitted).toHaveLength(60);
});

test('an event that n8n cannot start is offered again with the same key, and then named to the owner', async () => {
	const active = await harness.start({ sessionIds: sessions.open });
	const eventId = harness.service().sessions.pushEvent(sessions.open, 'nudge_sent');
	let rejected = 0;
	const reject = () => active.ends[rejected++]?.reject(new Error('the database is locked'));
	hurry(500);
	await eventually(() => {
		while (active.ends.length > rejected) reject();
		return active.failed.length === 1;
	});
	expect(active.failed[0]).toMatchObject({
		message: 'A chat event started no execution',
		description: expect.stringContaining(`nudge_sent (${eventId}) of ${sessions.open}.`),
	});
	expect(rejected).toBeGreaterThan(1);
	expect(new Set(active.emitted.map(({ deduplicationKey }) => deduplicationKey)).size).toBe(1);
});

test('what n8n could not be given in time is named to the owner', async () => {
	const { sent, started, active } = await burst(600);
	hurry(50);
	await active.stop();
	const given = started().length;
	expect(given).toBeLessThan(sent.length);
	const rest = sent.slice(given);
	await eventually(() => active.failed.length === 1);
	expect(active.failed[0]).toMatchObject({
		message: `${rest.length} chat events started no execution`,
		description: expect.stringContaining(`nudge_sent (${rest[0]}) of ${sessions.open}, `),
	});
	expect(active.failed[0]).toMatchObject({
		description: expect.stringContaining(`and ${rest.length - 50} more.`),
	});
	// Nothing starts behind it.
	await realSleep(300);
	expect(started()).toHaveLength(given);
});
