import {
	type ClientFrame,
	type Message,
	messagesOf,
	outgoingFrame,
	parseFrame,
} from '../../../../nodes/core/chat/frames';
import type { JsonObject } from '../../../../nodes/core/values/json';

const ID = 's-1';

test.each<[JsonObject, object]>([
	[
		{ type: 'odd', session_id: 7, event_id: 8 },
		{ sessionId: '7', event: { eventId: '8' } },
	],
	[
		{ type: 'odd', session_id: null, event_id: {} },
		{ sessionId: null, event: { eventId: null } },
	],
])('%j is an event with its whole envelope', (envelope, event) => {
	expect(parseFrame(JSON.stringify(envelope))).toMatchObject({ kind: 'event', ...event });
	expect(parseFrame(JSON.stringify(envelope))).toMatchObject({ event: { envelope } });
});

test('an ack has its payload as received', () => {
	const payload = { state: 'from_the_future', reply: null, message_id: 7 };
	const frame = JSON.stringify({ type: 'ws_write_result', session_id: ID, payload });
	expect(parseFrame(frame)).toEqual({
		kind: 'ack',
		sessionId: ID,
		ack: payload,
	});
});

test.each([
	[new ArrayBuffer(1)],
	[''],
	['{'],
	['[]'],
	['{}'],
	['{"type":5}'],
	['{"type":"ws_write_result"}'],
	['{"type":"ws_write_result","payload":{"state":1}}'],
])("%p isn't a frame of the document", (frame) => {
	expect(parseFrame(frame)).toBeNull();
});

test('each message has an ID of its own, and each attempt of one with a key has the same', () => {
	const message = { type: 'message', content: 'Hello' } as const;
	const keyed = { ...message, idempotency_key: 'k-1' };
	const frames = [message, message, keyed, keyed].map(outgoingFrame);
	const ids = frames.map(({ messageId }) => messageId);
	expect(ids).toEqual(Array(4).fill(expect.stringMatching(/^n8n-[\w-]{32,36}$/)));
	expect(new Set(ids).size).toBe(3);
	expect(ids[2]).toBe(ids[3]);
	expect(frames.map(({ text }): unknown => JSON.parse(text))).toEqual([
		{ ...message, message_id: ids[0] },
		{ ...message, message_id: ids[1] },
		{ ...keyed, message_id: ids[2] },
		{ ...keyed, message_id: ids[2] },
	]);
});

test.each<[ClientFrame, Message[]]>([
	[{ type: 'message', content: 'Yes' }, [{ role: 'user', content: 'Yes' }]],
	// The document doesn't show which text the event of an answer has.
	[{ type: 'interaction_response', interaction_id: 'i-1', option_id: 'yes' }, []],
	[{ type: 'interaction_response', interaction_id: 'i-1', response: 'Yes' }, []],
])('%j: the messages that it has added, as far as the document shows them', (frame, own) => {
	const reply: Message = { role: 'ai', content: 'Thanks' };
	expect(messagesOf(frame, { state: 'default', reply: 'Thanks' })).toEqual([...own, reply]);
	expect(messagesOf(frame, { state: 'merged' })).toEqual(own);
	expect(messagesOf(frame, { state: 'accepted', reply: 'Thanks' })).toEqual([]);
});
