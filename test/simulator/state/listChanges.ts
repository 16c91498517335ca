import { randomUUID } from 'node:crypto';
import { istTimestamp, type Clock } from '../clock';
import type { State } from './store';

/**
 * Changes a list between two requests for it, as another client would. The service shows new numbers at the end of the
 * do-not-disturb list (here that of the agent whose number is the first), and new calls at the beginning of the call list.
 *
 * `grow` an entry is added · `shrink` the first one is removed · `replace` the first one is removed and added again as a new entry ·
 * `reorder` the last one moves to the front
 */
export interface ListChange {
	list: 'calls' | 'dnd';
	kind: 'grow' | 'shrink' | 'replace' | 'reorder';
	/** Requests for the list before the change. Default: 0. */
	after?: number;
}

export class ListChanges {
	private planned: ListChange[] = [];
	private readonly requests = { calls: 0, dnd: 0 };

	constructor(
		private readonly state: State,
		private readonly clock: Clock,
	) {}

	/** Requests count from here on. */
	plan({ after = 0, ...change }: ListChange): void {
		this.planned.push({ ...change, after: this.requests[change.list] + after });
	}

	clear(): void {
		this.planned = [];
	}

	beforeRequest(list: ListChange['list']): void {
		const number = this.requests[list]++;
		for (const change of this.planned) {
			if (change.list !== list || change.after !== number) continue;
			if (list === 'calls') this.changeCalls(change.kind);
			else this.changeDnd(change.kind);
		}
	}

	private changeDnd(kind: ListChange['kind']): void {
		const { dnd } = this.state;
		const [first] = dnd;
		if (first === undefined) throw new Error('The do-not-disturb list is empty');
		const fresh = () => ({
			...first,
			id: this.state.nextId(),
			createdAt: istTimestamp(this.clock.now()),
		});
		if (kind === 'grow')
			dnd.push({ ...fresh(), phone: `+9199${String(first.id).padStart(8, '0')}` });
		if (kind === 'shrink') dnd.shift();
		if (kind === 'replace') dnd.push({ ...fresh(), phone: dnd.shift()?.phone ?? '' });
		const last = dnd.findLastIndex(({ agentUuid }) => agentUuid === first.agentUuid);
		if (kind === 'reorder') dnd.unshift(...dnd.splice(last, 1));
	}

	private changeCalls(kind: ListChange['kind']): void {
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
