import { type OutgoingFrame, UnconfirmedFrames } from '../../../../nodes/shared/chat/acks';
import type { JsonObject } from '../../../../nodes/shared/json';

const frame = (messageId: string, messageKey = messageId): OutgoingFrame => ({
	text: '',
	messageId,
	messageKey,
});
const OWN = frame('n8n-own');
const EARLIER = frame('n8n-earlier');
const match = (frames: UnconfirmedFrames, payload: JsonObject, own = OWN, now = 0) =>
	frames.match({ state: 'default', payload }, own, now);

test.each<[string, OutgoingFrame[], JsonObject, 'own' | 'another' | 'unclear', OutgoingFrame?]>([
	['its own ID', [EARLIER], { message_id: 'n8n-own' }, 'own'],
	['a number as its ID', [EARLIER], { message_id: 7 }, 'own', frame('7')],
	['no ID, after no other frame', [], {}, 'own'],
	['an ID of the service, after no other frame', [], { message_id: 'msg-1' }, 'own'],
	['no ID, after an earlier attempt of the same message', [OWN], {}, 'own'],
	['an ID of another n8n process', [], { message_id: 'n8n-other' }, 'another'],
	['an ID of the service, after an earlier frame', [EARLIER], { message_id: 'msg-1' }, 'unclear'],
	[
		'an ID that the user chose for both',
		[frame('m', 'earlier')],
		{ message_id: 'm' },
		'unclear',
		frame('m', 'own'),
	],
])('an ack with %s', (_what, earlier, payload, expected, own = OWN) => {
	const frames = new UnconfirmedFrames();
	for (const one of earlier) frames.add(one, 0);
	expect(match(frames, payload, own)).toBe(expected);
});

test('an ack of an earlier frame is no longer expected after its ack, or after ten minutes', () => {
	const frames = new UnconfirmedFrames();
	const confirm = frames.add(EARLIER, 0);
	expect(match(frames, {}, OWN, 599_999)).toBe('unclear');
	expect(match(frames, {}, OWN, 600_000)).toBe('own');
	confirm();
	expect(match(frames, {})).toBe('own');
});

test('the latest 100 frames are remembered', () => {
	const frames = new UnconfirmedFrames();
	for (let index = 0; index <= 100; index += 1) frames.add(frame(`m-${index}`), 0);
	expect(match(frames, { message_id: 'm-1' })).toBe('another');
	expect(match(frames, { message_id: 'm-0' })).toBe('unclear');
});
