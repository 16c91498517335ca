import fc from 'fast-check';
import { type ChatEvent, idText, parseFrame } from '../../../../nodes/shared/chat/frames';
import {
	MAX_ENTRIES,
	MAX_AGENT_MESSAGES,
	ReplyCollector,
	type WantedTurn,
} from '../../../../nodes/shared/chat/reply';
import type { JsonObject } from '../../../../nodes/shared/json';
import { eventFrame } from './fakes';

type Event = [type: string, payload: JsonObject];

const message = (role: string, content: string, id: string | number): Event => [
	'message_received',
	{ id, type: 'message', role, content },
];
const user = (content: string, id: string) => message('user', content, id);
const ai = (content: string, id: string | number = `of ${content}`) => message('ai', content, id);
const result = (turnId: string, messageId: string | null, into: string | null = null): Event => [
	'turn_result',
	{ turn_id: turnId, message_id: messageId, state: 'default', merged_into: into, error: null },
];

const WANTED: WantedTurn = { turnId: 't-1', messageIds: ['u-1'] };

function eventOf([type, payload]: Event, index: number): ChatEvent {
	const received = parseFrame(eventFrame(type, `e-${index}`, payload));
	if (received.kind !== 'event') throw new Error('not an event');
	return received.event;
}

function collected(events: Event[]): ReplyCollector {
	const collector = new ReplyCollector();
	for (const event of events.map(eventOf)) collector.take(event);
	return collector;
}

const replyTo = (events: Event[], wanted = WANTED) => collected(events).replyTo(wanted);

describe("the reply is the agent's message that the turn's result names", () => {
	it.each<[string, Event[], string]>([
		['before the result', [user('hi', 'u-1'), ai('A', 'a'), result('t-1', 'a')], 'A'],
		['after the result', [user('hi', 'u-1'), result('t-1', 'a'), ai('A', 'a')], 'A'],
		['without an event for the customer message', [ai('A', 'a'), result('t-1', 'a')], 'A'],
		['as a number', [ai('A', 7), result('t-1', '7')], 'A'],
		[
			'among other messages',
			[
				ai('X', 'x'),
				user('hi', 'u-1'),
				ai('Y', 'y'),
				user('x', 'u-2'),
				ai('A', 'a'),
				result('t-1', 'a'),
				ai('Z', 'z'),
			],
			'A',
		],
		[
			'in several results',
			[ai('A', 'a'), ai('B', 'b'), result('t-1', 'a'), result('t-1', 'b')],
			'A\n\nB',
		],
		['once, if it arrives twice', [ai('A', 'a'), ai('A', 'a'), result('t-1', 'a')], 'A'],
		[
			'in the result of the turn that it was merged into',
			[result('t-1', null, 't-2'), ai('A', 'a'), result('t-2', 'a')],
			'A',
		],
		[
			'in the result of another message that was merged into the turn',
			[ai('A', 'a'), result('t-7', 'a', 't-1')],
			'A',
		],
	])('%s', (_name, events, reply) => {
		expect(replyTo(events)).toEqual({ reply, source: 'events', agentMessages: [] });
	});

	it('even after an unread frame or dropped events', () => {
		const many = Array.from({ length: MAX_ENTRIES }, (_, index) => user('x', `x-${index}`));
		const collector = collected([ai('A', 'a'), result('t-1', 'a'), ...many]);
		collector.hasUnreadFrame = true;
		expect(collector.replyTo(WANTED)).toMatchObject({ reply: 'A' });
	});
});

