import type { ChatEnded } from './chatSocket/endings';
import type { ChatConnection } from './chatSocket/connection';
import { pause } from './chatSocket/pause';
import type { ChatEvent } from './chatSocket/types';
import type { Clock } from './http';

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

/** Waits for an event of one of these types (`null`: of any), for as long as the session's connection lasts. */
export async function waitForEvent(
	socket: ChatConnection,
	types: ReadonlySet<string> | null,
	ms: number,
	clock: Clock,
): Promise<AwaitedEvent> {
	const found = new AbortController();
	const wanted: ChatEvent[] = [];
	const seen: ChatEvent[] = [];
	const unsubscribe = socket.subscribe((came) => {
		if (found.signal.aborted) return;
		if (types === null || types.has(came.type)) {
			wanted.push(came);
			found.abort();
		} else {
			seen.push(came);
			if (seen.length > MOST_SEEN) seen.shift();
		}
	});
	await pause(clock, ms, AbortSignal.any([found.signal, socket.signal]));
	unsubscribe();
	const [event = null] = wanted;
	if (event !== null || !socket.signal.aborted) return { event, seen, ended: null };
	const readiness = await socket.ready();
	return { event, seen, ended: readiness.kind === 'ended' ? readiness.ending : null };
}
