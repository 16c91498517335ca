import { parseFrame } from '../../../../nodes/shared/chat/frames';
import { MAX_ENTRIES, ReplyCollector } from '../../../../nodes/shared/chat/reply';
import type { WantedTurn } from '../../../../nodes/shared/chat/reply';
import type { JsonObject } from '../../../../nodes/shared/json';
import { eventFrame } from './fakes';

type Event = [type: string, payload: JsonObject];

const user = (content: string, id: string): Event => [
	'message_received',
	{ id, type: 'message', role: 'user', content },
];
const ai = (content: string, id = `of ${content}`): Event => [
	'message_received',
	{ id, type: 'message', role: 'ai', content },
];
const result = (turnId: string, messageId: string | null, into: string | null = null): Event => [
	'turn_result',
	{ turn_id: turnId, message_id: messageId, state: 'default', merged_into: into, error: null },
];

const MERGED: WantedTurn = { turnId: 't-1', messageIds: [], isNew: true };
const FROM_BEFORE: WantedTurn = { turnId: 't-1', messageIds: ['u-1'], isNew: false };

/** What a turn with the text "hi" was answered after these events. */
function replyTo(wanted: WantedTurn, events: Event[], sentText: string | null = 'hi') {
	return collected(events, sentText).replyTo(wanted);
}

function collected(events: Event[], sentText: string | null = 'hi'): ReplyCollector {
	const collector = new ReplyCollector(sentText);
	events.forEach(([type, payload], index) => {
		const received = parseFrame(eventFrame(type, `e-${index}`, payload));
		if (received.kind === 'event') collector.take(received.event);
	});
	return collector;
}

describe('the reply of a turn is what the agent said', () => {
	it.each<[string, Event[], string]>([
		['before the result', [user('hi', 'u-1'), ai('A'), result('t-1', 'u-1')], 'A'],
		['after the result', [user('hi', 'u-1'), result('t-1', 'u-1'), ai('A')], 'A'],
		['in several messages', [user('hi', 'u-1'), ai('A'), ai('B'), result('t-1', 'u-1')], 'A\n\nB'],
		[
			'before the result, and nothing that follows it',
			[user('hi', 'u-1'), ai('A'), result('t-1', 'u-1'), user('x', 'u-2'), ai('X')],
			'A',
		],
		[
			'after the result, and nothing that was said before the own message',
			[ai('X'), user('hi', 'u-1'), result('t-1', 'u-1'), ai('A')],
			'A',
		],
		[
			'to three messages that were merged, where the results name the turn',
			[
				user('hi', 'u-1'),
				user('two', 'u-2'),
				user('three', 'u-3'),
				ai('A'),
				result('t-1', 'u-1'),
				result('t-1', 'u-2'),
				result('t-1', 'u-3'),
			],
			'A',
		],
		[
			'to three messages that were merged, where the results name their own turns',
			[
				user('hi', 'u-1'),
				user('two', 'u-2'),
				result('t-5', 'u-1', 't-1'),
				result('t-6', 'u-2', 't-1'),
				ai('A'),
			],
			'A',
		],
		[
			'before a person took over',
			[
				user('hi', 'u-1'),
				ai('A'),
				['mode_changed', { to: 'support' }],
				result('t-1', 'u-1'),
				ai('X'),
			],
			'A',
		],
		[
			'in the very message that the result names, whatever else is said',
			[user('hi', 'u-1'), ai('X'), user('x', 'u-2'), ai('A', 'm-7'), result('t-1', 'm-7')],
			'A',
		],
		[
			'after the own message, though the result names that by an ID that a text has as well',
			[ai('X', '7'), user('hi', '7'), ai('A'), result('t-1', '7')],
			'A',
		],
		['with spaces around the own text', [user(' hi\n', 'u-1'), ai('A')], 'A'],
	])('%s', (_when, events, reply) => {
		expect(replyTo(MERGED, events)).toEqual({ reply, source: 'events' });
	});
});

