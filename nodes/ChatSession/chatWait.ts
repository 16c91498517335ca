import { endingOf, SESSION_CLOSED_LINGER_MS } from '../core/chat/connection';
import type { ConnectionUser } from '../core/chat/connectionUser';
import type { ChatEvent } from '../core/chat/frames';
import { type Clock, DONE, pause } from '../core/values/clock';
import { NotSent } from '../core/service/errors';
import { onScreenOnly } from '../core/service/resolution';
import { hasOffset } from '../core/values/dates';

export type EventFilter = {
	/** Null for any event. */
	types: ReadonlySet<string> | null;
	timeoutMs: number;
};

export type EventWaitEnd =
	| { kind: 'event'; event: ChatEvent }
	/** `isConnected`: false if the connection was down when the wait ended, so an event may be missing. */
	| { kind: 'timed_out'; isConnected: boolean }
	| { kind: 'session_closed' }
	| { kind: 'stopped' };

export type AwaitedEvent = {
	end: EventWaitEnd;
	/** The latest other events before the end, oldest first. */
	seen: ChatEvent[];
};

/** A wait for a rare event can see many others. */
const MAX_SEEN = 20;

/**
 * Waits for an event, at most as long as the session's connection lasts.
 *
 * @throws ChatEnded if no connection is possible, or NotSent if it wasn't connected in time
 */
export async function awaitEvent(
	user: ConnectionUser,
	{ types, timeoutMs }: EventFilter,
	clock: Clock,
): Promise<AwaitedEvent> {
	const { signal } = user;
	const ends: EventWaitEnd[] = [];
	const seen: ChatEvent[] = [];
	const startedAt = clock.now();
	const ended = new AbortController();
	const connected = new AbortController();
	void user.connected().then((isConnected) => isConnected && connected.abort(DONE));
	user.listen((event, replay) => {
		const at = timeOf(event);
		// After a reconnect, only what is certainly older is a replay. A time in whole seconds may be one less.
		const isOlder = at < startedAt - (connected.signal.aborted ? SECOND_MS : 0);
		const isReplay = replay === 'certain' || (replay === 'possible' && isOlder);
		if (!isReplay && (types === null || types.has(event.type))) {
			ends.push({ kind: 'event', event });
			ended.abort(DONE);
			user.collect();
			return;
		}
		seen.push(event);
		if (seen.length > MAX_SEEN) seen.shift();
		if (event.type === 'session_closed') {
			ends.push({ kind: 'session_closed' });
			// Events from before the end may still arrive.
			const lingering = pause(clock, SESSION_CLOSED_LINGER_MS, ended.signal);
			void lingering.then(() => ended.abort(DONE));
		}
	});
	await pause(clock, timeoutMs, AbortSignal.any([ended.signal, signal]));
	ended.abort(DONE);
	const end = ends.at(-1);
	if (end !== undefined) return { end, seen };
	if (!signal.aborted) {
		const { isConnected } = user;
		if (connected.signal.aborted) return { end: { kind: 'timed_out', isConnected }, seen };
		throw new NotSent(NEVER_CONNECTED, CHECK_REACHABLE, { isTransient: true });
	}
	const ending = endingOf(signal);
	if (ending === null) return { end: { kind: 'stopped' }, seen };
	if (ending.kind !== 'session_closed') throw ending;
	return { end: { kind: 'session_closed' }, seen };
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
