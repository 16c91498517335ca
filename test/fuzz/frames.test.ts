import { inspect } from 'node:util';
import fc from 'fast-check';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { eventually } from '../nodes/chatHarness';
import { speedUp, triggerHarness } from '../nodes/ChatEventsTrigger/triggerHarness';
import { HostileGateway } from './hostileGateway';
import { harms } from './hostile';
import { RUNS, tell } from './runs';

const EVENTS = 6;

const harness = triggerHarness();
const counts = { runs: 0, unharmed_events: 0, started: 0 };
let gateway: HostileGateway;

beforeAll(async () => {
	gateway = await HostileGateway.start(harness.service());
});
afterAll(async () => {
	tell('Frames with one thing wrong', counts);
	await gateway.close();
});

test(
	'of six events whose frames are harmed in one place, the others start the workflow once each, without the token',
	async () => {
		// No faster: a socket that takes long to open is given up.
		speedUp(10);
		const property = fc.asyncProperty(fc.nat(EVENTS - 1), harms, async (harmed, harm) => {
			const simulator = harness.service();
			const { credentials } = harness;
			const account = { ...credentialFor(simulator), baseUrl: gateway.baseUrl };
			const details = await credentials.add(CREDENTIAL, account);
			// The first answer is the token of the socket.
			gateway.begin({ nth: 1 + harmed, harm, status: undefined });
			const { sessionId } = simulator.sessions.create();
			const over = { id: `fuzz-${counts.runs}`, credentials: { [CREDENTIAL]: details } };
			const active = await harness.start({ sessionIds: sessionId }, 'activate', {}, over);
			await eventually(() => simulator.sessions.openSockets(sessionId) === 1);
			const sent = Array.from({ length: EVENTS }, () =>
				simulator.sessions.pushEvent(sessionId, 'nudge_sent'),
			);
			const honest = sent.filter((_eventId, place) => place !== harmed);
			const timesOf = (eventId: string) =>
				active.emitted.filter(({ items }) => items[0]?.[0]?.json.event_id === eventId).length;
			await eventually(() => honest.every((eventId) => timesOf(eventId) > 0));
			expect(honest.map(timesOf)).toEqual(honest.map(() => 1));
			expect(inspect(active.emitted, { depth: 50 })).not.toContain(simulator.token);
			expect(active.errors).toEqual([]);
			expect(Object.keys(Object.prototype)).toEqual([]);
			counts.runs++;
			counts.unharmed_events += honest.length;
			counts.started += honest.map(timesOf).reduce((sum, times) => sum + times, 0);
			await active.stop();
		});
		await fc.assert(property, { numRuns: RUNS, includeErrorInReport: true });
	},
	60_000 + RUNS * 2_000,
);
