import type { ChatLease } from '../chatSocket/sharedConnections';
import type { ChatEnded } from '../chatSocket/endings';
import { pause } from '../chatSocket/pause';
import type { ChatEvent } from '../chatSocket/types';
import type { Clock } from '../core/http';

export type EventWish = {
	/** Null where any event will do. */
	types: ReadonlySet<string> | null;
	ms: number;
	/** Events that an earlier wait has given out already. */
	known: ReadonlySet<string>;
};

export type AwaitedEvent = {
	/** Null when none came. */
	event: ChatEvent | null;
	/** What came before it and was not waited for, oldest first. */
	seen: ChatEvent[];
	/** Set when the connection ended for good first. */
	ended: ChatEnded | null;
};

/** A busy session must not fill the memory while something rare is waited for. */
const MOST_SEEN = 1_000;

/** Waits for an event, for as long as the session's connection lasts. */
export async function waitForEvent(
	socket: ChatLease,
	{ types, ms, known }: EventWish,
	clock: Clock,
): Promise<AwaitedEvent> {
	const found = new AbortController();
	const wanted: ChatEvent[] = [];
	const seen: ChatEvent[] = [];
	const isReplay = replaysFrom(socket, clock.now());
	const unsubscribe = socket.subscribe((event) => {
		if (found.signal.aborted) return;
		const isKnown = event.eventId !== null && known.has(event.eventId);
		if (!isKnown && !isReplay(event) && (types === null || types.has(event.type))) {
			wanted.push(event);
			found.abort();
			return;
		}
		seen.push(event);
		if (seen.length > MOST_SEEN) seen.shift();
	});
	await pause(clock, ms, AbortSignal.any([found.signal, socket.signal]));
	unsubscribe();
	const [event = null] = wanted;
	if (event !== null || !socket.signal.aborted) return { event, seen, ended: null };
	const readiness = await socket.ready();
	return { event, seen, ended: readiness.kind === 'ended' ? readiness.ending : null };
}

/**
 * A new connection can begin with a replay of recent events. Those from before the wait are told by their time, and
 * only then: a clock that goes wrong must not hide what happens later.
 */
function replaysFrom(socket: ChatLease, since: number): (event: ChatEvent) => boolean {
	let isNew = true;
	void socket.ready().then(() => {
		isNew = false;
	});
	return ({ envelope: { ts } }) => isNew && typeof ts === 'string' && Date.parse(ts) < since;
}
