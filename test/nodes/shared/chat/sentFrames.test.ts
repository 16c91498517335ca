import { readAck, type ChatEvent } from '../../../../nodes/shared/chat/frames';
import {
	outgoingFrame,
	SentFrames,
	type OutgoingFrame,
} from '../../../../nodes/shared/chat/sentFrames';
import { LATE_ACK_MS } from '../../../../nodes/shared/chat/timings';

const FIRST_SOCKET = 1;
const NEXT_SOCKET = 2;

const message = (content: string, fields: { message_id?: string; idempotency_key?: string } = {}) =>
	outgoingFrame({ type: 'message', content, ...fields });

const ack = (messageId: string | null, state = 'default') =>
	readAck(state, { state, ...(messageId !== null && { message_id: messageId }) });

function sent(...frames: OutgoingFrame[]): SentFrames {
	const sentFrames = new SentFrames();
	for (const frame of frames) sentFrames.add(frame, FIRST_SOCKET, 0);
	return sentFrames;
}

test('an ack that echoes the ID of the current message is its ack', () => {
	const [earlier, current] = [message('earlier'), message('current')];
	const frames = sent(earlier, current);
	const own = ack(current.messageId);
	expect(frames.take(own, FIRST_SOCKET, current.messageKey)).toEqual({ kind: 'matched', ack: own });
});

test('an ack that echoes the ID of an earlier message is not the ack of the current one', () => {
	const [earlier, current] = [message('earlier'), message('current')];
	const frames = sent(earlier, current);
	expect(frames.take(ack(earlier.messageId), FIRST_SOCKET, current.messageKey)).toEqual({
		kind: 'none',
	});
});

test('an ack without an ID may be about either of two messages', () => {
	const [earlier, current] = [message('earlier'), message('current')];
	const frames = sent(earlier, current);
	expect(frames.take(ack(null), FIRST_SOCKET, current.messageKey)).toEqual({ kind: 'unmatched' });
});

test('an ack without an ID is about the current message if all others have their ack', () => {
	const [earlier, current] = [message('earlier'), message('current')];
	const frames = sent(earlier, current);
	frames.take(ack(earlier.messageId), FIRST_SOCKET, current.messageKey);
	const own = ack(null);
	expect(frames.take(own, FIRST_SOCKET, current.messageKey)).toEqual({ kind: 'matched', ack: own });
});

test('an ack that arrived before the current message was sent is not about it', () => {
	const [one, other, current] = [message('one'), message('other'), message('current')];
	const frames = sent(one, other);
	frames.take(ack(null), FIRST_SOCKET, other.messageKey);
	frames.add(current, FIRST_SOCKET, 0);
	expect(frames.take(ack(other.messageId), FIRST_SOCKET, current.messageKey)).toEqual({
		kind: 'none',
	});
});

test('an ack of an earlier socket is not about a frame of a later one', () => {
	const current = message('current');
	const frames = new SentFrames();
	frames.add(current, NEXT_SOCKET, 0);
	expect(frames.take(ack(null), FIRST_SOCKET, current.messageKey)).toEqual({ kind: 'none' });
});

describe('two messages with the same ID', () => {
	const [one, other] = ['one', 'two'].map((text) => message(text, { message_id: 'm-1' }));
	if (one === undefined || other === undefined) throw new Error('Two messages are needed');

	test('an ack with this ID may be about either', () => {
		expect(sent(one, other).take(ack('m-1'), FIRST_SOCKET, other.messageKey)).toEqual({
			kind: 'unmatched',
		});
	});

	test('an ack with this ID is about the one that waits, not about messages with another ID', () => {
		const frames = sent(one);
		frames.take(ack('m-1'), FIRST_SOCKET, one.messageKey);
		for (const frame of [other, message('three')]) frames.add(frame, FIRST_SOCKET, 0);
		const own = ack('m-1');
		expect(frames.take(own, FIRST_SOCKET, other.messageKey)).toEqual({ kind: 'matched', ack: own });
	});
});

describe('an ack with an unknown ID, after an ack of the same state echoed an ID', () => {
	function afterEcho(state: string) {
		const [earlier, current] = [message('earlier'), message('current')];
		const frames = sent(earlier);
		frames.take(ack(earlier.messageId, state), FIRST_SOCKET, earlier.messageKey);
		frames.add(current, FIRST_SOCKET, 0);
		const unknown = ack("the service's own ID", state);
		return { unknown, result: frames.take(unknown, FIRST_SOCKET, current.messageKey) };
	}

	test('is about the frame of another client', () => {
		expect(afterEcho('default').result).toEqual({ kind: 'none' });
	});

	test("is about the current message if it's accepted, because the ID can be the one of the service", () => {
		const { unknown, result } = afterEcho('accepted');
		expect(result).toEqual({ kind: 'matched', ack: unknown });
	});
});

