import { messageFrame } from '../../../../nodes/shared/chat/frames';
import { ackFrame, settle } from './fakes';
import { ai, happens, KEYED, turn, user } from './turnHarness';

describe('merged', () => {
	const merged = ackFrame({ state: 'merged', merged_into: 't-9', turn_id: 't-1' });

	it('waits for the result of the other turn, and takes the message that it names', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('one moment', 'a-1'));
		socket().receives(merged);
		happens(socket(), 'message_received', ai('the answer', 'a-2'));
		await clock.advance(30_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'turn_result', { turn_id: 't-9', message_id: 'a-2', state: 'default' });
		await settle();
		expect(outcome()).toMatchObject({
			kind: 'merged',
			reply: 'the answer',
			source: 'events',
			spoken: [],
			end: 'found',
			result: { turn_id: 't-9', state: 'default' },
		});
	});

	it('takes no message for the reply because of its place alone, and returns what was said', async () => {
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
			spoken: [{ id: 'a-1', content: 'to an earlier turn' }],
		});
	});

	it('does not take the message of somebody else for the own one', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', user('something else'));
		happens(socket(), 'message_received', ai('answer to that'));
		happens(socket(), 'turn_result', { turn_id: 't-9' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ kind: 'merged', reply: null, source: 'uncertain' });
	});

	it('takes the message that the result names if it comes shortly after', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'turn_result', { turn_id: 't-9', message_id: 'a-1' });
		await clock.advance(1_000);
		happens(socket(), 'message_received', ai('shortly after', 'a-1'));
		await settle();
		expect(outcome()).toMatchObject({ reply: 'shortly after', source: 'events' });
	});

	it('gives no reply where a frame that may hold it was too large to be read', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('one'));
		happens(socket(), 'message_received', ai('x'.repeat(9_000_000)));
		happens(socket(), 'turn_result', { turn_id: 't-9' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ reply: null, source: 'too_large', end: 'found' });
	});

	it('takes a result that came before the ack', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		happens(socket(), 'turn_result', { turn_id: 't-9', state: 'default' });
		socket().receives(merged);
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ reply: null, source: 'none', result: { turn_id: 't-9' } });
	});

	it('gives null when no text comes, and does not wait for one', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-9', error: 'agent failed' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ reply: null, result: { error: 'agent failed' } });
	});

	it('has no reply when the result does not come within two minutes', async () => {
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
			spoken: [{ content: 'a text' }],
			result: null,
			end: 'time',
		});
	});

	it('follows a turn that is merged into yet another one', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-9', state: 'merged', merged_into: 't-10' });
		await clock.advance(10_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'turn_result', { turn_id: 't-10', state: 'default' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ result: { turn_id: 't-10' } });
	});

	it('does not go round in circles', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-9', merged_into: 't-10' });
		happens(socket(), 'turn_result', { turn_id: 't-10', merged_into: 't-9' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ result: { turn_id: 't-10' } });
	});

	it('takes a result that names the own turn, once a text was seen with it', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'turn_result', { turn_id: 't-1', merged_into: 't-9' });
		await clock.advance(5_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('the answer'));
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({
			reply: null,
			source: 'uncertain',
			result: { turn_id: 't-1' },
		});
	});

	it('takes the message that a result of the own turn names', async () => {
		const { socket, outcome } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', ai('the answer', 'a-1'));
		happens(socket(), 'turn_result', { turn_id: 't-1', message_id: 'a-1', merged_into: 't-9' });
		await settle();
		expect(outcome()).toMatchObject({ reply: 'the answer', result: { turn_id: 't-1' } });
	});

	it('takes a result that names the message only', async () => {
		const { socket, outcome, clock } = await turn(KEYED);
		socket().receives(ackFrame({ state: 'merged' }));
		happens(socket(), 'turn_result', { message_id: 'm-2' });
		happens(socket(), 'turn_result', { message_id: 'm-1', merged_into: 't-9' });
		await clock.advance(5_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'turn_result', { message_id: 'm-1' });
		await clock.advance(1_500);
		expect(outcome()).toMatchObject({ result: { message_id: 'm-1' } });
	});

	it('waits for nothing when neither turn nor message is named', async () => {
		const { socket, whole } = await turn(messageFrame('hi'));
		socket().receives(ackFrame({ state: 'merged' }));
		expect(await whole).toMatchObject({ kind: 'merged', reply: null, result: null });
	});

	it('goes on over a reconnect, and ends with the connection', async () => {
		const { socket, outcome, clock, hold } = await turn(messageFrame('hi'));
		socket().receives(merged);
		happens(socket(), 'message_received', user('hi'));
		await settle();
		socket().breaks();
		await clock.advance(1_000);
		await hold();
		happens(socket(), 'message_received', ai('after the gap'));
		expect(outcome()).toBeNull();
		socket().ends(1003);
		await settle();
		expect(outcome()).toMatchObject({
			reply: null,
			spoken: [{ content: 'after the gap' }],
			result: null,
			end: 'connection',
		});
	});

	it('leaves no timer behind', async () => {
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

describe('accepted', () => {
	it('is a replay: the reply is in the ack, if the turn has ended', async () => {
		const { socket, whole } = await turn(KEYED);
		socket().receives(ackFrame({ state: 'accepted', reply: 'as before', turn_id: 't-1' }));
		expect(await whole).toMatchObject({ kind: 'replayed', reply: 'as before', result: null });
	});

	it('from an earlier run and without a reply: waits for a moment only', async () => {
		const { socket, outcome, clock } = await turn(KEYED);
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1' }));
		await clock.advance(4_999);
		expect(outcome()).toBeNull();
		await clock.advance(1);
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: null, result: null });
	});

	it('after an attempt of ours was lost: waits for its result like a merged turn', async () => {
		const { socket, outcome, clock, hold } = await turn(KEYED);
		socket().breaks();
		await clock.advance(1_000);
		await hold();
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1' }));
		await clock.advance(60_000);
		expect(outcome()).toBeNull();
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('here it is', 'a-1'));
		happens(socket(), 'turn_result', { turn_id: 't-1', message_id: 'a-1' });
		await settle();
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: 'here it is' });
	});

	it('after an attempt of ours was lost: the reply is fetched, as a turn that ended inline has no result', async () => {
		const { socket, whole, clock, hold } = await turn(KEYED);
		socket().breaks();
		await clock.advance(1_000);
		await hold();
		socket().answer = () => {
			const hasEnded = socket().sent.length > 3;
			const reply = hasEnded ? 'here it is' : null;
			socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1', reply }));
		};
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1' }));
		await clock.advance(10_000);
		expect(await whole).toMatchObject({ kind: 'replayed', reply: 'here it is', source: 'ack' });
		expect(new Set(socket().sent).size).toBe(1);
	});

	it('from an earlier run: never given the replies of the messages that are seen meanwhile', async () => {
		const { socket, outcome, clock } = await turn(KEYED);
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1', message_id: 'm-1' }));
		happens(socket(), 'message_received', user('something else', 'u-7'));
		happens(socket(), 'message_received', ai('an answer to something else'));
		happens(socket(), 'turn_result', { turn_id: 't-7', message_id: 'u-7' });
		await clock.advance(5_000);
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: null, source: 'uncertain' });
	});
});

