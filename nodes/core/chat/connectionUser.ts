import { type Clock, DONE } from '../values/clock';
import type { ChatConnection } from './connection';
import type { Ack, ChatEvent, ClientFrame } from './frames';
import type { Ending } from './reconnectPolicy';
import type { WsToken } from './token';

/** An execution waits for the result of an action, so an action gives up after four or five attempts. */
const ACTION_PATIENCE_MS = 10_000;

/** A trigger reports a lost session after about a minute. */
const TRIGGER_PATIENCE_MS = 45_000;

export interface UserOptions {
	/** A trigger never gives up. An action gives up after a few attempts. */
	usedBy: 'trigger' | 'action';
	/** The user confirmed that another client may lose the session. */
	disconnectOther: boolean;
	mintToken: () => Promise<WsToken>;
	/** For a trigger. The service may replay an event. */
	onEvent?: (event: ChatEvent) => void;
	/**
	 * For a trigger, once an outage: the session has been lost for a while. `isRetried`: the connection tries again. If no
	 * connection is possible, it doesn't. Never called after `close()`.
	 */
	onLost?: (ending: Ending, isRetried: boolean) => void;
}

/** One node's use of the connection of a session. The node must always close it. It stays open while other nodes use it. */
export class ConnectionUser {
	/** Why no connection is possible. Null until then, and if the node has closed it. */
	ending: Ending | null = null;

	private readonly closed = new AbortController();
	/** When it first saw a failed attempt after a healthy connection, by `clock.elapsed()`. */
	private failingSince: number | null = null;
	private isReported = false;

	/** Created by the connection. */
	constructor(
		private readonly connection: ChatConnection,
		readonly options: UserOptions,
		private readonly clock: Clock,
	) {}

	/** Aborted when the use ends. */
	get signal(): AbortSignal {
		return this.closed.signal;
	}

	async send(frame: ClientFrame, timeoutMs: number): Promise<Ack | null> {
		return await this.connection.sender.send(this, frame, timeoutMs);
	}

	close(): void {
		if (this.signal.aborted) return;
		this.closed.abort(DONE);
		this.connection.leave(this);
	}

	// Called by the connection.

	/** After a connection that was healthy. */
	recovered(): void {
		this.failingSince = null;
		this.isReported = false;
	}

	/**
	 * After a failed attempt to connect: an action may give up, and a trigger may report the loss.
	 *
	 * @param isLasting whether an action gives up, because the next attempts probably fail, too
	 */
	failed(ending: Ending, isLasting: boolean): void {
		const now = this.clock.elapsed();
		this.failingSince ??= now;
		const waitedMs = now - this.failingSince;
		const { usedBy, onLost } = this.options;
		if (usedBy === 'action') {
			if (isLasting || waitedMs >= ACTION_PATIENCE_MS) this.end(ending);
		} else if (waitedMs >= TRIGGER_PATIENCE_MS && !this.isReported) {
			this.isReported = true;
			onLost?.(ending, true);
		}
	}

	end(ending: Ending): void {
		this.ending = ending;
		this.close();
		this.options.onLost?.(ending, false);
	}
}
