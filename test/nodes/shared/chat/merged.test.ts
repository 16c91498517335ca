import { messageFrame, type MessageFrame } from '../../../../nodes/shared/chat/frames';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import { ackFrame, chatConnectionHarness, eventFrame, settle } from './fakes';
import { ai, happens, WITH_KEY, turn, user } from './turnHarness';

describe('merged', () => {
	const merged = ackFrame({ state: 'merged', merged_into: 't-9', turn_id: 't-1' });

	it('waits for the result of the other turn, and returns the message that it names', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('one moment', 'a-1'));
		socket().receives(merged);
		happens(socket(), 'message_received', ai('the reply', 'a-2'));
		await clock.advance(30_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'turn_result', { turn_id: 't-9', message_id: 'a-2', state: 'default' });
		await settle();
		expect(outcome()).toMatchObject({
			kind: 'merged',
			reply: 'the reply',
			source: 'events',
			agentMessages: [],
			end: 'found',
			result: { turn_id: 't-9', state: 'default' },
		});
	});

	it("doesn't take the result of a turn whose ID differs in the last of 19 digits", async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		const receive = (frame: string) => socket().receives(frame.replace(/"(\d{19})"/, '$1'));
		receive(ackFrame({ state: 'merged', merged_into: '1876543210987654322' }));
		happens(socket(), 'message_received', ai('to somebody else', 'a-1'));
		receive(eventFrame('turn_result', 'e', { turn_id: '1876543210987654321', message_id: 'a-1' }));
		await clock.advance(3_000);
		expect(outcome()).toBeNull();
	});

	it("doesn't treat a message as the reply because of its order alone, and returns the messages", async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('to an earlier turn', 'a-1'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-9', message_id: 'u-1' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({
			kind: 'merged',
			reply: null,
			source: 'uncertain',
			agentMessages: [{ id: 'a-1', content: 'to an earlier turn' }],
		});
	});

	it("doesn't mix up messages of another customer", async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', user('something else'));
		happens(socket(), 'message_received', ai('reply to that'));
		happens(socket(), 'turn_result', { turn_id: 't-9' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ kind: 'merged', reply: null, source: 'uncertain' });
	});

	it('returns the message that the result names if it arrives shortly after', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'turn_result', { turn_id: 't-9', message_id: 'a-1' });
		await clock.advance(1_000);
		happens(socket(), 'message_received', ai('shortly after', 'a-1'));
		await settle();
		expect(outcome()).toMatchObject({ reply: 'shortly after', source: 'events' });
	});

	it('returns no reply if a frame that may contain it was too large to read', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('one'));
		happens(socket(), 'message_received', ai('x'.repeat(9_000_000)));
		happens(socket(), 'turn_result', { turn_id: 't-9' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ reply: null, source: 'too_large', end: 'found' });
	});

	it('accepts a result that arrives before the ack', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		happens(socket(), 'turn_result', { turn_id: 't-9', state: 'default' });
		socket().receives(merged);
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ reply: null, source: 'none', result: { turn_id: 't-9' } });
	});

	it('returns null without waiting if no text arrives', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-9', error: 'agent failed' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ reply: null, result: { error: 'agent failed' } });
	});

	it("returns no reply if the result doesn't arrive within 2 minutes", async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('a text'));
		await clock.advance(119_999);
		expect(outcome()).toBeNull();
		await clock.advance(1);
		expect(outcome()).toMatchObject({
			reply: null,
			source: 'uncertain',
			agentMessages: [{ content: 'a text' }],
			result: null,
			end: 'time',
		});
	});

	it('follows a turn that is merged into a third one', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-9', state: 'merged', merged_into: 't-10' });
		await clock.advance(10_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'turn_result', { turn_id: 't-10', state: 'default' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ result: { turn_id: 't-10' } });
	});

	it('handles turns that are merged in a circle', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-9', merged_into: 't-10' });
		happens(socket(), 'turn_result', { turn_id: 't-10', merged_into: 't-9' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ result: { turn_id: 't-10' } });
	});

	it('accepts a result that names the own turn, after a message of the agent', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-1', merged_into: 't-9' });
		await clock.advance(5_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('the reply'));
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({
			reply: null,
			source: 'uncertain',
			result: { turn_id: 't-1' },
		});
	});

	it('returns the message that a result of the own turn names', async () => {
		const { socket, outcome } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', ai('the reply', 'a-1'));
		happens(socket(), 'turn_result', { turn_id: 't-1', message_id: 'a-1', merged_into: 't-9' });
		await settle();
		expect(outcome()).toMatchObject({ reply: 'the reply', result: { turn_id: 't-1' } });
	});

	it('accepts a result that only names the message', async () => {
		const { socket, outcome, clock } = await turn(WITH_KEY);
		socket().receives(ackFrame({ state: 'merged' }));
		happens(socket(), 'turn_result', { message_id: 'm-2' });
		happens(socket(), 'turn_result', { message_id: 'm-1', merged_into: 't-9' });
		await clock.advance(5_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'turn_result', { message_id: 'm-1' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ result: { message_id: 'm-1' } });
	});

	it("doesn't wait if neither a turn nor a message is named", async () => {
		const { socket, whole } = await turn(messageFrame('hi'));
		socket().receives(ackFrame({ state: 'merged' }));
		expect(await whole).toMatchObject({ kind: 'merged', reply: null, result: null });
	});

	it('continues across a reconnect, and ends with the connection', async () => {
		const { socket, outcome, clock, connect } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', user('hi'));
		await settle();
		socket().breaks();
		await clock.advance(1_000);
		await connect();
		happens(socket(), 'message_received', ai('after the gap'));
		expect(outcome()).toBeNull();
		socket().ends(1003);
		await settle();
		expect(outcome()).toMatchObject({
			reply: null,
			agentMessages: [{ content: 'after the gap' }],
			result: null,
			end: 'connection',
		});
	});

	it('leaves no timer', async () => {
		const { socket, whole, clock, connection } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-9' });
		await clock.advance(1_500);
		await whole;
		await connection.close();
		await clock.advance(1_000);
		expect(clock.pending).toBe(0);
	});
});

