import { canceledError } from '../../host/execution/cancel';
import {
	chosenTypes,
	eventTypesField,
	otherEventTypesField,
	sessionField,
	disconnectOtherField,
} from '../../host/forms/chatFields';
import { forEachChatItem, type Prepare } from '../../host/run/chatItems';
import type { RequestDeps } from '../../host/ledger/preparedRequest';
import { clock } from '../../host/clock';
import { withChatSocket } from '../../host/http/chatSocket';
import { concurrencyField, developerSettings } from '../../host/forms/options';
import { asItems } from '../../host/run/itemLoop';
import { capInTools } from '../../host/caller/caller';
import type { Operation } from '../../host/run/operations';
import { parseSessionId } from '../../core/chat/parseChatFields';
import { awaitEvent } from '../chatWait';
import { InvalidInput, NOT_READ_FIELD } from '../../core/service/errors';
import { forEveryone } from '../../core/service/resolution';

const DEFAULT_CONCURRENCY = 10;
const DISCONNECTED =
	'The live connection was down when the wait ended, so an event may be missing.';
const MAX_WAIT_SECONDS = 86_400;

export const waitForEvent: Operation = {
	name: 'Wait for Event',
	value: 'waitForEvent',
	action: 'Wait for chat session event',
	description: 'Continue after an event in the session, or after a time limit',
	subtitle: 'wait for session event',
	fields: [
		sessionField,
		{
			...eventTypesField,
			description:
				"Which events to wait for. The first one ends the wait. Events from before the wait, or before the end of a chat node directly before it, don't: they are in 'seen' of the output. Leave empty to wait for any event.",
		},
		{
			displayName: 'Time Limit (Seconds)',
			name: 'timeLimit',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: MAX_WAIT_SECONDS },
			default: 300,
			required: true,
			description:
				'How long to wait. The execution stays in memory while it waits, and is lost if n8n restarts. For long waits, start a workflow with the Chat Events Trigger.',
		},
		disconnectOtherField,
		developerSettings(
			concurrencyField(DEFAULT_CONCURRENCY, 'How many sessions to wait for at the same time'),
			otherEventTypesField,
		),
	],
	isReadOnly: true,
	toolDescription:
		'Waits for an event in a chat session, such as a new message, and returns it. If none arrives in time, timed_out is true. Calls nobody and changes nothing.',
	async execute(run) {
		return await forEachChatItem(run, waitOnce, DEFAULT_CONCURRENCY);
	},
};

const waitOnce: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId'));
	const types = chosenTypes(form);
	const timeLimitMs = parseTimeLimit(form.number('timeLimit', undefined)) * 1000;
	const disconnectOther = form.switch('disconnectOther', false);
	const send = async ({ context, account }: RequestDeps) => {
		const timeoutMs = capInTools(context, timeLimitMs);
		const { end, seen } = await withChatSocket(
			context,
			account,
			sessionId,
			{ disconnectOther, patienceMs: timeoutMs },
			async (user) => await awaitEvent(user, { types, timeoutMs }, clock),
		);
		if (end.kind === 'stopped') throw canceledError(context);
		const event = end.kind === 'event' ? end.event : null;
		return asItems({
			session_id: sessionId,
			timed_out: end.kind === 'timed_out',
			...(end.kind === 'timed_out' && !end.isConnected && { [NOT_READ_FIELD]: DISCONNECTED }),
			session_closed: end.kind === 'session_closed' || event?.type === 'session_closed',
			event: event?.envelope ?? null,
			seen: seen.map(({ envelope }) => envelope),
		});
	};
	// Waiting again is safe, because it changes nothing in the service.
	return {
		payload: { sessionId, types, disconnectOther },
		target: undefined,
		modelMayRepeat: 'afterCompletion',
		happened: () => 'The wait has ended.',
		send,
	};
};

function parseTimeLimit(seconds = 0): number {
	if (seconds > 0 && seconds <= MAX_WAIT_SECONDS) return seconds;
	throw new InvalidInput(
		`'Time Limit (Seconds)' must be more than 0 and at most ${MAX_WAIT_SECONDS} (got ${seconds})`,
		forEveryone('Give the maximum number of seconds to wait, such as 300.'),
	);
}
