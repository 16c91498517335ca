import type { IExecuteFunctions } from 'n8n-workflow';
import { canceledError } from '../../shared/n8n/run/cancel';
import {
	chosenTypes,
	eventTypesField,
	otherEventTypesField,
	sessionField,
	takeOverField,
} from '../../shared/n8n/forms/chatFields';
import { forEachChatItem, type ChatDeps, type Prepare } from '../../shared/n8n/run/chatItems';
import { clock } from '../../shared/n8n/http/accountClient';
import { ExecutionStore } from '../../shared/n8n/idempotency/executionStore';
import { concurrencyField, optionsCollection } from '../../shared/n8n/forms/options';
import { MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import { asItems } from '../../shared/n8n/run/itemLoop';
import { runsAsTool } from '../../shared/n8n/tools/toolRun';
import { capInTools } from '../../shared/n8n/tools/toolDeadline';
import type { Operation } from '../../shared/n8n/run/operations';
import { parseSessionId, sessionKey } from '../../shared/chat/parseChatFields';
import { NOT_READ_FIELD } from '../../shared/notRead';
import { awaitEvent, type EventFilter } from '../chatWait';
import { InvalidInput } from '../../shared/api/errors';
import { forEveryone, readerOf } from '../../shared/api/modelAdvice';
import { isJsonObject } from '../../shared/json';

const WAITS_AT_ONCE = 10;
const LONGEST_WAIT_SECONDS = 86_400;

export const waitForEvent: Operation = {
	name: 'Wait for Event',
	value: 'waitForEvent',
	action: 'Wait for chat session event',
	description: 'Continue when something happens in the session, or after a time limit',
	fields: [
		sessionField,
		{
			...eventTypesField,
			description:
				'Which events to wait for. The first one ends the wait. Leave empty to wait for any event.',
		},
		{
			displayName: 'Time Limit (Seconds)',
			name: 'timeLimit',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: LONGEST_WAIT_SECONDS },
			default: 300,
			required: true,
			description:
				'How long to wait. The execution stays in memory while it waits and is lost when n8n restarts. For long waits, start a workflow with the Chat Events Trigger.',
		},
		takeOverField,
		optionsCollection(
			concurrencyField(WAITS_AT_ONCE, 'How many sessions to wait for at the same time'),
			otherEventTypesField,
		),
	],
	isReadOnly: true,
	toolDescription:
		'Waits until something happens in a chat session, such as a new message, and answers with it; when nothing happens in time, timed_out is true.',
	async execute(run) {
		return await forEachChatItem(run, waitOnce, {
			concurrency: WAITS_AT_ONCE,
			completedText: { singular: 'wait has already ended', plural: 'waits have already ended' },
		});
	},
};

const waitOnce: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId', MAY_BE_BLANK));
	const types = chosenTypes(form, form.collection('options'));
	const ms = parseTimeLimit(form.number('timeLimit', undefined)) * 1000;
	const takeOver = form.switch('takeOver', false);
	const send = async ({ context, connection, sockets }: ChatDeps) => {
		const known = givenOut(context, sessionId);
		const wish: EventFilter = {
			types,
			ms: capInTools(context, ms),
			known: new Set(known),
			reader: readerOf(runsAsTool(context)),
		};
		const { end, seen } = await sockets.use(
			connection,
			sessionId,
			takeOver,
			async (socket) => await awaitEvent(socket, wish, clock),
		);
		if (end.kind === 'stopped') throw canceledError(context);
		if (end.kind === 'never_connected' || end.kind === 'not_all_read') throw end.why;
		if (end.kind === 'ended' && end.ending.kind !== 'session_closed') throw end.ending;
		const event = end.kind === 'event' ? end.event : null;
		if (event?.eventId != null) known.push(event.eventId);
		return asItems({
			session_id: sessionId,
			timed_out: end.kind === 'time_over',
			...(end.kind === 'time_over' &&
				end.notListening !== undefined && { [NOT_READ_FIELD]: end.notListening }),
			session_closed: end.kind === 'ended' || event?.type === 'session_closed',
			event: event?.envelope ?? null,
			seen: seen.map(({ envelope }) => envelope),
		});
	};
	// Only listens.
	return { payload: { sessionId, types, takeOver }, repeatable: true, idempotent: true, send };
};

/** IDs of events that this node gave out before in this execution, kept with it: in a loop each counts once. */
function givenOut(context: IExecuteFunctions, sessionId: string): string[] {
	const memory = new ExecutionStore(context, 'events', isGivenOut, 'node', 'execution');
	const bySession = memory.read() ?? {};
	memory.write(bySession);
	return (bySession[sessionKey(sessionId)] ??= []);
}

function isGivenOut(stored: unknown): stored is { [sessionId: string]: string[] } {
	if (!isJsonObject(stored)) return false;
	const isId = (id: unknown) => typeof id === 'string';
	return Object.values(stored).every((ids) => Array.isArray(ids) && ids.every(isId));
}

function parseTimeLimit(seconds = 0): number {
	if (seconds > 0 && seconds <= LONGEST_WAIT_SECONDS) return seconds;
	throw new InvalidInput(
		'The Time Limit is not a number of seconds between 1 and 86400',
		forEveryone('Enter how many seconds to wait at most, such as 300.'),
	);
}