describe('an agent that speaks before the ack', () => {
	it.each([
		['with a key', KEYED],
		['without a key', messageFrame('hi')],
	])('%s: the ack is waited for on the same socket, and has the reply', async (_how, frame) => {
		const { sockets, socket, outcome, clock } = await turn(frame);
		happens(socket(), 'message_received', user('hi'));
		happens(socket(), 'message_received', ai('one moment'));
		await clock.advance(119_999);
		expect(outcome()).toBeNull();
		expect([socket().sent.length, socket().closeCalls]).toEqual([1, []]);
		socket().receives(ackFrame({ state: 'default', reply: 'the answer' }));
		await settle();
		expect(outcome()).toMatchObject({ kind: 'completed', reply: 'the answer' });
		expect(sockets).toHaveLength(1);
	});

	it('and no ack within two minutes, without a key: unknown', async () => {
		const { socket, outcome, clock } = await turn(messageFrame('hi'));
		happens(socket(), 'message_received', ai('one moment'));
		await clock.advance(120_000);
		expect(outcome()).toMatchObject({ kind: 'unknown', why: 'no_ack' });
	});

	it('and no ack within two minutes, with a key: sent again, and the reply is that of the second ack', async () => {
		const { sockets, socket, outcome, clock, hold } = await turn(KEYED);
		happens(socket(), 'message_received', ai('one moment'));
		await clock.advance(121_000);
		await hold();
		expect(socket().sent).toEqual(sockets[0]?.sent);
		socket().receives(ackFrame({ state: 'accepted', turn_id: 't-1', reply: 'the answer' }));
		await settle();
		expect(outcome()).toMatchObject({ kind: 'replayed', reply: 'the answer', source: 'ack' });
	});
});
