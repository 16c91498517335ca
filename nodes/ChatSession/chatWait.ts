import type { ChatEnded } from '../shared/chat/reconnectPolicy';
import { type ChatConnection, endingOf, SESSION_CLOSED_LINGER_MS } from '../shared/chat/connection';
import type { OnEvent } from '../shared/chat/eventDispatcher';
import type { ChatEvent } from '../shared/chat/frames';
import type { ChatLease } from '../shared/chat/sharedConnections';
import { type Clock, pause } from '../shared/clock';
import { ExplainedError } from '../shared/api/errors';
import { onScreenOnly, type Reader } from '../shared/api/resolution';
import { type JsonValue, numberIn } from '../shared/json';
import { whyNotRead } from '../shared/notRead';
import { hasOffset } from '../shared/dates';

export type EventFilter = {
	/** Null for any event. */
	types: ReadonlySet<string> | null;
	timeoutMs: number;
	/** The reader of the advice if the session wasn't connected. */
	reader: Reader;
	/** IDs of events that an earlier wait has returned. */
	returnedIds: ReadonlySet<string>;
};

/** The part of a connection that a wait needs. */
type WaitConnection = Pick<ChatConnection, 'subscribe' | 'ready' | 'lastFailure' | 'isConnected'>;

type WaitLease = Pick<ChatLease, 'signal' | 'missed'> & { connection: WaitConnection };

/** The time limit passed before the session was connected. */
export class NeverConnected extends ExplainedError {
	override readonly name = 'NeverConnected';
	readonly outcome = 'not_sent';

	/** @param lastFailure null if no attempt has failed yet, because connecting is slow */
	constructor(lastFailure: ChatEnded | null) {
		const reason =
			lastFailure === null
				? CHECK_REACHABLE.onScreen
				: `${lastFailure.message}. ${lastFailure.resolution}`;
		super(
			"The chat session wasn't connected within the time limit, so no event could be received",
			{
				onScreen: `${reason} If connecting is slow, increase 'Time Limit (Seconds)'.`,
				forModel: lastFailure?.resolutionForModel ?? '',
			},
			{
				originalMessage: lastFailure?.originalMessage,
				origin: lastFailure?.origin,
				isTransient: true,
			},
		);
	}
}

const CHECK_REACHABLE = onScreenOnly(
	'Check that the service is available and that n8n can reach it.',
);

export type EventWaitEnd =
	| { kind: 'event'; event: ChatEvent }
	/** `disconnected`: the connection was down when the wait ended, so an event may be missing. */
	| { kind: 'timed_out'; disconnected?: string }
	| { kind: 'session_closed' }
	| { kind: 'stopped' };

export type AwaitedEvent = {
	end: EventWaitEnd;
	/** Other events before the end, oldest first. */
	seen: ChatEvent[];
};

/** Limits memory, because a wait for a rare event can see many others. */
const MAX_SEEN = 1_000;

/**
 * Waits for an event, at most as long as the session's connection lasts.
 *
 * @throws ChatEnded if no connection is possible, or NeverConnected
 */
export async function awaitEvent(
	{ connection, signal, missed }: WaitLease,
	{ types, timeoutMs, returnedIds, reader }: EventFilter,
	clock: Clock,
): Promise<AwaitedEvent> {
	const matching: ChatEvent[] = [];
	const seen: ChatEvent[] = [];
	const startedAt = clock.now();
	const found = new AbortController();
	const connected = new AbortController();
	const closed = new AbortController();
	void connection.ready(signal).then((isConnected) => {
		if (isConnected) connected.abort();
	});
	const onEvent: OnEvent = (event, replay) => {
		if (found.signal.aborted) return;
		// Otherwise the time isn't checked, because a wrong clock must not hide new events.
		const isReplay =
			replay === 'certain' ||
			(replay === 'possible' &&
				(connected.signal.aborted ? isBefore(event, startedAt) : !isSince(event, startedAt)));
		const isReturned = event.eventId !== null && returnedIds.has(event.eventId);
		if (!isReturned && !isReplay && (types === null || types.has(event.type))) {
			matching.push(event);
			found.abort();
			return;
		}
		seen.push(event);
		if (seen.length > MAX_SEEN) seen.shift();
		if (event.type === 'session_closed' && !isReplay) {
			// Events from before the end may still arrive.
			void pause(clock, SESSION_CLOSED_LINGER_MS, found.signal).then(() => closed.abort());
		}
	};
	for (const arrived of missed) onEvent(...arrived);
	const unsubscribe = connection.subscribe(onEvent);
	await pause(clock, timeoutMs, AbortSignal.any([found.signal, closed.signal, signal]));
	unsubscribe();
	const [event] = matching;
	if (event !== undefined) return { end: { kind: 'event', event }, seen };
	if (signal.aborted) {
		const ending = endingOf(signal);
		if (ending === null) return { end: { kind: 'stopped' }, seen };
		if (ending.kind !== 'session_closed') throw ending;
		return { end: { kind: 'session_closed' }, seen };
	}
	if (closed.signal.aborted) return { end: { kind: 'session_closed' }, seen };
	if (!connected.signal.aborted) throw new NeverConnected(connection.lastFailure);
	return { end: timeoutEnd(connection, reader), seen };
}

function timeoutEnd({ isConnected, lastFailure }: WaitConnection, reader: Reader): EventWaitEnd {
	if (isConnected) return { kind: 'timed_out' };
	const why = lastFailure === null ? CHECK_REACHABLE[reader] : whyNotRead(lastFailure, reader);
	const disconnected = `The live connection was down when the wait ended, so an event may be missing. ${why}`;
	return { kind: 'timed_out', disconnected: disconnected.trim() };
}

/** Whether the event certainly happened before that moment. A time in whole seconds counts as the end of its second. */
function isBefore({ envelope: { ts } }: ChatEvent, moment: number): boolean {
	const time = timeOf(ts, moment);
	return (time % SECOND_MS === 0 ? time + SECOND_MS - 1 : time) < moment;
}

/** Whether the event certainly happened after that moment. A time in whole seconds counts as the start of its second. */
function isSince({ envelope: { ts } }: ChatEvent, moment: number): boolean {
	return timeOf(ts, moment) >= moment;
}

const SECOND_MS = 1_000;

/** A number further away than this isn't a time in this unit. */
const FAR_MS = 10 * 365 * 24 * 3_600 * SECOND_MS;

/**
 * Epoch milliseconds, or NaN if the time can't be read. The document says "ISO 8601 strings, usually with a UTC offset".
 * Numbers may be seconds or milliseconds.
 */
function timeOf(ts: JsonValue | undefined, near: number): number {
	if (typeof ts === 'string' && hasOffset(ts)) return Date.parse(ts);
	const number = numberIn(ts) ?? NaN;
	const times = [number, number * SECOND_MS];
	return times.find((time) => Math.abs(time - near) < FAR_MS) ?? NaN;
}
