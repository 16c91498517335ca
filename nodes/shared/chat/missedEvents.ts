import { type Clock, pause } from '../clock';
import type { ChatEvent } from './frames';
import { LINGER_AFTER_TRIGGER_MS } from './timings';

/** Events to keep for each trigger. */
const MAX_MISSED = 1_000;

/** Events of a session that arrive while a trigger has no lease, for its next one. */
export class MissedEvents {
	private readonly byNode = new Map<string, ChatEvent[]>();

	/** @param signal aborted when no more events arrive */
	constructor(
		private readonly clock: Clock,
		private readonly signal: AbortSignal,
	) {}

	get isEmpty(): boolean {
		return this.byNode.size === 0;
	}

	add(event: ChatEvent): void {
		for (const events of this.byNode.values()) {
			events.push(event);
			if (events.length > MAX_MISSED) events.shift();
		}
	}

	/**
	 * Keeps the events from now on for a few seconds.
	 *
	 * @param events the earlier ones
	 * @param since when this time begins
	 */
	async keepFor(
		node: string,
		events: ChatEvent[] = [],
		since: Promise<unknown> = Promise.resolve(),
	): Promise<void> {
		this.byNode.set(node, events);
		await since;
		await pause(this.clock, LINGER_AFTER_TRIGGER_MS, this.signal);
		if (this.byNode.get(node) === events) this.byNode.delete(node);
	}

	/** The events that were kept for the node. They aren't kept anymore. */
	take(node: string): ChatEvent[] {
		const events = this.byNode.get(node) ?? [];
		this.byNode.delete(node);
		return events;
	}

	/** Continues with what another connection of the session has kept. */
	takeOver(other: MissedEvents): void {
		for (const [node, events] of other.byNode) void this.keepFor(node, events);
	}
}