describe('no reply rather than that of another turn', () => {
	it.each<[string, Event[]]>([
		['the own message is not seen', [ai('X'), result('t-1', 'u-1')]],
		[
			'the own message may be one of two',
			[user('hi', 'u-1'), ai('X'), user('hi', 'u-2'), ai('A'), result('t-1', 'u-2')],
		],
		[
			'another customer’s message stands before the text',
			[user('hi', 'u-1'), user('x', 'u-2'), ai('A or X'), result('t-1', 'u-1')],
		],
		[
			'the result of another turn stands before the text',
			[user('hi', 'u-1'), result('t-7', 'u-0'), ai('A or X'), result('t-1', 'u-1')],
		],
		[
			'the result of another turn stands behind the text',
			[user('hi', 'u-1'), ai('A or X'), result('t-7', 'u-0'), result('t-1', 'u-1')],
		],
		[
			'a second text comes behind another message',
			[user('hi', 'u-1'), ai('A'), user('x', 'u-2'), ai('A or X'), result('t-1', 'u-1')],
		],
		[
			'the result comes first and then another message and its text',
			[user('hi', 'u-1'), result('t-1', 'u-1'), user('x', 'u-2'), ai('A or X')],
		],
		[
			'the agent reminds the customer of its own accord',
			[user('hi', 'u-1'), ['nudge_sent', { idle_seconds: 60 }], ai('A or X'), result('t-1', null)],
		],
		[
			'the agent takes up the talk again of its own accord',
			[user('hi', 'u-1'), ai('A or X'), ['auto_resume_fired', {}], result('t-1', null)],
		],
		[
			'a person has taken over',
			[user('hi', 'u-1'), ['mode_changed', { to: 'support' }], ai('X'), result('t-1', 'u-1')],
		],
	])('%s', (_why, events) => {
		expect(replyTo(MERGED, events)).toEqual({ reply: null, source: 'uncertain' });
	});

	it('says that there is none where the agent said nothing', () => {
		const events = [user('hi', 'u-1'), result('t-1', 'u-1')];
		expect(replyTo(MERGED, events)).toEqual({ reply: null, source: 'none' });
		expect(replyTo(MERGED, [])).toEqual({ reply: null, source: 'none' });
	});

	it('leaves out what is older than the own message and was only replayed after it', () => {
		const collector = new ReplyCollector('hi');
		const at = (ts: string | number, [type, payload]: Event) => {
			const received = parseFrame(JSON.stringify({ type, ts, payload }));
			if (received.kind === 'event') collector.take(received.event);
		};
		at(1_000, user('hi', 'u-1'));
		at(900, user('x', 'u-0'));
		at(950, ai('X'));
		at(990, result('t-0', 'u-0'));
		at(1_100, ai('A'));
		expect(collector.replyTo(MERGED)).toEqual({ reply: 'A', source: 'events' });
	});

	it.each([
		['ts', 'created_at'],
		['created_at', 'ts'],
	])('%s, in whatever writing, tells that as well where %s says nothing', (told) => {
		const collector = new ReplyCollector('hi');
		const at = (time: string, [type, payload]: Event) => {
			const text = JSON.stringify(
				told === 'ts'
					? { type, ts: time, payload }
					: { type, payload: { ...payload, created_at: time } },
			);
			const incoming = parseFrame(text);
			if (incoming.kind === 'event') collector.take(incoming.event);
		};
		at('2026-01-01T05:30:05+05:30', user('hi', 'u-1'));
		at('2026-01-01T05:30:04+05:30', ai('X'));
		at('2026-01-01T00:00:06Z', ai('A'));
		expect(collector.replyTo(MERGED)).toEqual({ reply: 'A', source: 'events' });
	});

	it.each(['ts', 'created_at'])('a reply with the same %s as the own message counts', (told) => {
		const collector = new ReplyCollector('hi');
		// As of a service that gives whole seconds.
		const time = '2026-01-01T00:00:06Z';
		for (const [type, payload] of [user('hi', 'u-1'), ai('A')]) {
			const text = JSON.stringify(
				told === 'ts'
					? { type, ts: time, payload }
					: { type, payload: { ...payload, created_at: time } },
			);
			const incoming = parseFrame(text);
			if (incoming.kind === 'event') collector.take(incoming.event);
		}
		expect(collector.replyTo(MERGED)).toEqual({ reply: 'A', source: 'events' });
	});
});

describe('a message of an earlier run', () => {
	it('is known by its ID in a replay', () => {
		const events = [user('hi', 'u-1'), ai('A')];
		expect(replyTo(FROM_BEFORE, events)).toEqual({ reply: 'A', source: 'events' });
	});

	it('is not known by its text: another message may have the same', () => {
		const events = [user('hi', 'u-9'), ai('X')];
		expect(replyTo(FROM_BEFORE, events)).toEqual({ reply: null, source: 'uncertain' });
	});

	it('is known by its text where its own result follows', () => {
		const events = [user('hi', 'u-9'), ai('A'), result('t-1', 'u-9')];
		expect(replyTo(FROM_BEFORE, events)).toEqual({ reply: 'A', source: 'events' });
	});

	it('does not take a result that stands before the message for its own', () => {
		const events = [result('t-1', 'u-1'), user('hi', 'u-9'), ai('X')];
		expect(replyTo(FROM_BEFORE, events)).toEqual({ reply: null, source: 'uncertain' });
	});
});

it('an answer to an interactive message is known as the only message of the customer', () => {
	const events = [user('Yes, please', 'u-1'), ai('A'), result('t-1', 'u-1')];
	expect(replyTo(MERGED, events, null)).toEqual({ reply: 'A', source: 'events' });
});

it('a result without a turn is known by any ID of the own message', () => {
	const wanted = { turnId: null, messageIds: ['m-1', 'u-1'], isNew: true };
	const own: Event = ['turn_result', { message_id: 'u-1', state: 'default' }];
	const events = [user('hi', 'u-1'), ai('A'), own, user('x', 'u-2'), ai('X')];
	expect(replyTo(wanted, events)).toEqual({ reply: 'A', source: 'events' });
});

it('the result of a turn that no answer has named is known by the own message', () => {
	const wanted = { turnId: null, messageIds: ['u-1'], isNew: true };
	const events = [user('hi', 'u-1'), result('t-8', 'u-2'), result('t-9', 'u-1')];
	expect(collected(events).resultOf(wanted)).toMatchObject({ turn_id: 't-9' });
});

it('an ID that the client chose does not make the result of another turn its own', () => {
	const wanted = { turnId: 't-1', messageIds: ['7'], isNew: true };
	const events = [user('hi', 'u-1'), ai('X'), result('t-5', '7')];
	expect(replyTo(wanted, events)).toEqual({ reply: null, source: 'uncertain' });
});

describe('more than a conversation has', () => {
	const many = Array.from({ length: MAX_ENTRIES }, (_, index) => user('x', `x-${index}`));

	it('is not kept, and no reply is taken for the message’s own', () => {
		const events = [user('hi', 'u-1'), ai('A'), result('t-1', 'u-1'), ...many];
		expect(replyTo(MERGED, events)).toEqual({ reply: null, source: 'uncertain' });
	});

	it('leaves a reply that the result names', () => {
		const events = [user('hi', 'u-1'), ai('A', 'a-1'), result('t-1', 'a-1'), ...many];
		expect(replyTo(MERGED, events)).toEqual({ reply: 'A', source: 'events' });
	});
});
