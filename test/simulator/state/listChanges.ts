import { randomUUID } from 'node:crypto';
import { istTimestamp, type Clock } from '../clock';
import type { State } from './state';

/**
 * Changes the call list between two requests for it, as another client would. New calls are at its beginning.
 *
 * `grow` a call is added · `shrink` the first one is removed · `replace` the first one is removed and added again as a
 * new call · `reorder` the last one moves to the front
 */
export interface ListChange {
	kind: 'grow' | 'shrink' | 'replace' | 'reorder';
	/** Requests for the list before the change. */
	after: number;
}

export class ListChanges {
	private planned: ListChange[] = [];
	private requests = 0;

	constructor(
		private readonly state: State,
		private readonly clock: Clock,
	) {}

	/** Requests count from here on. */
	plan({ kind, after }: ListChange): void {
		this.planned.push({ kind, after: this.requests + after });
	}

	clear(): void {
		this.planned = [];
	}

	beforeRequest(): void {
		const number = this.requests++;
		for (const { kind, after } of this.planned) if (after === number) this.change(kind);
	}

	private change(kind: ListChange['kind']): void {
		const { calls } = this.state;
		// The service lists calls from the last to the first of the map.
		const newest = [...calls.values()].at(-1);
		const oldest = [...calls.values()][0];
		if (newest === undefined || oldest === undefined) throw new Error('There are no calls');
		const again = { ...newest, callId: randomUUID(), createdAt: istTimestamp(this.clock.now()) };
		if (kind === 'shrink' || kind === 'replace') calls.delete(newest.callId);
		if (kind === 'grow' || kind === 'replace') calls.set(again.callId, again);
		if (kind === 'reorder') {
			calls.delete(oldest.callId);
			calls.set(oldest.callId, oldest);
		}
	}
}
