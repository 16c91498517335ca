import type { WorkflowExecuteMode } from 'n8n-workflow';
import { TriggerContext } from 'n8n-core';
import type { SessionEvent } from '../../../nodes/ChatEventsTrigger/eventStarter';
import { forEveryone } from '../../../nodes/shared/api/modelAdvice';
import {
	framesLost,
	LossReporter,
	sessionsLost,
} from '../../../nodes/ChatEventsTrigger/lossReporter';
import type { EndingKind } from '../../../nodes/shared/chat/reconnectPolicy';
import { ChatEnded } from '../../../nodes/shared/chat/endings';
import { parseFrame } from '../../../nodes/shared/chat/frames';
import { engineHarness, makeAdditionalData, makeWorkflow } from '../../engine';

const harness = engineHarness();

function contextOf(mode: WorkflowExecuteMode = 'trigger') {
	const node = harness.node('chatEventsTrigger');
	const data = makeAdditionalData(harness.credentials, mode);
	return new TriggerContext(makeWorkflow([node]), node, data, mode, 'activate');
}

const AGAIN =
	'The trigger tries again by itself, after a minute and then less and less often, up to every 15 minutes.';
const loss = (sessionId: string, kind: EndingKind) => ({
	sessionId,
	ending: new ChatEnded(
		kind,
		{ message: 'The chat is over', resolution: forEveryone('Look at it.') },
		undefined,
		null,
	),
});
const frame = (sessionId: string, chars = 9_000_000) => ({ sessionId, chars });

test.each<[string, EndingKind[], WorkflowExecuteMode, string, string]>([
	[
		'one for good',
		['session_closed'],
		'trigger',
		'The chat session s0 is not followed: the chat is over',
		'Look at it.',
	],
	[
		'one that is tried again',
		['unreachable'],
		'trigger',
		'The chat session s0 is not followed: the chat is over',
		`Look at it. ${AGAIN}`,
	],
	[
		'one in the editor, where the trial is over',
		['unreachable'],
		'manual',
		'The chat session s0 is not followed: the chat is over',
		'Look at it.',
	],
	[
		'two, of which one is tried again',
		['session_closed', 'unreachable'],
		'trigger',
		'2 chat sessions are not followed',
		`s0: The chat is over. Look at it. s1: The chat is over. Look at it. ${AGAIN}`,
	],
])('sessions that are not followed: %s', (_case, kinds, mode, message, description) => {
	const losses = kinds.map((kind, index) => loss(`s${index}`, kind));
	expect(sessionsLost(contextOf(mode), losses)).toMatchObject({ message, description });
});

test('of 1,000 sessions that are not followed 50 are named', () => {
	const losses = Array.from({ length: 1_000 }, (_, index) => loss(`s${index}`, 'mint_rejected'));
	const { description } = sessionsLost(contextOf(), losses);
	expect(description?.match(/s\d+:/g)).toHaveLength(50);
	expect(description).toMatch(/ 950 more sessions are not followed\.$/);
});

test('what the service said of a session that is not followed is no HTML', () => {
	const told = { message: 'The chat is over', resolution: forEveryone('Look at it.') };
	const ending = new ChatEnded('session_closed', told, '<a href="x">closed</a>', null);
	expect(sessionsLost(contextOf(), [{ sessionId: 's0', ending }]).description).toBe(
		'Look at it. The service said: ‹a href="x">closed‹/a>.',
	);
});

test.each([
	[1, 'What came in a chat session was too large to be read', 's0 (9,000,000 characters).'],
	[
		2,
		'What came in chat sessions was too large to be read, 2 times',
		's0 (9,000,000 characters), s1 (9,000,000 characters).',
	],
	[
		51,
		'What came in chat sessions was too large to be read, 51 times',
		', s49 (9,000,000 characters) and 1 more.',
	],
])('%i frames that are too large', (count, message, end) => {
	const frames = Array.from({ length: count }, (_, index) => frame(`s${index}`));
	const { message: told, description } = framesLost(contextOf(), frames);
	expect(told).toBe(message);
	expect(description).toMatch(
		/^It started no execution: the trigger reads 8,388,608 characters at most\. Look at these conversations yourself: s0 /,
	);
	expect(description?.endsWith(end)).toBe(true);
});

describe('what is lost one after another', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	const event = (eventId?: string): SessionEvent => {
		const envelope = { type: 'nudge_sent', payload: {}, ...(eventId && { event_id: eventId }) };
		const parsed = parseFrame(JSON.stringify(envelope));
		if (parsed.kind !== 'event') throw new Error('That is no event');
		return { sessionId: 's0', event: parsed.event };
	};
	const rig = () => {
		const context = contextOf();
		const saved: Array<{ message: string; description?: unknown }> = [];
		jest.spyOn(context, 'saveFailedExecution').mockImplementation((error) => saved.push(error));
		const log = jest.spyOn(context.logger, 'error').mockReturnValue();
		log.mockClear();
		const closed = new AbortController();
		return { losses: new LossReporter(context, closed.signal), saved, log, closed };
	};

	test('is told after a quarter of a minute together, and what comes then by itself', async () => {
		const { losses, saved } = rig();
		losses.frames.add(frame('a'));
		await jest.advanceTimersByTimeAsync(14_999);
		losses.frames.add(frame('b'));
		expect(saved).toEqual([]);
		await jest.advanceTimersByTimeAsync(1);
		expect(saved.map(({ message }) => message)).toEqual([
			'What came in chat sessions was too large to be read, 2 times',
		]);
		losses.frames.add(frame('c'));
		await jest.advanceTimersByTimeAsync(15_000);
		expect(saved).toHaveLength(2);
		expect(saved[1]?.description).toContain('c (');
	});

	test('nothing is told of nothing', async () => {
		const { losses, saved, closed } = rig();
		losses.events.add();
		closed.abort();
		await jest.advanceTimersByTimeAsync(15_000);
		expect(saved).toEqual([]);
	});

	test('is told at once when the trigger closes, and events stand in the log as well', async () => {
		const { losses, saved, closed, log } = rig();
		losses.events.add(event('e1'), event());
		closed.abort();
		await jest.advanceTimersByTimeAsync(0);
		const description =
			'n8n did not take them before the trigger was closed, or could not start an execution (its log says why). Unless the service sends them again, look at these conversations yourself: nudge_sent (e1) of s0, nudge_sent (no ID) of s0.';
		expect(saved).toMatchObject([{ message: '2 chat events started no execution', description }]);
		expect(log.mock.calls).toEqual([
			['2 chat events started no execution', { originalMessage: description }],
		]);
	});
});