test('every attempt with an idempotency key has the same ID, and the first ack is about the message', () => {
	const attempts = [1, 2].map(() => message('current', { idempotency_key: 'key' }));
	const [first, second] = attempts;
	if (first === undefined || second === undefined) throw new Error('Two attempts are needed');
	expect(second.messageId).toBe(first.messageId);
	const frames = sent(first, second);
	const own = ack(first.messageId);
	expect(frames.take(own, FIRST_SOCKET, first.messageKey)).toEqual({ kind: 'matched', ack: own });
});

test('remembers the newest 1,000 frames', () => {
	const frames = Array.from({ length: 1_001 }, (_, index) =>
		message('text', { message_id: `m-${index}` }),
	);
	const [oldest, second] = frames;
	if (oldest === undefined || second === undefined) throw new Error('Frames are needed');
	const late = ack(null);
	expect(sent(...frames).take(late, FIRST_SOCKET, oldest.messageKey)).toEqual({ kind: 'none' });
	expect(sent(...frames).take(late, FIRST_SOCKET, second.messageKey)).toEqual({
		kind: 'unmatched',
	});
});

test('a frame that the socket did not accept waits for no ack', () => {
	const [removed, current] = [message('removed'), message('current')];
	const frames = sent(removed, current);
	frames.remove(removed);
	const own = ack(null);
	expect(frames.take(own, FIRST_SOCKET, current.messageKey)).toEqual({ kind: 'matched', ack: own });
});

describe("the content of a customer's message", () => {
	const received = (content: string, role = 'user'): ChatEvent => ({
		type: 'message_received',
		eventId: null,
		envelope: {},
		payload: { id: 'service-1', role, content },
	});
	const [earlier, current] = [message('earlier'), message('current')];
	const own = ack('service-1', 'accepted');

	test('shows which of two messages an earlier ack with the ID of the service is about', () => {
		const frames = sent(earlier, current);
		expect(frames.take(own, FIRST_SOCKET, current.messageKey)).toEqual({ kind: 'unmatched' });
		expect(frames.noteEvent(received('current'), current.messageKey)).toEqual({
			kind: 'matched',
			ack: own,
		});
	});

	test.each([
		['the other message', received('earlier')],
		["another client's message", received('current', 'agent')],
	])('of %s does not match the ack with the current message', (_what, event) => {
		const frames = sent(earlier, current);
		frames.take(own, FIRST_SOCKET, current.messageKey);
		expect(frames.noteEvent(event, current.messageKey).kind).not.toBe('matched');
	});
});

describe('a frame whose ack was lost', () => {
	const ids = { message_id: 'row-2' };
	const later = (current: OutgoingFrame, { socket = NEXT_SOCKET, now = LATE_ACK_MS } = {}) => {
		const frames = sent(message('earlier', ids));
		frames.add(current, socket, now);
		return frames;
	};

	test.each([
		['without an ID', message('current'), null],
		['with an ID that both messages have', message('current', ids), 'row-2'],
	])('is forgotten after 5 minutes on a later socket: an ack %s', (_name, current, id) => {
		const own = ack(id);
		const acknowledged = later(current).take(own, NEXT_SOCKET, current.messageKey);
		expect(acknowledged).toEqual({ kind: 'matched', ack: own });
	});

	test.each([
		['before that', { now: LATE_ACK_MS - 1 }],
		['on its own socket', { socket: FIRST_SOCKET }],
	])("isn't forgotten %s", (_name, changes) => {
		const current = message('current');
		const frames = later(current, changes);
		expect(frames.take(ack(null), NEXT_SOCKET, current.messageKey)).toEqual({ kind: 'unmatched' });
	});

	test("isn't forgotten while an ack may be about it or a recent frame", () => {
		const [recent, current] = [message('recent'), message('current')];
		const frames = later(recent, { now: LATE_ACK_MS - 1 });
		frames.take(ack(null), NEXT_SOCKET, recent.messageKey);
		frames.add(current, NEXT_SOCKET, LATE_ACK_MS);
		expect(frames.take(ack(null), NEXT_SOCKET, current.messageKey)).toEqual({ kind: 'unmatched' });
	});

	test('is forgotten with an ack that is about no recent frame', () => {
		const [lost, current] = [message('lost'), message('current')];
		const frames = sent(message('earlier'), lost);
		frames.take(ack(null), FIRST_SOCKET, lost.messageKey);
		frames.add(current, NEXT_SOCKET, LATE_ACK_MS);
		const own = ack(null);
		expect(frames.take(own, NEXT_SOCKET, current.messageKey)).toEqual({
			kind: 'matched',
			ack: own,
		});
	});
});
