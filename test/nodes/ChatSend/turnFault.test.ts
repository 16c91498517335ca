import { forEveryone } from '../../../nodes/shared/api/resolution';
import { ChatEnded } from '../../../nodes/shared/chat/endings';
import type { TurnOutcome } from '../../../nodes/shared/chat/turn';
import { turnFault } from '../../../nodes/ChatSend/turnFault';
import { type Ack, INVALID_CODES } from '../../../nodes/shared/chat/frames';

const ack: Ack = {
	state: 'any',
	error: 'reason',
	payload: {},
};

const ended = new ChatEnded(
	'unreachable',
	{ message: 'The connection fails', resolution: forEveryone('Check it.') },
	'close code 1006',
	1006,
);

const notSent = (readiness: Extract<TurnOutcome, { kind: 'not_sent' }>['readiness']) =>
	turnFault({ kind: 'not_sent', readiness });

describe('turnFault', () => {
	it("doesn't advise to run a whole stopped workflow again, because the messages of other items may be sent", () => {
		expect(notSent({ kind: 'closed_by_us' })?.resolution).not.toContain('Run the workflow again');
	});

	it.each<TurnOutcome>([
		{ kind: 'completed', ack },
		{ kind: 'accepted', ack },
		{ kind: 'unrecognized', ack },
	])('is null for $kind', (outcome) => {
		expect(turnFault(outcome)).toBeNull();
	});

	it.each<[TurnOutcome, string, string | undefined]>([
		[{ kind: 'busy', ack, attempts: 6 }, 'not_sent', 'reason'],
		[{ kind: 'invalid', ack, code: 'bad_json' }, 'rejected', 'bad_json'],
		[{ kind: 'failed', ack }, 'unknown', 'reason'],
		[{ kind: 'rejected', ack, originalMessage: 'no' }, 'rejected', 'no (state any)'],
		[{ kind: 'unknown', why: 'lost', hasKey: false }, 'unknown', undefined],
		[{ kind: 'not_sent', readiness: { kind: 'closed_by_us' } }, 'not_sent', undefined],
		[
			{ kind: 'not_sent', readiness: { kind: 'ended', ending: ended } },
			'not_sent',
			'close code 1006',
		],
	])("has the outcome and the service's text: %j", (outcome, expected, originalMessage) => {
		expect(turnFault(outcome)).toMatchObject({ outcome: expected, originalMessage });
	});

	it('has a message for each of the 9 codes, and a general one for other codes', () => {
		const texts = [...INVALID_CODES, 'newer'].map(
			(code) => turnFault({ kind: 'invalid', ack, code })?.message,
		);
		expect(new Set(texts).size).toBe(10);
		expect(turnFault({ kind: 'invalid', ack, code: null })?.originalMessage).toBeUndefined();
	});

	it('distinguishes a missing confirmation from a lost connection, and shows whether a repeat is safe', () => {
		const of = (why: 'no_ack' | 'lost', hasKey: boolean) =>
			turnFault({ kind: 'unknown', why, hasKey });
		expect(of('no_ack', false)?.message).not.toBe(of('lost', false)?.message);
		expect(of('lost', false)?.resolution).toContain("it wasn't sent again");
		expect(of('lost', true)?.resolution).toContain('same idempotency key, which is safe');
	});

	it.each<TurnOutcome>([
		...[...INVALID_CODES, 'newer', null].map((code) => ({ kind: 'invalid' as const, ack, code })),
		...(['no_ack', 'lost', 'too_large', 'stopped', 'time_limit'] as const).flatMap((why) =>
			[true, false].map((hasKey) => ({ kind: 'unknown' as const, why, hasKey })),
		),
		{ kind: 'busy', ack, attempts: 6 },
		{ kind: 'failed', ack },
		{ kind: 'rejected', ack, originalMessage: 'no' },
		{ kind: 'not_sent', readiness: { kind: 'closed_by_us' } },
	])('message and resolution: %j', (outcome) => {
		const { message, resolution } = turnFault(outcome) ?? {};
		expect(`${message}.\n${resolution}`).toMatchSnapshot();
	});

	it('names a way without a live connection if the session may be in use by another client', () => {
		const text = { message: 'It is rejected', resolution: forEveryone('Check it.') };
		const ending = new ChatEnded('in_use_or_inactive', text, undefined, 1008);
		expect(notSent({ kind: 'ended', ending })?.resolution).toBe(
			"Check it. To send a message without a live connection, set 'Send Via' to 'Request With Immediate Reply' or 'Request With Later Reply'.",
		);
	});

	it('gives the reason why nothing was sent', () => {
		expect(notSent({ kind: 'ended', ending: ended })).toMatchObject({
			message: 'The connection fails, so nothing was sent',
			resolution: 'Check it.',
		});
	});
});