describe('events that the service replays while the session connects', () => {
	/** Sends a message before the session is connected. The service replays a message and its turn's result. */
	const afterReplay = async (frame: MessageFrame) => {
		const use = chatConnectionHarness();
		const { connection, clock, socket } = use;
		const whole = sendTurn(connection.start(), frame, { clock, random: () => 0.5 });
		await settle();
		socket().opens();
		happens(socket(), 'message_received', ai('from before', 'a-0'));
		happens(socket(), 'turn_result', { turn_id: 't-0', message_id: 'a-0', state: 'default' });
		await clock.advance(500);
		expect(socket().sent).toHaveLength(1);
		return { ...use, whole };
	};

	it.each([
		['without a key', messageFrame('hi')],
		['with a key that was not accepted before', WITH_KEY],
	])("aren't in the meantime, %s", async (_name, frame) => {
		const { socket, clock, whole } = await afterReplay(frame);
		socket().receives(ackFrame({ state: 'merged', merged_into: 't-9' }));
		happens(socket(), 'message_received', ai('one moment', 'a-1'));
		happens(socket(), 'turn_result', { turn_id: 't-9', message_id: 'u-1' });
		await clock.advance(1_500);
		expect(await whole).toMatchObject({ reply: null, agentMessages: [{ id: 'a-1' }] });
	});

	it('can contain the reply to a message that an earlier execution sent with the same key', async () => {
		const { socket, whole } = await afterReplay(WITH_KEY);
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-0' }));
		expect(await whole).toMatchObject({ kind: 'replayed', reply: 'from before', source: 'events' });
	});
});

