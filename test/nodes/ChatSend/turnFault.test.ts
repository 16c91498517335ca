import type { AwaitedReply } from '../../../nodes/shared/chat/replyWatch';
import { forEveryone } from '../../../nodes/shared/api/modelAdvice';
import { ChatEnded } from '../../../nodes/shared/chat/endings';
import type { TurnOutcome } from '../../../nodes/shared/chat/turn';
import { turnFault } from '../../../nodes/ChatSend/turnFault';
import { type Ack, INVALID_CODES } from '../../../nodes/shared/chat/frames';

const ack: Ack = {
	state: 'any',
	reply: null,
	turnId: null,
	mergedInto: null,
	error: 'said',
	payload: {},
};

const UNANSWERED: AwaitedReply = {
	reply: null,
	source: 'none',
	spoken: [],
	result: null,
	end: 'time',
};

const ended = new ChatEnded(
	'unreachable',
	{ message: 'It does not hold', resolution: forEveryone('Check it.') },
	'close code 1006',
	1006,
);

const notSent = (readiness: Extract<TurnOutcome, { kind: 'not_sent' }>['readiness']) =>
	turnFault({ kind: 'not_sent', readiness });

describe('turnFault', () => {
	it.each<TurnOutcome>([
		{ kind: 'completed', ack, reply: null },
		{ kind: 'replayed', ack, ...UNANSWERED },
		{ kind: 'merged', ack, ...UNANSWERED },
		{ kind: 'unrecognized', ack },
	])('is none for $kind', (outcome) => {
		expect(turnFault(outcome)).toBeNull();
	});

	it.each<[TurnOutcome, string, string | undefined]>([
		[{ kind: 'busy', ack, tries: 6 }, 'not_sent', 'said'],
		[{ kind: 'invalid', ack, code: 'bad_json' }, 'rejected', 'bad_json'],
		[{ kind: 'failed', ack }, 'unknown', 'said'],
		[{ kind: 'rejected', ack, originalMessage: 'no' }, 'rejected', 'no (state any)'],
		[{ kind: 'unknown', why: 'lost', keyed: false }, 'unknown', undefined],
		[{ kind: 'not_sent', readiness: { kind: 'closed_by_us' } }, 'not_sent', undefined],
		[
			{ kind: 'not_sent', readiness: { kind: 'ended', ending: ended } },
			'not_sent',
			'close code 1006',
		],
	])('tells what is known of the effect: %j', (outcome, known, originalMessage) => {
		expect(turnFault(outcome)).toMatchObject({ outcome: known, originalMessage });
	});

	it('has words of its own for each of the nine codes, and general ones for a newer code', () => {
		const texts = [...INVALID_CODES, 'newer'].map(
			(code) => turnFault({ kind: 'invalid', ack, code })?.message,
		);
		expect(new Set(texts).size).toBe(10);
		expect(turnFault({ kind: 'invalid', ack, code: null })?.originalMessage).toBeUndefined();
	});

	it('tells a missing confirmation from a lost connection, and whether a repeat is safe', () => {
		const of = (why: 'no_ack' | 'lost', keyed: boolean) =>
			turnFault({ kind: 'unknown', why, keyed });
		expect(of('no_ack', false)?.message).not.toBe(of('lost', false)?.message);
		expect(of('lost', false)?.resolution).toContain('it was not sent again');
		expect(of('lost', true)?.resolution).toContain('same key is safe');
	});

	it.each<TurnOutcome>([
		...[...INVALID_CODES, 'newer', null].map((code) => ({ kind: 'invalid' as const, ack, code })),
		...(['no_ack', 'lost', 'too_large'] as const).flatMap((why) =>
			[true, false].map((keyed) => ({ kind: 'unknown' as const, why, keyed })),
		),
		{ kind: 'busy', ack, tries: 6 },
		{ kind: 'failed', ack },
		{ kind: 'rejected', ack, originalMessage: 'no' },
		{ kind: 'not_sent', readiness: { kind: 'closed_by_us' } },
	])('in words: %j', (outcome) => {
		const { message, resolution } = turnFault(outcome) ?? {};
		expect(`${message}.\n${resolution}`).toMatchSnapshot();
	});

	it('names a way without a live connection where another client may hold it', () => {
		const text = { message: 'It is rejected', resolution: forEveryone('Check it.') };
		const ending = new ChatEnded('held_or_inactive', text, undefined, 1008);
		expect(notSent({ kind: 'ended', ending })?.resolution).toBe(
			'Check it. Request With Immediate Reply and Request With Later Reply, in Send Via, need no live connection.',
		);
	});

	it('gives the reason why nothing could be sent', () => {
		expect(notSent({ kind: 'ended', ending: ended })).toMatchObject({
			message: 'It does not hold, so nothing was sent',
			resolution: 'Check it.',
		});
	});
});
