import { inspect } from 'node:util';
import fc from 'fast-check';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { speedUp } from '../engine';
import { eventually } from '../nodes/chatHarness';
import { triggerHarness } from '../nodes/ChatEventsTrigger/triggerHarness';
import { HostileGateway } from './hostileGateway';
import { corruptions } from './corruption';
import { RUNS, printCounts, TIMEOUT_MS } from './runs';

const EVENTS = 6;

const harness = triggerHarness();
const counts = { runs: 0, intact_events: 0, started: 0 };
let gateway: HostileGateway;

beforeAll(async () => {
	gateway = await HostileGateway.start(harness.service());
});
afterAll(async () => {
	printCounts('Frames with one fault', counts);
	await gateway.close();
});

test(
	'if one of six event frames is corrupt, the others start the workflow once each, without the token',
	async () => {
		// Not faster, because a socket that opens slowly counts as failed.
		speedUp(10);
		const property = fc.asyncProperty(
			fc.nat(EVENTS - 1),
			corruptions,
			async (corruptIndex, harm) => {
				const simulator = harness.service();
				const { credentials } = harness;
				const account = { ...credentialFor(simulator), baseUrl: gateway.baseUrl };
				const details = await credentials.add(CREDENTIAL, account);
				// The first response is the token of the socket.
				gateway.begin({ nth: 1 + corruptIndex, harm, status: undefined });
				const { sessionId } = simulator.sessions.create();
				const overrides = { id: `fuzz-${counts.runs}`, credentials: { [CREDENTIAL]: details } };
				const active = await harness.start({ sessionIds: sessionId }, 'activate', {}, overrides);
				await eventually(() => simulator.sessions.openSockets(sessionId) === 1);
				const sent = Array.from({ length: EVENTS }, () =>
					simulator.sessions.pushEvent(sessionId, 'nudge_sent'),
				);
				const intact = sent.filter((_eventId, index) => index !== corruptIndex);
				const timesOf = (eventId: string) =>
					active.emitted.filter(({ items }) => items[0]?.[0]?.json.event_id === eventId).length;
				await eventually(() => intact.every((eventId) => timesOf(eventId) > 0));
				expect(intact.map(timesOf)).toEqual(intact.map(() => 1));
				expect(inspect(active.emitted, { depth: 50 })).not.toContain(simulator.token);
				expect(active.errors).toEqual([]);
				expect(Object.keys(Object.prototype)).toEqual([]);
				counts.runs++;
				counts.intact_events += intact.length;
				counts.started += intact.map(timesOf).reduce((sum, times) => sum + times, 0);
				await active.stop();
			},
		);
		await fc.assert(property, { numRuns: RUNS, includeErrorInReport: true });
	},
	TIMEOUT_MS,
);
