import { outgoingFrame } from '../../../../nodes/core/chat/frames';

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
