import type { IExecuteFunctions } from 'n8n-workflow';
import { canceledError } from '../../host/execution/cancel';
import {
	chosenTypes,
	eventTypesField,
	otherEventTypesField,
	sessionField,
	disconnectOtherField,
} from '../../host/forms/chatFields';
import { forEachChatItem, type Prepare } from '../../host/run/chatItems';
import type { RequestDeps } from '../../host/claims/preparedRequest';
import { clock } from '../../host/clock';
import { withChatSocket } from '../../host/http/chatSocket';
import { concurrencyField, developerSettings } from '../../host/forms/options';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { parseSessionId } from '../../core/chat/parseChatFields';
import { SESSION_CLOSED_LINGER_MS } from '../../core/chat/connection';
import type { ConnectionUser } from '../../core/chat/connectionUser';
import type { ChatEvent } from '../../core/chat/frames';
import { InvalidInput, NOT_READ_FIELD, NotSent } from '../../core/service/errors';
import { forEveryone, onScreenOnly } from '../../core/service/resolution';
import { pause } from '../../core/values/clock';
import { hasOffset } from '../../core/values/dates';
import type { JsonObject } from '../../core/values/json';

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
				"Which events to wait for. The first one ends the wait. Earlier events don't, and directly after Chat Send with a live connection, its message and reply don't: if the node gets them, they are in 'seen' of the output. Leave empty to wait for any event.",
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
		'Waits for an event in a chat session, such as a new message, and returns it. If none arrives in time, timed_out is true. Calls nobody and changes nothing. With Disconnect Other Connection, it takes the session from another client, such as a support desk.',
	async execute(run) {
		return await forEachChatItem(run, waitOnce, DEFAULT_CONCURRENCY);
	},
};

const waitOnce: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId'));
	const types = chosenTypes(form);
	const timeLimitMs = parseTimeLimit(form.number('timeLimit', undefined)) * 1000;
	const disconnectOther = form.switch('disconnectOther', false);
	const send = async (deps: RequestDeps) => {
		const timeoutMs = Math.min(timeLimitMs, deps.caller.maxWaitMs);
		const awaited = await withChatSocket(
			deps,
			sessionId,
			{ disconnectOther, patienceMs: timeoutMs },
			async (user) => await awaitEvent(deps.context, user, types, timeoutMs),
		);
		return asItems({ session_id: sessionId, ...awaited });
	};
	// Waiting again is safe, because it changes nothing in the service.
	return {
		payload: { sessionId, types: types && [...types], disconnectOther },
		target: undefined,
		modelMayRepeat: 'afterCompletion',
		// Of a wait that timed out, the result for the model says so.
		happened: (items) =>
			items.some(({ json }) => json.event !== null)
				? 'An event arrived.'
				: 'The chat session is closed. No such event arrived.',
		send,
	};
};

function parseTimeLimit(seconds = 0): number {
	if (seconds > 0 && seconds <= MAX_WAIT_SECONDS) return seconds;
	throw new InvalidInput(
		`'Time Limit (Seconds)' must be more than 0 and at most ${MAX_WAIT_SECONDS} (got ${seconds})`,
		forEveryone('Give the maximum number of seconds to wait, such as 300.', 'Time Limit (Seconds)'),
	);
}

/** Of the other events, which are many in a wait for a rare one. */
const MAX_SEEN = 20;

/**
 * Waits for an event, at most as long as the session's connection lasts.
 *
 * @param types null for any event
 * @throws the reason if no connection is possible, it wasn't connected in time, or the execution was stopped
 */
async function awaitEvent(
	context: IExecuteFunctions,
	user: ConnectionUser,
	types: ReadonlySet<string> | null,
	timeoutMs: number,
): Promise<JsonObject> {
	const { signal } = user;
	const seen: ChatEvent[] = [];
	const wait: { event: ChatEvent | null; wasConnected: boolean; sawClose: boolean } = {
		event: null,
		wasConnected: false,
		sawClose: false,
	};
	/** Events from before the end of the session may still arrive. The connection lasts longer if a message waits for its ack. */
	const endSoon = () => {
		wait.sawClose = true;
		void pause(clock, SESSION_CLOSED_LINGER_MS, signal).then(() => user.close());
	};
	const startedAt = clock.now();
	void user.connected().then((isConnected) => (wait.wasConnected = isConnected));
	user.listen((event, replay) => {
		// After a reconnect, only what is certainly older is a replay. A time in whole seconds may be one less.
		const isOlder = timeOf(event) < startedAt - (wait.wasConnected ? SECOND_MS : 0);
		const isReplay = replay === 'certain' || (replay === 'possible' && isOlder);
		if (!isReplay && (types === null || types.has(event.type))) {
			wait.event = event;
			// A burst may bring more events now. They are for the next wait.
			user.close();
			return;
		}
		seen.push(event);
		if (seen.length > MAX_SEEN) seen.shift();
		if (event.type === 'session_closed') endSoon();
	});
	if (user.sessionIsClosed) endSoon();
	await pause(clock, timeoutMs, signal);
	const { event, wasConnected, sawClose } = wait;
	const { ending } = user;
	const isClosed = sawClose || ending?.kind === 'session_closed';
	const isTimedOut = event === null && !isClosed;
	if (isTimedOut) {
		if (ending !== null) throw ending;
		if (signal.aborted) throw canceledError(context);
		if (!wasConnected) throw new NotSent(NEVER_CONNECTED, CHECK_REACHABLE, { isTransient: true });
	}
	return {
		timed_out: isTimedOut,
		...(isTimedOut && !user.isConnected && { [NOT_READ_FIELD]: DISCONNECTED }),
		session_closed: event === null ? isClosed : event.type === 'session_closed',
		event: event?.envelope ?? null,
		seen: seen.map(({ envelope }) => envelope),
	};
}

const NEVER_CONNECTED =
	"The chat session wasn't connected within the time limit, so no event could be received";
const CHECK_REACHABLE = onScreenOnly(
	"Check that the service is available, that n8n can reach it, and that no other client uses the session. If connecting is slow, increase 'Time Limit (Seconds)'.",
);

const SECOND_MS = 1_000;

/** A smaller number is in seconds. */
const FIRST_MILLISECONDS = 1e11;

/** Epoch milliseconds, or NaN if the time can't be read, which proves nothing. The document doesn't give the type of `ts`. */
function timeOf({ envelope: { ts } }: ChatEvent): number {
	if (typeof ts === 'number') return ts < FIRST_MILLISECONDS ? ts * SECOND_MS : ts;
	return typeof ts === 'string' && hasOffset(ts) ? Date.parse(ts) : NaN;
}