describe('accepted', () => {
	it('is a replay, with the reply in the ack if the turn has ended', async () => {
		const { socket, whole } = await turn(WITH_KEY);
		socket().receives(ackFrame({ state: 'accepted', reply: 'as before', turn_id: 't-1' }));
		expect(await whole).toMatchObject({ kind: 'replayed', reply: 'as before', result: null });
	});

	it('from an earlier execution and without a reply: waits only shortly', async () => {
		const { socket, outcome, clock } = await turn(WITH_KEY);
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1' }));
		await clock.advance(4_999);
		expect(outcome()).toBeNull();
		await clock.advance(1);
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: null, result: null });
	});

	it('after an attempt without an ack: waits for its result like a merged turn', async () => {
		const { socket, outcome, clock, connect } = await turn(WITH_KEY);
		socket().breaks();
		await clock.advance(1_000);
		await connect();
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1' }));
		await clock.advance(60_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('here it is', 'a-1'));
		happens(socket(), 'turn_result', { turn_id: 't-1', message_id: 'a-1' });
		await settle();
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: 'here it is' });
	});

	it('after an attempt without an ack: requests the reply, because a turn that completes inline has no result', async () => {
		const { socket, whole, clock, connect } = await turn(WITH_KEY);
		socket().breaks();
		await clock.advance(1_000);
		await connect();
		socket().onSend = () => {
			const hasEnded = socket().sent.length > 3;
			const reply = hasEnded ? 'here it is' : null;
			socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1', reply }));
		};
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1' }));
		await clock.advance(10_000);
		expect(await whole).toMatchObject({ kind: 'replayed', reply: 'here it is', source: 'ack' });
		expect(new Set(socket().sent).size).toBe(1);
	});

	it("with an empty reply: waits for the turn's reply, because the turn may be in progress", async () => {
		const { socket, outcome, clock } = await turn(WITH_KEY);
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1', reply: '' }));
		await clock.advance(1_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'message_received', ai('here it is', 'a-1'));
		happens(socket(), 'turn_result', { turn_id: 't-1', message_id: 'a-1' });
		await settle();
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: 'here it is', source: 'events' });
	});

	it('with an empty reply that stays the only one: no reply after a short wait', async () => {
		const { socket, outcome, clock } = await turn(WITH_KEY);
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1', reply: '' }));
		await clock.advance(5_000);
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: null, source: 'none', end: 'time' });
	});

	it.each([
		['accepted', 'here it is', 4],
		['default', '', 3],
	])(
		'after an attempt without an ack: requests the reply until a turn with the state "%s" has %j',
		async (state, reply, requests) => {
			const { socket, whole, clock, connect } = await turn(WITH_KEY);
			socket().breaks();
			await clock.advance(1_000);
			await connect();
			socket().onSend = () => {
				const { length } = socket().sent;
				const hasEnded = length >= requests;
				socket().receives(
					ackFrame(hasEnded ? { state, reply } : { state: 'accepted', turn_id: 't-1', reply: '' }),
				);
			};
			socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1', reply: '' }));
			await clock.advance(10_000);
			expect(await whole).toMatchObject({ kind: 'replayed', reply, source: 'ack' });
			expect(socket().sent).toHaveLength(requests);
		},
	);

	it("from an earlier execution: doesn't get the replies to other messages", async () => {
		const { socket, outcome, clock } = await turn(WITH_KEY);
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1', message_id: 'm-1' }));
		happens(socket(), 'message_received', user('something else', 'u-7'));
		happens(socket(), 'message_received', ai('a reply to something else'));
		happens(socket(), 'turn_result', { turn_id: 't-7', message_id: 'u-7' });
		await clock.advance(5_000);
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: null, source: 'uncertain' });
	});
});

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
		expect(outcome()).toMatchObject({ kind: 'completed', reply: 'the reply' });
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
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: 'the reply', source: 'ack' });
	});
});