describe('no reply without proof', () => {
	it.each<[string, Event[], WantedTurn?]>([
		['for a message after the customer message', [user('hi', 'u-1'), ai('A')]],
		[
			'for a message between the customer message and the result',
			[user('hi', 'u-1'), ai('A'), result('t-1', 'u-1')],
		],
		['for a message after the result', [user('hi', 'u-1'), result('t-1', 'u-1'), ai('A')]],
		[
			"if results name customers' messages, and another client chose an ID that a message of the agent has",
			[user('yes', '10'), ai('A', '13'), result('t-12', '10'), result('t-1', '13')],
		],
		[
			"if the result of the merged turn names the customer's message",
			[result('t-1', 'u-1', 't-2'), ai('A', '10'), result('t-2', '10')],
		],
		['if the result names no message', [user('hi', 'u-1'), ai('A'), result('t-1', null)]],
		["if another turn's result names it", [user('hi', 'u-1'), ai('A', 'a'), result('t-2', 'a')]],
		[
			'if the named ID is that of the customer message and of another one',
			[ai('X', '7'), user('hi', '7'), result('t-1', '7')],
		],
		[
			'if the client chose the named ID',
			[ai('X', '7'), result('t-1', '7')],
			{ turnId: 't-1', messageIds: ['7'] },
		],
		[
			'if the named ID may be a value of the request',
			[ai('X', '7'), result('t-1', '7')],
			{ turnId: 't-1', messageIds: [], givenIds: ['7'] },
		],
		[
			'if no response has named the turn',
			[ai('A', 'a'), result('t-1', 'a')],
			{ turnId: null, messageIds: ['u-1'] },
		],
		[
			"if the named message isn't text, such as an interactive one",
			[['message_received', { id: 'a', role: 'ai', content: null }], result('t-1', 'a')],
		],
		[
			"if one of the named messages isn't text",
			[
				ai('A', 'a'),
				['message_received', { id: 'b', role: 'ai', content: { body: 'Choose' } }],
				result('t-1', 'a'),
				result('t-1', 'b'),
			],
		],
		[
			'if two messages have the named ID',
			[ai('One moment', 'a'), ai('The reply', 'a'), result('t-1', 'a')],
		],
		[
			'while the turn that it was merged into has no result',
			[ai('A', 'a'), result('t-1', 'u-1', 't-2')],
		],
	])('%s', (_name, events, wanted = WANTED) => {
		const agentMessages = events
			.filter(([, { role }]) => role === 'ai')
			.map(([, payload]) => payload);
		expect(replyTo(events, wanted)).toEqual({ reply: null, source: 'uncertain', agentMessages });
	});

	it('if there is no message of the agent', () => {
		const none = { reply: null, source: 'none', agentMessages: [] };
		expect(replyTo([user('hi', 'u-1'), result('t-1', 'u-1')])).toEqual(none);
		expect(replyTo([])).toEqual(none);
	});

	it('if events were dropped or a frame was not read', () => {
		const many = Array.from({ length: MAX_ENTRIES }, (_, index) => user('x', `x-${index}`));
		expect(replyTo([...many, ai('A', 'a'), result('t-1', 'a')])).toMatchObject({
			reply: null,
			source: 'uncertain',
		});
		const collector = collected([ai('A')]);
		collector.hasUnreadFrame = true;
		expect(collector.replyTo(WANTED)).toMatchObject({ reply: null, source: 'too_large' });
	});

	it('returns at most the latest 100 messages instead', () => {
		const texts = Array.from({ length: MAX_AGENT_MESSAGES + 1 }, (_, index) => ai(`${index}`));
		const { agentMessages } = replyTo(texts);
		expect([agentMessages.length, agentMessages[0]?.content]).toEqual([MAX_AGENT_MESSAGES, '1']);
	});
});

it('for any events in any order, a reply consists of messages that results of the turn name', () => {
	const id = fc.constantFrom('a', 'b', 'c', 'u-1', 'u-2');
	const turn = fc.constantFrom('t-1', 't-2', 't-3');
	const event = fc.oneof(
		fc
			.tuple(fc.constantFrom('user', 'ai'), id)
			.map(([role, one]) => message(role, `${role} ${one}`, one)),
		fc.tuple(turn, id).map(([one, named]) => result(one, named)),
	);
	fc.assert(
		fc.property(fc.array(event, { maxLength: 12 }), (events) => {
			const { reply } = replyTo(events);
			const named = events.flatMap(([type, payload]) =>
				type === 'turn_result' && payload.turn_id === 't-1'
					? [`ai ${idText(payload.message_id)}`]
					: [],
			);
			for (const part of reply?.split('\n\n') ?? []) {
				expect(named).toContain(part);
				expect(part).not.toBe('ai u-1');
			}
		}),
		{ numRuns: 500 },
	);
});

