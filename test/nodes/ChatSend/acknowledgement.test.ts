import type { SendResult } from '../../../nodes/core/chat/sender';
import { acceptedAck } from '../../../nodes/ChatSend/acknowledgement';
import { explainedBy } from '../core/values/explainedBy';
import type { JsonValue } from '../../../nodes/core/values/json';

const acked = (state: string, error?: JsonValue, isRepeat = false): SendResult => ({
	ack: error === undefined ? { state } : { state, error },
	isRepeat,
});

test.each<[SendResult]>([
	[acked('default')],
	[acked('accepted')],
	[acked('merged')],
	// An undocumented state without an error is passed through.
	...[undefined, null, '', false].map((error): [SendResult] => [acked('brand_new', error)]),
])('%j: accepted', (outcome) => {
	expect(acceptedAck(outcome)).toBe(outcome.ack);
});

/** With the outcome, and the advice. */
test.each<[SendResult, string, RegExp]>([
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
	[{ ack: null, isRepeat: true }, 'unknown', /Only with the same idempotency key/],
	// An earlier attempt may have been accepted, whatever the later one says.
	[acked('busy', 'server_busy', true), 'unknown', /^Check the service\. .* said: server_busy/],
	[acked('invalid', 'agent_inactive', true), 'unknown', /^Check the service/],
])('%j: %s', (outcome, expected, description) => {
	expect(explainedBy(() => acceptedAck(outcome))).toMatchObject({
		outcome: expected,
		description: expect.stringMatching(description),
	});
});

test('only a message that the service was too busy for may succeed later without changes', () => {
	const fault = (result: SendResult) => explainedBy(() => acceptedAck(result));
	expect(fault(acked('busy', 'server_busy')).isTransient).toBe(true);
	expect(fault(acked('invalid', 'bad_json')).isTransient).toBe(false);
});
