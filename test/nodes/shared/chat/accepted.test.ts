import { messageFrame } from '../../../../nodes/shared/chat/frames';
import { ackFrame, settle } from './fakes';
import { ai, happens, turn, user, WITH_KEY } from './turnHarness';

it.each(['merged', 'accepted'])(
	'%s: returned immediately, without waiting for events',
	async (state) => {
		const { socket, outcome } = await turn(messageFrame('hi'));
		const payload = { state, merged_into: 't-9', turn_id: 't-1' };
		socket().receives(ackFrame(payload));
		await settle();
		expect(outcome()).toMatchObject({ kind: 'accepted', ack: { payload } });
	},
);

describe('an agent message before the ack', () => {
	it.each([
		['with a key', WITH_KEY],
		['without a key', messageFrame('hi')],
	])('%s: waits for the ack on the same socket, and returns its reply', async (_name, frame) => {
		const { sockets, socket, outcome, clock } = await turn(frame);
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('one moment'));
		await clock.advance(119_999);
		expect(outcome()).toBeNull();
		expect([socket().sent.length, socket().closeCalls]).toEqual([1, []]);
		socket().receives(ackFrame({ state: 'default', reply: 'the reply' }));
		await settle();
		expect(outcome()).toMatchObject({
			kind: 'completed',
			ack: { payload: { reply: 'the reply' } },
		});
		expect(sockets).toHaveLength(1);
	});

	it('without an ack within 2 minutes and without a key: unknown', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		happens(socket(), 'message_received', ai('one moment'));
		await clock.advance(120_000);
		expect(outcome()).toMatchObject({ kind: 'unknown', why: 'no_ack' });
	});

	it('without an ack within 2 minutes and with a key: sent again, and returns the reply of the second ack', async () => {
		const { sockets, socket, outcome, clock, connect } = await turn(WITH_KEY);
		happens(socket(), 'message_received', ai('one moment'));
		await clock.advance(121_000);
		await connect();
		expect(socket().sent).toEqual(sockets[0]?.sent);
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1', reply: 'the reply' }));
		await settle();
		expect(outcome()).toMatchObject({ kind: 'accepted', ack: { payload: { reply: 'the reply' } } });
	});
});
