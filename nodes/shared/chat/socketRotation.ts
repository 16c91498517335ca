import { backoffMs, type Clock, type Deferred, deferred, pause } from '../clock';
import type { WsToken } from '../api/types';
import { ManagedSocket, type SocketEnd, type CloseCause } from './managedSocket';
import { type AttemptEnd, POLICY, TOKEN_REJECTED } from './reconnectPolicy';
import { CHAT_BACKOFF, MAX_RECONNECT_ATTEMPTS, SETTLE_MS, TOKEN_RETRY_MS } from './timings';
import type { TokenCache } from './token';

/** The token of a new socket must be valid for this long, so that it doesn't expire while a frame waits for its ack. */
export const MIN_TOKEN_LIFE_MS = 200_000;

/** If a socket is still open this long after its token expired, the service doesn't close sockets with their token. */
const OUTLIVED_AFTER_MS = 5_000;

export interface RotationOptions {
	clock: Clock;
	/** Returns 0 to 1, for jitter. */
	random: () => number;
	tokens: TokenCache;
	/** Opens another socket with the same `client_id`. Null if the connection is closed. */
	openAnother: (token: WsToken) => ManagedSocket | AttemptEnd | null;
	/** Time between rotations. `Infinity` turns rotation off. */
	rotateEveryMs: number;
	/** Whether a frame is waiting for its ack. */
	isBusy: () => boolean;
	onSessionClosed: () => void;
	onMintFailed: (error: unknown) => void;
	/** Called when a socket couldn't be replaced. It's tried again after `waitMs` at the earliest. */
	onRotationFailed: (failure: AttemptEnd, waitMs: number) => void;
}

/**
 * Keeps a session connected through a series of sockets. Replaces each one regularly: the protocol has no ping, so a dead
 * connection would go unnoticed.
 */
export class SocketRotation {
	private current: ManagedSocket | null = null;

	/** Replaces `current` when it's stable. */
	private successor: ManagedSocket | null = null;

	/** The latest socket that has been open for `SETTLE_MS`. */
	private stable: ManagedSocket | null = null;

	/** Whether frames can be sent. */
	private isReady = false;

	private becameReady: Deferred<void> = deferred();

	/** The rotation in progress. */
	private rotating: Promise<boolean> | null = null;

	/** Earliest next rotation after one that failed, by `clock.elapsed()`. */
	private nextRotationAt = 0;

	/** Consecutive failed rotations of the current socket. */
	private failures = 0;

	/** Why the latest rotation failed. */
	private failure: AttemptEnd | null = null;

	/** Whether the service may accept two sockets of one client. False once it has rejected one. */
	private allowsOverlap = true;

	/** Resolves when the latest socket has ended, or immediately if there was none. */
	closed: Promise<unknown> = Promise.resolve();

	constructor(private readonly options: RotationOptions) {}

	/** Whether a socket gets the events, even if a new one is about to replace it. */
	get isConnected(): boolean {
		const { current, stable } = this;
		return current !== null && current === stable && !current.signal.aborted;
	}

	/** The socket for frames, or null if there is none now. */
	get socket(): ManagedSocket | null {
		const { current, isReady } = this;
		// A socket that has ended can still be `current`, until the socket before it has ended.
		return isReady && current?.signal.aborted === false ? current : null;
	}

	/**
	 * A socket for a frame whose ack may take `ackMs`. If the token may expire before the ack, the socket is replaced first,
	 * because the service may close a socket when its token expires, and the outcome of the frame would be unknown. Tries again
	 * until `waitUntil`.
	 *
	 * @param waitUntil by `clock.elapsed()`. After it, the reason of a failed rotation is returned.
	 * @returns null if the caller must check again
	 */
	async socketFor(ackMs: number, waitUntil: number): Promise<ManagedSocket | AttemptEnd | null> {
		const { socket } = this;
		if (socket === null) {
			await Promise.race([this.ready, this.current?.ended]);
			return null;
		}
		const { clock } = this.options;
		if (this.tokenOutlasts(socket, ackMs)) return socket;
		const isDue = clock.elapsed() >= this.nextRotationAt;
		if (isDue && (await this.rotateOnce(socket))) return null;
		if (this.hasOutlivedToken(socket)) return this.socket;
		if (clock.elapsed() >= waitUntil && this.failure !== null) return this.failure;
		await pause(clock, 1_000, socket.signal);
		return null;
	}

	/** Whether the token is valid for that long, or too new to be replaced. */
	private tokenOutlasts({ tokenLife: { mintedAt, endsAt } }: ManagedSocket, ms: number): boolean {
		const now = this.options.clock.elapsed();
		return now < mintedAt + TOKEN_RETRY_MS || now + ms <= endsAt;
	}

	private hasOutlivedToken({ tokenLife: { endsAt } }: ManagedSocket): boolean {
		return this.options.clock.elapsed() > endsAt + OUTLIVED_AFTER_MS;
	}

	/** Resolves when the next socket is ready. */
	get ready(): Promise<void> {
		return this.becameReady.promise;
	}

	/** Runs until this socket and its successors have ended. The time since the first one opened counts for all. */
	async run(first: ManagedSocket): Promise<SocketEnd> {
		const ended = this.runAll(first);
		this.closed = ended;
		const end = await ended;
		const { openSince } = first;
		return openSince === null
			? end
			: { ...end, openForMs: this.options.clock.elapsed() - openSince };
	}

	close(cause: CloseCause): void {
		for (const socket of [this.current, this.successor]) socket?.close(cause);
	}

