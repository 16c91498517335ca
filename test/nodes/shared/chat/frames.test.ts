import { parseFrame } from '../../../../nodes/shared/chat/frames';
import type { JsonObject } from '../../../../nodes/shared/json';
import { ackFrame, eventFrame, SESSION_ID } from './fakes';

describe('received frames', () => {
	it.each(['nudge_sent', 'brand_new'])('reads the event %s', (type) => {
		const text = eventFrame(type, 'e-1', { to: 'ai' });
		expect(parseFrame(text)).toEqual({
			kind: 'event',
			sessionId: SESSION_ID,
			event: { type, eventId: 'e-1', payload: { to: 'ai' }, envelope: JSON.parse(text) },
		});
	});

	it.each([
		['a number', 12, '12'],
		['nothing', undefined, null],
		['null', null, null],
		['an empty text', '', null],
	])('reads %s as event_id', (_name, given, eventId) => {
		expect(parseFrame(eventFrame('nudge_sent', given))).toMatchObject({ event: { eventId } });
	});

	it('reads every digit of IDs that are long numbers', () => {
		const frame = eventFrame('turn_result', 'EVENT', { turn_id: 'TURN' })
			.replace('"EVENT"', '1876543210987654321')
			.replace('"TURN"', '1876543210987654322');
		expect(parseFrame(frame)).toMatchObject({
			event: {
				eventId: '1876543210987654321',
				payload: { turn_id: '1876543210987654322' },
				envelope: { event_id: '1876543210987654321' },
			},
		});
	});

	it("reads an event whose payload is missing or isn't an object", () => {
		expect(parseFrame('{"type":"session_closed"}')).toMatchObject({ event: { payload: {} } });
		expect(parseFrame('{"type":"x","payload":[1]}')).toMatchObject({ event: { payload: {} } });
	});

	it.each(['default', 'brand_new'])('reads an ack with the state %s', (state) => {
		const payload: JsonObject = {
			state,
			reply: 'hello',
			turn_id: 't',
			merged_into: 9,
			error: 'e',
			mode: 'ai',
			message_id: 'm',
		};
		expect(parseFrame(ackFrame(payload))).toEqual({
			kind: 'ack',
			sessionId: SESSION_ID,
			ack: { state, payload },
		});
	});

	it.each([
		[new ArrayBuffer(4)],
		[new Blob(['{}'])],
		[undefined],
		['x'.repeat(9_000_000)],
		[''],
		['{"type":'],
		[eventFrame('x', 'e1').replace('{}', `${'['.repeat(600)}${']'.repeat(600)}`)],
		['[]'],
		['null'],
		['7'],
		['{}'],
		['{"type":5}'],
		['{"type":"ws_write_result","payload":null}'],
		['{"type":"ws_write_result","payload":{"state":1}}'],
	])("can't read some frames: %#", (data) => {
		expect(parseFrame(data)).toBeNull();
	});
});
