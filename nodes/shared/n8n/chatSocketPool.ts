import type { IExecuteFunctions } from 'n8n-workflow';
import type { ChatLease } from '../chat/lease';
import { NotSent } from '../api/errors';
import { openChatSocket } from './chatSocket';
import type { Connection } from './connect';

/** Connections kept for later items of the same session. */
const MOST_IDLE = 10;

/** The chat connections of a run: kept for its later items, all given up at the end or on Stop. */
export class ChatSocketPool {
	private readonly inUse = new Set<ChatLease>();

	/** The lease of a session's latest item; those used last stand at the end. */
	private readonly idle = new Map<string, ChatLease>();

	constructor(private readonly context: IExecuteFunctions) {
		context.onExecutionCancellation(() => this.closeAll());
	}

	async use<T>(
		connection: Connection,
		sessionId: string,
		takeOver: boolean,
		job: (lease: ChatLease) => Promise<T>,
	): Promise<T> {
		if (this.context.getExecutionCancelSignal()?.aborted === true) {
			throw new NotSent(
				'Nothing was sent, because the run was stopped',
				'Run the workflow again to do it.',
			);
		}
		const lease = this.ended(sessionId, takeOver) ?? this.lease(connection, sessionId, takeOver);
		this.inUse.add(lease);
		try {
			return await job(lease);
		} finally {
			this.inUse.delete(lease);
			this.keep(sessionId, lease);
		}
	}

	closeAll(): void {
		for (const lease of [...this.inUse, ...this.idle.values()]) lease.close();
		this.idle.clear();
	}

	/** A session that could not be had is not tried anew for each item of the run. */
	private ended(sessionId: string, takeOver: boolean): ChatLease | null {
		const latest = this.idle.get(sessionId);
		const sameWish = latest !== undefined && (latest.options.takeOver || !takeOver);
		return sameWish && latest.ending !== null ? latest : null;
	}

	private lease(connection: Connection, sessionId: string, takeOver: boolean): ChatLease {
		return openChatSocket(this.context, connection, sessionId, { takeOver });
	}

	private keep(sessionId: string, lease: ChatLease): void {
		const before = this.idle.get(sessionId);
		this.idle.delete(sessionId);
		this.idle.set(sessionId, lease);
		if (before !== lease) before?.close();
		for (const [id, surplus] of [...this.idle].slice(0, -MOST_IDLE)) {
			this.idle.delete(id);
			surplus.close();
		}
	}
}
