import type { IExecuteFunctions } from 'n8n-workflow';
import type { ChatConnection } from '../service/chatSocket/connection';
import { openChatSocket } from './chatSocket';
import type { Connection } from './connect';

/** Somebody waits for the result, so an inactive agent is not polled for minutes. */
const LIMITS = { slowPolls: 0, reconnectAttempts: 4 };

/** Sockets kept open for later items of the same session. */
const MOST_IDLE = 10;

type Entry = { socket: ChatConnection; users: number };

/** The sockets of a run: one for each session, shared by its items, all closed at the end. */
export class ChatSocketPool {
	/** Those used last stand at the end. */
	private readonly entries = new Map<string, Entry>();

	constructor(private readonly context: IExecuteFunctions) {
		context.onExecutionCancellation(() => void this.closeAll());
	}

	async use<T>(
		connection: Connection,
		sessionId: string,
		takeOver: boolean,
		job: (socket: ChatConnection) => Promise<T>,
	): Promise<T> {
		const entry = this.entries.get(sessionId) ?? {
			socket: openChatSocket(this.context, connection, sessionId, { takeOver, limits: LIMITS }),
			users: 0,
		};
		this.entries.delete(sessionId);
		this.entries.set(sessionId, entry);
		entry.users += 1;
		try {
			return await job(entry.socket);
		} finally {
			entry.users -= 1;
			await this.closeSurplus();
		}
	}

	async closeAll(): Promise<void> {
		await this.close([...this.entries.keys()]);
	}

	private async closeSurplus(): Promise<void> {
		const idle = [...this.entries].filter(([, { users }]) => users === 0);
		await this.close(idle.slice(0, -MOST_IDLE).map(([sessionId]) => sessionId));
	}

	private async close(sessionIds: string[]): Promise<void> {
		const sockets = sessionIds.map((sessionId) => this.entries.get(sessionId)?.socket);
		for (const sessionId of sessionIds) this.entries.delete(sessionId);
		await Promise.all(sockets.map(async (socket) => await socket?.close()));
	}
}