	private async runAll(first: ManagedSocket): Promise<SocketEnd> {
		this.promote(first);
		for (;;) {
			const socket = this.current ?? first;
			const end = await socket.ended;
			// The service replaced it with the new socket, or it ended for another reason.
			if (this.current === socket && this.successor !== null) this.promote(this.successor);
			if (this.current !== socket) continue;
			this.setReady(false);
			return end;
		}
	}

	private promote(socket: ManagedSocket): void {
		this.current = socket;
		this.successor = null;
		this.failures = 0;
		this.failure = null;
		this.nextRotationAt = 0;
		this.setReady(false);
		void this.maintain(socket);
	}

	private setReady(isReady: boolean): void {
		this.isReady = isReady;
		if (!isReady) return;
		this.becameReady.resolve();
		this.becameReady = deferred();
	}

	/** Maintains an open socket: marks it as ready, renews the token, rotates. */
	private async maintain(socket: ManagedSocket): Promise<void> {
		const { clock, tokens } = this.options;
		await socket.opened;
		const openSince = socket.openSince ?? clock.elapsed();
		if (!(await pause(clock, openSince + SETTLE_MS - clock.elapsed(), socket.signal))) return;
		this.stable = socket;
		this.setReady(true);
		let rotateAt = openSince + this.options.rotateEveryMs;
		for (;;) {
			const dueInMs = Math.min(tokens.renewAt, rotateAt) - clock.elapsed();
			// If an ack is outstanding, check again in a second.
			if (!(await pause(clock, Math.max(dueInMs, 1_000), socket.signal))) return;
			if (clock.elapsed() >= tokens.renewAt) await this.renewToken();
			if (clock.elapsed() < rotateAt || this.options.isBusy()) continue;
			if (await this.rotateOnce(socket)) return;
			if (this.options.isBusy()) continue;
			const hasToken = this.failure !== null && this.failure.kind !== 'mint';
			rotateAt = hasToken ? this.nextRotationAt : clock.elapsed() + TOKEN_RETRY_MS;
		}
	}

	private async rotateOnce(socket: ManagedSocket): Promise<boolean> {
		this.rotating ??= this.rotate(socket).finally(() => (this.rotating = null));
		return await this.rotating;
	}

	/**
	 * Opens the new socket before it closes the old one, so that no event is lost. How the service treats two sockets of one
	 * client isn't documented. If it closes the old one, the new one takes over. If it rejects the new one (1008), the old one
	 * is closed first, now and from then on. If the new one fails for another reason, the old one stays in use. Sends wait
	 * during the switch.
	 *
	 * @returns whether the old socket is closing
	 */
	private async rotate(old: ManagedSocket): Promise<boolean> {
		const { tokens, clock, isBusy, openAnother, onSessionClosed } = this.options;
		const hasEnded = () => old.signal.aborted;
		const minted = await tokens.validFor(MIN_TOKEN_LIFE_MS);
		if (hasEnded()) return true;
		if (minted.kind === 'session_closed') {
			onSessionClosed();
			return true;
		}
		if (minted.kind !== 'token') return this.keepSocket({ kind: 'mint', result: minted });
		// A frame was sent while the token was requested.
		if (isBusy()) return false;
		if (!this.allowsOverlap) return this.closeReplaced(old);
		const successor = openAnother(minted.token);
		if (successor === null) return true;
		if (!(successor instanceof ManagedSocket)) return this.keepSocket(successor);
		this.setReady(false);
		this.successor = successor;
		await successor.opened;
		const isStable = await pause(clock, SETTLE_MS, successor.signal);
		// The old socket has ended, so this one was promoted.
		if (this.successor !== successor) return true;
		if (isStable) {
			this.promote(successor);
			old.close('rotated');
			return true;
		}
		this.successor = null;
		const end = await successor.ended;
		const isClosing = end.cause === 'stopped' || end.cause === 'session_closed';
		if (isClosing || hasEnded()) return true;
		return await this.afterFailedOverlap(old, end);
	}

	/** By the document, only 1008 can be about another socket ("claim conflict"), and it must not be followed by the same token. */
	private async afterFailedOverlap(old: ManagedSocket, end: SocketEnd): Promise<boolean> {
		const isRejected = end.code === POLICY;
		if (isRejected || end.code === TOKEN_REJECTED) this.options.tokens.discard();
		if (isRejected) {
			this.allowsOverlap = false;
			this.setReady(true);
			return await this.rotate(old);
		}
		this.keepSocket({ kind: 'socket', end, claimed: false });
		// Without a ping, only a new socket would show whether the old one is alive.
		const mayBeDead = this.hasOutlivedToken(old) && this.failures > MAX_RECONNECT_ATTEMPTS;
		return mayBeDead && this.closeReplaced(old);
	}

	private closeReplaced(old: ManagedSocket): true {
		this.setReady(false);
		old.close('rotated');
		return true;
	}

	/** Notes why the socket wasn't replaced. @returns that it isn't closing */
	private keepSocket(failure: AttemptEnd): false {
		const { clock, random, onRotationFailed } = this.options;
		this.failure = failure;
		this.failures += 1;
		const waitMs = backoffMs(CHAT_BACKOFF, this.failures, random);
		this.nextRotationAt = clock.elapsed() + waitMs;
		this.setReady(true);
		onRotationFailed(failure, waitMs);
		return false;
	}

	private async renewToken(): Promise<void> {
		const minted = await this.options.tokens.renew();
		if (minted.kind === 'session_closed') this.options.onSessionClosed();
		else if (minted.kind !== 'token') this.options.onMintFailed(minted.error);
	}
}
