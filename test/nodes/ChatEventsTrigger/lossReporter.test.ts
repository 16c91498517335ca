import { TriggerContext } from 'n8n-core';
import { lossReporter, sessionsLost } from '../../../nodes/ChatEventsTrigger/lossReporter';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import { ChatEnded } from '../../../nodes/shared/chat/reconnectPolicy';
import { engineHarness, makeAdditionalData, makeWorkflow } from '../../engine';

const harness = engineHarness();

function triggerContext() {
	const node = harness.node('chatEventsTrigger');
	const data = makeAdditionalData(harness.credentials, 'trigger');
	return new TriggerContext(makeWorkflow([node]), node, data, 'trigger', 'activate');
}

const TEXT = { message: 'The chat has ended', resolution: forEveryone('Look at it.') };
const loss = (sessionId: string, isRetried = false, said?: string) => ({
	sessionId,
	isRetried,
	ending: new ChatEnded('unreachable', TEXT, said),
});

const AGAIN =
	'The trigger tries again automatically, after 1 minute at first and then at intervals of up to 15 minutes.';

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
	expect(sessionsLost(triggerContext(), losses)).toMatchObject({ message, description });
});

test("names 50 of 1,000 sessions that aren't connected", () => {
	const losses = Array.from({ length: 1_000 }, (_, index) => loss(`s${index}`));
	const { description } = sessionsLost(triggerContext(), losses);
	expect(description?.match(/s\d+:/g)).toHaveLength(50);
	expect(description).toMatch(/ 950 more sessions aren't connected\.$/);
});

test('lost events are reported and logged immediately when the trigger closes, and nothing if none are lost', async () => {
	const context = triggerContext();
	const saved = jest.spyOn(context, 'saveFailedExecution').mockReturnValue();
	const log = jest.spyOn(context.logger, 'error').mockReturnValue();
	log.mockClear();
	const event = (id?: string) => {
		const envelope = { type: 'nudge_sent', ...(id !== undefined && { event_id: id }) };
		const read = { type: 'nudge_sent', eventId: id ?? null, payload: {}, envelope };
		return { sessionId: 's0', event: read };
	};
	for (const events of [[], [event('e1'), event()]]) {
		const closed = new AbortController();
		lossReporter(context, closed.signal).events.add(...events);
		closed.abort();
		await new Promise((resolve) => setImmediate(resolve));
	}
	const message = "2 chat events didn't start an execution";
	const description =
		"The trigger was closed before n8n received them, or n8n couldn't start an execution (see the n8n log). Unless the service sends them again, check these conversations in the service: nudge_sent (e1) of s0, nudge_sent (no ID) of s0.";
	expect(saved.mock.calls).toMatchObject([[{ message, description }]]);
	expect(log.mock.calls).toEqual([[message, { originalMessage: description }]]);
});