it('a result without a turn is recognized by any ID of the message', () => {
	const wanted = { turnId: null, messageIds: ['m-1', 'u-1'] };
	const own: Event = ['turn_result', { message_id: 'u-1', state: 'default' }];
	expect(collected([user('hi', 'u-1'), own]).resultOf(wanted)).toMatchObject({ message_id: 'u-1' });
});

it('the result of a turn that no response has named is recognized by the message', () => {
	const wanted = { turnId: null, messageIds: ['u-1'] };
	const events = [user('hi', 'u-1'), result('t-8', 'u-2'), result('t-9', 'u-1')];
	expect(collected(events).resultOf(wanted)).toMatchObject({ turn_id: 't-9' });
});

it('a result whose merged turn has no result counts if it names the reply', () => {
	const merged = result('t-1', 'a', 't-2');
	expect(collected([merged]).resultOf(WANTED)).toBeNull();
	expect(collected([ai('A', 'b'), merged]).resultOf(WANTED)).toBeNull();
	expect(collected([ai('A', 'a'), merged]).resultOf(WANTED)).toMatchObject({ turn_id: 't-1' });
	const events = [ai('A', 'a'), merged, result('t-2', 'a')];
	expect(collected(events).resultOf(WANTED)).toMatchObject({ turn_id: 't-2' });
});

it("a client-chosen ID doesn't match the result of another turn", () => {
	const wanted = { turnId: 't-1', messageIds: ['7'] };
	expect(collected([user('hi', 'u-1'), result('t-5', '7')]).resultOf(wanted)).toBeNull();
});

describe('a turn whose result is an error', () => {
	const failed = (more: JsonObject): Event => [
		'turn_result',
		{ turn_id: 't-1', message_id: null, merged_into: null, ...more },
	];

	it.each<JsonObject>([
		{ state: 'error', error: 'internal_error' },
		{ state: 'error', error: null },
		{ state: 'default', error: 'internal_error' },
		{ state: 'invalid' },
		{ state: 'busy', error: 'server_busy' },
		{ state: 'brand_new', error: { code: 7 } },
	])('is reported as failed: %j', (more) => {
		expect(replyTo([user('hi', 'u-1'), failed(more)])).toEqual({
			reply: null,
			source: 'failed',
			agentMessages: [],
		});
	});

	it('is reported with the messages', () => {
		const { source, agentMessages } = replyTo([
			ai('Sorry'),
			failed({ state: 'error', error: 'x' }),
		]);
		expect([source, agentMessages.length]).toEqual(['failed', 1]);
	});

	it('of another turn is ignored', () => {
		const other = failed({ turn_id: 't-9', state: 'error', error: 'x' });
		expect(replyTo([other]).source).toBe('none');
	});

	it('returns the reply that it names', () => {
		const events = [ai('Sorry', 'a'), failed({ message_id: 'a', state: 'error', error: 'x' })];
		expect(replyTo(events)).toMatchObject({ reply: 'Sorry', source: 'events' });
	});
});

describe('an operator with any role', () => {
	it.each(['operator', 'support', 'human', ''])(
		'"%s" is returned, but not as the reply',
		(role) => {
			const spoken = message(role, 'This is Ann', 'a');
			expect(replyTo([spoken, result('t-1', 'a')])).toMatchObject({
				reply: null,
				source: 'uncertain',
				agentMessages: [{ role, content: 'This is Ann' }],
			});
		},
	);
});
