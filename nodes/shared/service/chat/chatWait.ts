import type { ChatEnded } from '../chatSocket/endings';
import type { Readiness } from '../chatSocket/exchange';
import { pause } from '../chatSocket/pause';
import type { EventLink } from '../chatSocket/replyWatch';
import type { ChatEvent } from '../chatSocket/types';
import type { Clock } from '../core/http';

export type EventWish = {
	/** Null where any event will do. */
	types: ReadonlySet<string> | null;
	ms: number;
	/** Events that an earlier wait has given out already. */
	known: ReadonlySet<string>;
};

/** Where the events come from. */
export interface WaitLink extends EventLink {
	/** Resolves when the session's connection is held, or will never be. */
	ready(): Promise<Readiness>;
}

/** What ended the wait. */
export type WaitEnd =
	| { kind: 'event'; event: ChatEvent }
	/** `connected`: whether the session was ever listened to. */
	| { kind: 'time_over'; connected: boolean }
	| { kind: 'ended'; ending: ChatEnded }
	| { kind: 'stopped' };

export type AwaitedEvent = {
	end: WaitEnd;
	/** What came before and was not waited for, oldest first. */
	seen: ChatEvent[];
};

/** A busy session must not fill the memory while something rare is waited for. */
const MOST_SEEN = 1_000;

/** Waits for an event, for as long as the session's connection lasts. */
export async function waitForEvent(
	link: WaitLink,
	{ types, ms, known }: EventWish,
	clock: Clock,
): Promise<AwaitedEvent> {
	const found = new AbortController();
	const wanted: ChatEvent[] = [];
	const seen: ChatEvent[] = [];
	const begun = clock.now();
	let connected = false;
	void link.ready().then(({ kind }) => {
		connected = kind === 'open';
	});
	const unsubscribe = link.subscribe((event) => {
		if (found.signal.aborted) return;
		// A new connection can begin with a replay of recent events. Those from before the wait are told by their time,
		// and only then: a clock that goes wrong must not hide what happens later.
		const isReplay = !connected && isBefore(event, begun);
		const isKnown = event.eventId !== null && known.has(event.eventId);
		if (!isKnown && !isReplay && (types === null || types.has(event.type))) {
			wanted.push(event);
			found.abort();
			return;
		}
		seen.push(event);
		if (seen.length > MOST_SEEN) seen.shift();
	});
	await pause(clock, ms, AbortSignal.any([found.signal, link.signal]));
	unsubscribe();
	const [event] = wanted;
	if (event !== undefined) return { end: { kind: 'event', event }, seen };
	if (!link.signal.aborted) return { end: { kind: 'time_over', connected }, seen };
	const readiness = await link.ready();
	return readiness.kind === 'ended'
		? { end: { kind: 'ended', ending: readiness.ending }, seen }
		: { end: { kind: 'stopped' }, seen };
}

function isBefore({ envelope: { ts } }: ChatEvent, moment: number): boolean {
	return typeof ts === 'string' && Date.parse(ts) < moment;
}
