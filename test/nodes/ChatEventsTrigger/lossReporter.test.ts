import type { WorkflowExecuteMode } from 'n8n-workflow';
import { TriggerContext } from 'n8n-core';
import type { SessionEvent } from '../../../nodes/ChatEventsTrigger/eventStarter';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import {
	framesLost,
	lossReporter,
	sessionsLost,
} from '../../../nodes/ChatEventsTrigger/lossReporter';
import type { EndingKind } from '../../../nodes/shared/chat/reconnectPolicy';
import { ChatEnded } from '../../../nodes/shared/chat/reconnectPolicy';
import { parseFrame } from '../../../nodes/shared/chat/frames';
import { engineHarness, makeAdditionalData, makeWorkflow } from '../../engine';

const harness = engineHarness();

function contextOf(mode: WorkflowExecuteMode = 'trigger') {
	const node = harness.node('chatEventsTrigger');
	const data = makeAdditionalData(harness.credentials, mode);
	return new TriggerContext(makeWorkflow([node]), node, data, mode, 'activate');
}

const AGAIN =
	'The trigger tries again automatically, after 1 minute at first and then at intervals of up to 15 minutes.';
const loss = (sessionId: string, kind: EndingKind, isRetried = kind === 'unreachable') => ({
	sessionId,
	isRetried,
	ending: new ChatEnded(kind, {
		message: 'The chat has ended',
		resolution: forEveryone('Look at it.'),
	}),
});
const frame = (sessionId: string, chars = 9_000_000) => ({ sessionId, chars });

test.each<[string, EndingKind[], WorkflowExecuteMode, string, string]>([
	[
		'a final one',
		['session_closed'],
		'trigger',
		"Chat session s0 isn't connected: the chat has ended",
		'Look at it.',
	],
	[
		'one that is retried',
		['unreachable'],
		'trigger',
		"Chat session s0 isn't connected: the chat has ended",
		`Look at it. ${AGAIN}`,
	],
	[
		'two, of which one is retried',
		['session_closed', 'unreachable'],
		'trigger',
		"2 chat sessions aren't connected",
		`s0: The chat has ended. Look at it. s1: The chat has ended. Look at it. ${AGAIN}`,
	],
])("sessions that aren't connected: %s", (_case, kinds, mode, message, description) => {
	const losses = kinds.map((kind, index) => loss(`s${index}`, kind));
	expect(sessionsLost(contextOf(mode), losses)).toMatchObject({ message, description });
});

test("names 50 of 1,000 sessions that aren't connected", () => {
	const losses = Array.from({ length: 1_000 }, (_, index) => loss(`s${index}`, 'mint_rejected'));
	const { description } = sessionsLost(contextOf(), losses);
	expect(description?.match(/s\d+:/g)).toHaveLength(50);
	expect(description).toMatch(/ 950 more sessions aren't connected\.$/);
});

test("text from the service doesn't contain HTML", () => {
	const text = { message: 'The chat has ended', resolution: forEveryone('Look at it.') };
	const ending = new ChatEnded('session_closed', text, '<a href="x">closed</a>');
	expect(
		sessionsLost(contextOf(), [{ sessionId: 's0', ending, isRetried: false }]).description,
	).toBe('Look at it. The service said: ‹a href="x">closed‹/a>.');
});

test.each([
	[1, 'A frame in a chat session was too large to read', 'it', 's0 (9,000,000 characters).'],
	[
		2,
		'2 frames in chat sessions were too large to read',
		'them',
		's0 (9,000,000 characters), s1 (9,000,000 characters).',
	],
	[
		51,
		'51 frames in chat sessions were too large to read',
		'them',
		', s49 (9,000,000 characters) and 1 more.',
	],
])('%i frames that are too large', (count, message, which, end) => {
	const frames = Array.from({ length: count }, (_, index) => frame(`s${index}`));
	const { message: actual, description } = framesLost(contextOf(), frames);
	expect(actual).toBe(message);
	const start = `The workflow wasn't started for ${which}, because the trigger reads at most 8,388,608 characters. Check these conversations in the service: s0 `;
	expect(description?.slice(0, start.length)).toBe(start);
	expect(description?.endsWith(end)).toBe(true);
});

describe('consecutive losses', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	const event = (eventId?: string): SessionEvent => {
		const envelope = { type: 'nudge_sent', payload: {}, ...(eventId && { event_id: eventId }) };
		const parsed = parseFrame(JSON.stringify(envelope));
		if (parsed.kind !== 'event') throw new Error('not an event');
		return { sessionId: 's0', event: parsed.event };
	};
	const setUp = () => {
		const context = contextOf();
		const saved: Array<{ message: string; description?: unknown }> = [];
		jest.spyOn(context, 'saveFailedExecution').mockImplementation((error) => saved.push(error));
		const log = jest.spyOn(context.logger, 'error').mockReturnValue();
		log.mockClear();
		const closed = new AbortController();
		return { losses: lossReporter(context, closed.signal), saved, log, closed };
	};

	test('are reported together after 15 seconds, and later ones separately', async () => {
		const { losses, saved } = setUp();
		losses.frames.add(frame('a'));
		await jest.advanceTimersByTimeAsync(14_999);
		losses.frames.add(frame('b'));
		expect(saved).toEqual([]);
		await jest.advanceTimersByTimeAsync(1);
		expect(saved.map(({ message }) => message)).toEqual([
			'2 frames in chat sessions were too large to read',
		]);
		losses.frames.add(frame('c'));
		await jest.advanceTimersByTimeAsync(15_000);
		expect(saved).toHaveLength(2);
		expect(saved[1]?.description).toContain('c (');
	});

	test('nothing lost, nothing reported', async () => {
		const { losses, saved, closed } = setUp();
		losses.events.add();
		closed.abort();
		await jest.advanceTimersByTimeAsync(15_000);
		expect(saved).toEqual([]);
	});

	test('are reported immediately when the trigger closes, and events are logged as well', async () => {
		const { losses, saved, closed, log } = setUp();
		losses.events.add(event('e1'), event());
		closed.abort();
		await jest.advanceTimersByTimeAsync(0);
		const description =
			"The trigger was closed before n8n received them, or n8n couldn't start an execution (see the n8n log). Unless the service sends them again, check these conversations in the service: nudge_sent (e1) of s0, nudge_sent (no ID) of s0.";
		expect(saved).toMatchObject([
			{ message: "2 chat events didn't start an execution", description },
		]);
		expect(log.mock.calls).toEqual([
			["2 chat events didn't start an execution", { originalMessage: description }],
		]);
	});
});
