import type { ChatEnded } from '../shared/chat/endings';
import type { Readiness } from '../shared/chat/ackWaiter';
import { type Clock, hasOffset, pause } from '../shared/clock';
import type { EventLink } from '../shared/chat/replyWatch';
import type { ChatEvent } from '../shared/chat/frames';
import { ExplainedError, type ErrorOrigin } from '../shared/api/errors';
import { onScreenOnly, type Reader } from '../shared/api/modelAdvice';
import { type JsonValue, numberIn } from '../shared/json';
import { whyNotRead } from '../shared/notRead';

export type EventFilter = {
	/** Null where any event will do. */
	types: ReadonlySet<string> | null;
	ms: number;
	/** Who is told why it was not listened to. */
	reader: Reader;
	/** Events that an earlier wait has given out already. */
	known: ReadonlySet<string>;
};

/** Where the events come from. */
export interface WaitLink extends EventLink {
	/** Resolves when the session's connection is held, or will never be. */
	ready(): Promise<Readiness>;
	/** Why the latest attempt to connect did not last, while another one follows. */
	readonly lastFailure: ChatEnded | null;
	/** Whether the session is listened to right now. */
	readonly isHeld: boolean;
}

/** The time was over before the session was listened to. */
export class NeverConnected extends ExplainedError {
	override readonly name = 'NeverConnected';
	readonly outcome = 'not_sent';
	override readonly isTransient = true;
	override readonly origin: ErrorOrigin;

	/** @param setback null where no attempt has failed yet: connecting is slow */
	constructor(setback: ChatEnded | null) {
		const reason =
			setback === null ? CHECK_REACHABLE.onScreen : `${setback.message}. ${setback.resolution}`;
		super(
			'The chat session was not connected within the Time Limit, so no event could be seen',
			{
				onScreen: `${reason} If connecting takes long, raise the Time Limit.`,
				forModel: setback?.resolutionForModel ?? '',
			},
			setback?.originalMessage,
		);
		this.origin = setback?.origin ?? 'service';
	}
}

/** The time was over, and what came meanwhile could not all be read. */
export class FrameTooLarge extends ExplainedError {
	override readonly name = 'NotAllRead';
	readonly outcome = 'unknown';

	constructor() {
		super(
			'Something came in the chat session that was too large to be read (over 8 million characters), so it is not known whether it was the event',
			{
				onScreen:
					'Look at the conversation in the service, then decide how the workflow is to go on.',
				forModel: 'Ask for the same again to wait for what comes next.',
			},
		);
	}
}

const CHECK_REACHABLE = onScreenOnly('Check that the service is up and can be reached from n8n.');

/** What ended the wait. */
export type EventWaitEnd =
	| { kind: 'event'; event: ChatEvent }
	/** `notListening`: the connection was lost and is not back, so that an event may be missing. */
	| { kind: 'time_over'; notListening?: string }
	| { kind: 'not_all_read'; why: FrameTooLarge }
	/** The time is over, and the session was never listened to. */
	| { kind: 'never_connected'; why: NeverConnected }
	| { kind: 'ended'; ending: ChatEnded }
	| { kind: 'stopped' };

export type AwaitedEvent = {
	end: EventWaitEnd;
	/** What came before and was not waited for, oldest first. */
	seen: ChatEvent[];
};

/** A busy session must not fill the memory while something rare is waited for. */
const MAX_SEEN = 1_000;

/** Waits for an event, for as long as the session's connection lasts. */
export async function awaitEvent(
	link: WaitLink,
	{ types, ms, known, reader }: EventFilter,
	clock: Clock,
): Promise<AwaitedEvent> {
	const found = new AbortController();
	const wanted: ChatEvent[] = [];
	const seen: ChatEvent[] = [];
	const begun = clock.now();
	const connected = new AbortController();
	void link.ready().then(({ kind }) => {
		if (kind === 'open') connected.abort();
	});
	const unread = new AbortController();
	const onTooLarge = () => unread.abort();
	const unsubscribe = link.subscribe((event) => {
		if (found.signal.aborted) return;
		// A new connection can begin with a replay of recent events, so what comes before it is held is news only if its time
		// says so. Later the time isn't asked: a clock that goes wrong must not hide what happens.
		const isReplay = !connected.signal.aborted && !isSince(event, begun);
		const isKnown = event.eventId !== null && known.has(event.eventId);
		if (!isKnown && !isReplay && (types === null || types.has(event.type))) {
			wanted.push(event);
			found.abort();
			return;
		}
		seen.push(event);
		if (seen.length > MAX_SEEN) seen.shift();
	}, onTooLarge);
	await pause(clock, ms, AbortSignal.any([found.signal, link.signal]));
	unsubscribe();
	const [event] = wanted;
	if (event !== undefined) return { end: { kind: 'event', event }, seen };
	if (!link.signal.aborted) {
		if (unread.signal.aborted)
			return { end: { kind: 'not_all_read', why: new FrameTooLarge() }, seen };
		if (connected.signal.aborted) return { end: timeOver(link, reader), seen };
		return { end: { kind: 'never_connected', why: new NeverConnected(link.lastFailure) }, seen };
	}
	const readiness = await link.ready();
	return readiness.kind === 'ended'
		? { end: { kind: 'ended', ending: readiness.ending }, seen }
		: { end: { kind: 'stopped' }, seen };
}

function timeOver({ isHeld, lastFailure }: WaitLink, reader: Reader): EventWaitEnd {
	if (isHeld) return { kind: 'time_over' };
	const why = lastFailure === null ? CHECK_REACHABLE[reader] : whyNotRead(lastFailure, reader);
	const notListening = `The live connection was down when the wait ended, so an event may be missing. ${why}`;
	return { kind: 'time_over', notListening: notListening.trim() };
}

/** Whether the event surely happened since that moment: a time in whole seconds doesn't say when in its second it was. */
function isSince({ envelope: { ts } }: ChatEvent, moment: number): boolean {
	return timeOf(ts, moment) >= moment;
}

const SECOND_MS = 1_000;

/** Times further away than this are none, or are in another unit. */
const FAR_MS = 10 * 365 * 24 * 3_600 * SECOND_MS;

/** Epoch milliseconds; NaN if the time can't be read: the document says "ISO 8601 strings, usually with a UTC offset". */
function timeOf(ts: JsonValue | undefined, near: number): number {
	if (typeof ts === 'string' && hasOffset(ts)) return Date.parse(ts);
	const number = numberIn(ts) ?? NaN;
	const times = [number, number * SECOND_MS];
	return times.find((time) => Math.abs(time - near) < FAR_MS) ?? NaN;
}
