import type { SendResult } from '../../../nodes/core/chat/sender';
import { acceptedAck } from '../../../nodes/ChatSend/acknowledgement';
import { explainedBy } from '../core/values/explainedBy';
import type { JsonValue } from '../../../nodes/core/values/json';

/** The documented `error` values of the state `invalid`. */
const INVALID_CODES = [
	...['bad_json', 'bad_payload', 'message_required', 'invalid_input_type', 'agent_inactive'],
	...['session_account_mismatch', 'idempotency_key_reused', 'idempotency_key_rail_conflict'],
	'invalid_interaction',
];

const acked = (state: string, error?: JsonValue, isRepeat = false): SendResult => ({
	ack: error === undefined ? { state } : { state, error },
	isRepeat,
});
const UNKNOWN: SendResult = { ack: null, isRepeat: true };
const faultOf = (outcome: SendResult, hasKey = false) =>
	explainedBy(() => acceptedAck(outcome, hasKey));

test.each<[SendResult]>([
	[acked('default')],
	[acked('accepted')],
	[acked('merged')],
	// An undocumented state without an error is passed through.
	...[undefined, null, '', false].map((error): [SendResult] => [acked('brand_new', error)]),
])('%j: accepted', (outcome) => {
	expect(acceptedAck(outcome, false)).toBe(outcome.ack);
});

/** With the outcome, and what the service said. */
const FAULTS: Array<[SendResult, string, string | undefined, hasKey?: boolean]> = [
	[acked('busy', 'server_busy'), 'not_sent', 'server_busy'],
	...INVALID_CODES.map((code): [SendResult, string, string] => [
		acked('invalid', code),
		'rejected',
		code,
	]),
	[acked('invalid', 'newer'), 'rejected', 'newer'],
	[acked('invalid', { code: 7 }), 'rejected', '{"code":7}'],
	[acked('invalid'), 'rejected', undefined],
	[acked('error', 'internal'), 'unknown', 'internal'],
	[acked('brand_new', 'not today'), 'rejected', 'not today (state brand_new)'],
	[UNKNOWN, 'unknown', undefined],
	[UNKNOWN, 'unknown', undefined, true],
	// An earlier attempt may have been accepted, whatever the later one says.
	[acked('busy', 'server_busy', true), 'unknown', 'server_busy'],
	[acked('invalid', 'agent_inactive', true), 'unknown', 'agent_inactive'],
	[acked('brand_new', 'no', true), 'unknown', 'no'],
];

test.each(FAULTS)('%j: %s', (...row) => {
	const [outcome, expected, originalMessage, hasKey] = row;
	expect(faultOf(outcome, hasKey)).toMatchObject({ outcome: expected, originalMessage });
});

test('the messages', () => {
	const faults = FAULTS.map(([outcome, , , hasKey]) => faultOf(outcome, hasKey));
	const texts = faults.map(({ message, resolution }) => `${message}.\n\t${resolution}`);
	expect([...new Set(texts)].join('\n')).toMatchSnapshot();
});

test('only a message that the service was too busy for may succeed later without changes', () => {
	expect(faultOf(acked('busy', 'server_busy')).isTransient).toBe(true);
	expect(faultOf(acked('invalid', 'bad_json')).isTransient).toBe(false);
});
