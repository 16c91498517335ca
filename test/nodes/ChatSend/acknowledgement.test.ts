import type { Ack } from '../../../nodes/core/chat/frames';
import { acceptedAck } from '../../../nodes/ChatSend/acknowledgement';
import { explainedBy } from '../core/values/explainedBy';
import type { JsonValue } from '../../../nodes/core/values/json';

const acked = (state: string, error?: JsonValue): Ack =>
	error === undefined ? { state } : { state, error };

test.each<[Ack]>([
	[acked('default')],
	[acked('accepted')],
	[acked('merged')],
	// An undocumented state without an error is passed through.
	...[undefined, null, '', false].map((error): [Ack] => [acked('brand_new', error)]),
])('%j: accepted', (ack) => {
	expect(acceptedAck(ack)).toBe(ack);
});

/** With the outcome, and the advice. */
test.each<[Ack | null, string, RegExp]>([
	[acked('busy', 'server_busy'), 'not_sent', /^The message wasn't accepted\. .* said: server_busy/],
	[acked('invalid', 'bad_json'), 'rejected', /^Check its values, .* The service said: bad_json\.$/],
	[acked('invalid', 'invalid_input_type'), 'rejected', /^The session waits for other input/],
	[acked('invalid', 'agent_inactive'), 'rejected', /^Activate the agent/],
	[acked('invalid', 'session_account_mismatch'), 'rejected', /belongs to another account/],
	[acked('invalid', 'idempotency_key_reused'), 'rejected', /^Use a different key/],
	[acked('invalid', 'idempotency_key_rail_conflict'), 'rejected', /^Use a different key/],
	[acked('invalid', 'invalid_interaction'), 'rejected', /^Enter 'Interaction ID' and the answer/],
	[acked('invalid', { code: 7 }), 'rejected', /The service said: {"code":7}\.$/],
	[acked('invalid'), 'rejected', /^Check its values, then send it again\.$/],
	[acked('error', 'internal'), 'unknown', /^The service may or may not .* said: internal\.$/],
	[acked('brand_new', 'not today'), 'unknown', /^The service may or may not .* said: not today/],
	[null, 'unknown', /Only with the same idempotency key/],
])('%j: %s', (ack, expected, description) => {
	expect(explainedBy(() => acceptedAck(ack))).toMatchObject({
		outcome: expected,
		description: expect.stringMatching(description),
	});
});

test('only a message that the service was too busy for may succeed later without changes', () => {
	const fault = (ack: Ack) => explainedBy(() => acceptedAck(ack));
	expect(fault(acked('busy', 'server_busy')).isTransient).toBe(true);
	expect(fault(acked('invalid', 'bad_json')).isTransient).toBe(false);
});
