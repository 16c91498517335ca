import { ApiMapping } from '../../../../nodes/shared/apiMapping';
import {
	type AsyncOutcome,
	type AsyncTurnOptions,
	sendAsyncTurn,
} from '../../../../nodes/shared/chat/asyncTurn';
import type { JsonObject } from '../../../../nodes/shared/json';
import { chatConnectionHarness, settle } from './fakes';
import { ai, happens } from './turnHarness';

/** Starts a turn on a connection that isn't ready yet. `outcome` is null while the turn is in progress. */
async function asyncTurn(data: JsonObject, changes: Partial<AsyncTurnOptions> = {}) {
	const use = chatConnectionHarness();
	use.connection.start();
	await settle();
	let outcome: AsyncOutcome | null = null;
	const send = async () => await Promise.resolve({ status: 200, body: { success: true, data } });
	const { clock } = use;
	const options = { clock, apiMapping: new ApiMapping({}), givenIds: [], hasKey: false };
	void sendAsyncTurn(use.connection, send, { ...options, timeoutMs: 60_000, ...changes }).then(
		(ended) => {
			outcome = ended;
		},
	);
	await settle();
	use.socket().opens();
	return { ...use, ready: async () => await clock.advance(600), outcome: () => outcome };
}

describe('messages that the service replays before the connection is ready', () => {
	const data = { state: 'accepted', turn_id: 't-1' };

	it("aren't from the time after the message was sent", async () => {
		const { socket, ready, clock, outcome } = await asyncTurn(data, { timeoutMs: 2_000 });
		happens(socket(), 'message_received', ai('from before', 'old'));
		await ready();
		await clock.advance(3_000);
		expect(outcome()).toMatchObject({ reply: { source: 'none', agentMessages: [] } });
	});

	it("don't let the result of another merged turn end the wait", async () => {
		const { socket, ready, clock, outcome } = await asyncTurn(data);
		happens(socket(), 'message_received', ai('from before', 'old'));
		await ready();
		happens(socket(), 'turn_result', { turn_id: 't-0', message_id: 'u-0', merged_into: 't-1' });
		await clock.advance(3_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'message_received', ai('the reply', 'a-1'));
		happens(socket(), 'turn_result', { turn_id: 't-1', message_id: 'a-1' });
		await clock.advance(3_000);
		expect(outcome()).toMatchObject({ reply: { reply: 'the reply' } });
	});

	it('can be the reply to a key that was accepted before', async () => {
		const { socket, ready, outcome } = await asyncTurn(data, { hasKey: true });
		happens(socket(), 'message_received', ai('the reply', 'a-1'));
		happens(socket(), 'turn_result', { turn_id: 't-1', message_id: 'a-1' });
		await ready();
		expect(outcome()).toMatchObject({ reply: { reply: 'the reply', source: 'events' } });
	});
});

it('ends when the reply is known, although the turn that it was merged into completes inline', async () => {
	const { socket, ready, clock, outcome } = await asyncTurn({ turn_id: 't-1' });
	await ready();
	happens(socket(), 'message_received', ai('the reply to both', 'a-1'));
	happens(socket(), 'turn_result', { turn_id: 't-1', message_id: 'a-1', merged_into: 't-2' });
	await clock.advance(3_000);
	expect(outcome()).toMatchObject({
		reply: { reply: 'the reply to both', end: 'found', result: { merged_into: 't-2' } },
	});
});
