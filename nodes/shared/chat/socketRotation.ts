import { backoffMs, type Clock, type Deferred, deferred, pause } from '../clock';
import type { ManagedSocket, SocketEnd, CloseCause } from './managedSocket';
import { CHAT_BACKOFF, SETTLE_MS, TOKEN_RETRY_MS } from './timings';
import type { MintFailure, MintResult, TokenCache } from './token';

/** The token of a new socket must be valid for this long, so that it doesn't expire while a frame waits for its ack. */
export const MIN_TOKEN_LIFE_MS = 200_000;

/** If a socket is still open this long after its token expired, the service doesn't close sockets with their token. */
const OUTLIVED_AFTER_MS = 5_000;

/** The connection broke without a close frame. */
const ABNORMAL = 1006;

export interface RotationOptions {
	clock: Clock;
	/** Returns 0 to 1, for jitter. */
	random: () => number;
	tokens: TokenCache;
	/** Opens another socket with the same `client_id`. Null if that isn't possible now. */
	openAnother: (minted: MintResult) => ManagedSocket | null;
	/** Time between rotations. `Infinity` turns rotation off. */
	rotateEveryMs: number;
	/** Whether a frame is waiting for its ack. */
	isBusy: () => boolean;
	onSessionClosed: () => void;
	onMintFailed: (error: unknown) => void;
}

/**
 * Keeps a session connected through a series of sockets. Replaces each one regularly: the protocol has no ping, so a dead
 * connection would go unnoticed.
 */
export class SocketRotation {
	private current: ManagedSocket | null = null;

	/** Replaces `current` when it's stable. */
	private successor: ManagedSocket | null = null;

	/** Whether frames can be sent. */
	private isReady = false;

	private becameReady: Deferred<void> = deferred();

	/** The rotation in progress. */
	private rotating: Promise<boolean> | null = null;

	/** Earliest next rotation for a frame after one without a token, by `clock.elapsed()`. */
	private nextRotationAt = 0;

	/** Consecutive rotations without a token. */
	private mintFailures = 0;

	/** Why the latest rotation had no token. */
	private mintFailure: MintFailure | null = null;

	/** Whether the service may accept two sockets of one client. False once it has rejected one. */
	private allowsOverlap = true;

	/** Resolves when the latest socket has ended, or immediately if there was none. */
	closed: Promise<unknown> = Promise.resolve();

	constructor(private readonly options: RotationOptions) {}

	/** The socket for frames, or null if there is none now. */
	get socket(): ManagedSocket | null {
		const { current, isReady } = this;
		// A socket that has ended can still be `current`, until the socket before it has ended.
		return isReady && current?.signal.aborted === false ? current : null;
	}

	/**
	 * A socket for a frame whose ack may take `ackMs`. If the token may expire before the ack, the socket is replaced first,
	 * because the service may close a socket when its token expires, and the outcome of the frame would be unknown. Keeps
	 * requesting a token until `waitUntil`.
	 *
	 * @param waitUntil by `clock.elapsed()`. After it, a mint failure is returned.
	 * @returns null if the caller must check again
	 */
	async socketFor(ackMs: number, waitUntil: number): Promise<ManagedSocket | MintFailure | null> {
		const { socket } = this;
		if (socket === null) return null;
		const { clock, random } = this.options;
		if (this.tokenOutlasts(socket, ackMs)) return socket;
		if (clock.elapsed() >= this.nextRotationAt) {
			if (await this.rotateOnce(socket)) return null;
			this.mintFailures += 1;
			this.nextRotationAt = clock.elapsed() + backoffMs(CHAT_BACKOFF, this.mintFailures, random);
		}
		if (clock.elapsed() > socket.tokenLife.endsAt + OUTLIVED_AFTER_MS) return this.socket;
		if (clock.elapsed() >= waitUntil && this.mintFailure !== null) return this.mintFailure;
		await pause(clock, 1_000, socket.signal);
		return null;
	}

	/** Whether the token is valid for that long, or too new to be replaced. */
	private tokenOutlasts({ tokenLife: { mintedAt, endsAt } }: ManagedSocket, ms: number): boolean {
		const now = this.options.clock.elapsed();
		return now < mintedAt + TOKEN_RETRY_MS || now + ms <= endsAt;
	}

	/** Resolves when the next socket is ready. */
	get ready(): Promise<void> {
		return this.becameReady.promise;
	}

	/** Runs until this socket and its successors have ended. */
	async run(first: ManagedSocket): Promise<SocketEnd> {
		const ended = this.runAll(first);
		this.closed = ended;
		return await ended;
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
		this.setReady(true);
		let rotateAt = openSince + this.options.rotateEveryMs;
		for (;;) {
			const dueInMs = Math.min(tokens.renewAt, rotateAt) - clock.elapsed();
			// If an ack is outstanding, check again in a second.
			if (!(await pause(clock, Math.max(dueInMs, 1_000), socket.signal))) return;
			if (clock.elapsed() >= tokens.renewAt) await this.renewToken();
			if (clock.elapsed() < rotateAt || this.options.isBusy()) continue;
			if (await this.rotateOnce(socket)) return;
			if (!this.options.isBusy()) rotateAt = clock.elapsed() + TOKEN_RETRY_MS;
		}
	}

	private async rotateOnce(socket: ManagedSocket): Promise<boolean> {
		this.rotating ??= this.rotate(socket).finally(() => (this.rotating = null));
		return await this.rotating;
	}

	/**
	 * Opens the new socket before it closes the old one, so that no event is lost. How the service treats two sockets of one
	 * client isn't documented. If it closes the old one, the new one takes over. If it rejects the new one, the old one is
	 * closed first, now and from then on. Sends wait during the switch.
	 *
	 * @returns whether the old socket is closing
	 */
	private async rotate(old: ManagedSocket): Promise<boolean> {
		const minted = await this.options.tokens.validFor(MIN_TOKEN_LIFE_MS);
		if (old.signal.aborted) return true;
		if (minted.kind === 'session_closed') {
			this.options.onSessionClosed();
			return true;
		}
		this.mintFailure = minted.kind === 'token' ? null : minted;
		if (this.mintFailure === null) this.mintFailures = 0;
		// A frame was sent while the token was requested.
		if (this.options.isBusy()) return false;
		this.setReady(false);
		if (!this.allowsOverlap && minted.kind === 'token') {
			old.close('rotated');
			return true;
		}
		const successor = this.options.openAnother(minted);
		if (successor === null) {
			this.setReady(true);
			return false;
		}
		this.successor = successor;
		await successor.opened;
		const isStable = await pause(this.options.clock, SETTLE_MS, successor.signal);
		// The old socket has ended, so this one was promoted.
		if (this.successor !== successor) return true;
		if (isStable) {
			this.promote(successor);
		} else {
			this.successor = null;
			const { code, openForMs } = await successor.ended;
			// A network failure or timeout doesn't mean that the service rejects two sockets.
			if (openForMs !== null && code !== null && code !== ABNORMAL) this.allowsOverlap = false;
		}
		old.close('rotated');
		return true;
	}

	private async renewToken(): Promise<void> {
		const minted = await this.options.tokens.renew();
		if (minted.kind === 'session_closed') this.options.onSessionClosed();
		else if (minted.kind !== 'token') this.options.onMintFailed(minted.error);
	}
}
