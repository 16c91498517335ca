import { sessionsLost } from '../../../nodes/ChatEventsTrigger/lossReporter';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import { ChatEnded } from '../../../nodes/shared/chat/reconnectPolicy';
import { engineHarness, makeWorkflow, triggerContext } from '../../engine';

const harness = engineHarness();

const context = () => {
	const node = harness.node('chatEventsTrigger');
	return triggerContext(makeWorkflow([node]), node);
};

const TEXT = { message: 'The chat has ended', resolution: forEveryone('Look at it.') };
const loss = (sessionId: string, isRetried = false, said?: string) => ({
	sessionId,
	isRetried,
	ending: new ChatEnded('unreachable', TEXT, { originalMessage: said }),
});

const AGAIN = 'The trigger tries again automatically, at intervals of up to 15 minutes.';

test.each([
	['a final one', [loss('s0')], 'Look at it.'],
	['one that is retried', [loss('s0', true)], `Look at it. ${AGAIN}`],
	[
		'one with text from the service, without its HTML',
		[loss('s0', false, '<a href="x">closed</a>')],
		'Look at it. The service said: ‹a href="x">closed‹/a>.',
	],
	[
		'two, of which one is retried',
		[loss('s0'), loss('s1', true)],
		`s0: The chat has ended. Look at it. s1: The chat has ended. Look at it. ${AGAIN}`,
	],
])("sessions that aren't connected: %s", (_case, losses, description) => {
	const message =
		losses.length > 1
			? "2 chat sessions aren't connected"
			: "Chat session s0 isn't connected: the chat has ended";
	expect(sessionsLost(context(), losses)).toMatchObject({ message, description });
});

test.each([
	[51, ' And 1 more session.'],
	[1_000, ' And 950 more sessions.'],
])("names 50 of %i sessions that aren't connected", (length, rest) => {
	const losses = Array.from({ length }, (_, index) => loss(`s${index}`));
	const { description } = sessionsLost(context(), losses);
	expect(description?.match(/s\d+:/g)).toHaveLength(50);
	expect(description?.endsWith(rest)).toBe(true);
});
