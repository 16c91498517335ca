import { backoffMs, type Clock, type Deferred, deferred, pause } from '../clock';
import type { ManagedSocket, SocketEnd, CloseCause } from './managedSocket';
import { RECONNECT_BACKOFF, SETTLE_MS, TOKEN_RETRY_MS } from './timings';
import type { MintMiss, MintResult, TokenCache } from './token';

/** A new socket gets a token that is good for this long, so that no frame is cut off by its end. */
export const FRESH_FOR_MS = 200_000;

/** A socket that is open this long after its token has ended has outlived it. */
const OUTLIVED_AFTER_MS = 5_000;

/** The connection broke; nobody closed it. */
const ABNORMAL = 1006;

export interface RotationOptions {
	clock: Clock;
	/** From 0 up to 1, for the jitter of the waits. */
	random: () => number;
	tokens: TokenCache;
	/** Opens another socket of the same client; null when none can be had now. */
	openAnother: (minted: MintResult) => ManagedSocket | null;
	/** A socket is replaced this often; `Infinity` to keep it for as long as it lasts. */
	renewEveryMs: number;
	/** Whether a frame waits for its ack. */
	isBusy: () => boolean;
	onTokenMissed: (error: unknown) => void;
}

/**
 * The session held by a socket, and by those that take its place one after another: each is replaced now and then, because
 * a connection that died silently shows in no other way.
 */
export class SocketRotation {
	private current: ManagedSocket | null = null;

	/** Is to take the place of `current`. */
	private successor: ManagedSocket | null = null;

	/** Whether frames may be sent. */
	private isHeld = false;

	private held: Deferred<void> = deferred();

	/** The replacement that is in progress. */
	private replacing: Promise<boolean> | null = null;

	/** After one that had no token, by the elapsed time. */
	private replaceAgainAt = 0;

	/** Replacements for a frame that had no token, one after another. */
	private misses = 0;

	/** Why the latest replacement had no token. */
	private missed: MintMiss | null = null;

	/** Whether the service may take two sockets of the same client at a time. */
	private allowsOverlap = true;

	/** Resolves when the latest socket is gone, at once where there was none. */
	closed: Promise<unknown> = Promise.resolve();

	constructor(private readonly parts: RotationOptions) {}

	/** The socket that frames may be sent on; null while there is none. */
	get socket(): ManagedSocket | null {
		const { current, isHeld } = this;
		// One that has ended stays the current one until the socket before it is gone.
		return isHeld && current?.signal.aborted === false ? current : null;
	}

	/**
	 * A socket for a frame whose ack may take that long; null if another look is needed. If the token may end before the ack,
	 * the socket is replaced first: a service that closes a socket with its token would leave the fate of the frame unknown.
	 * While no token can be had, it is asked for again and again.
	 *
	 * @param waitUntil by the elapsed time: then the miss is returned
	 */
	async socketFor(ackMs: number, waitUntil: number): Promise<ManagedSocket | MintMiss | null> {
		const { socket } = this;
		if (socket === null) return null;
		const { clock, random } = this.parts;
		if (this.outlasts(socket, ackMs)) return socket;
		if (clock.elapsed() >= this.replaceAgainAt) {
			if (await this.rotateOnce(socket)) return null;
			this.misses += 1;
			this.replaceAgainAt = clock.elapsed() + backoffMs(RECONNECT_BACKOFF, this.misses, random);
		}
		// A socket that is still open after its token has ended doesn't end with it.
		if (clock.elapsed() > socket.tokenLife.endsAt + OUTLIVED_AFTER_MS) return this.socket;
		if (clock.elapsed() >= waitUntil && this.missed !== null) return this.missed;
		await pause(clock, 1_000, socket.signal);
		return null;
	}

	/** Whether the token is good for that long, or is as new as one can be. */
	private outlasts({ tokenLife: { mintedAt, endsAt } }: ManagedSocket, ms: number): boolean {
		const now = this.parts.clock.elapsed();
		return now < mintedAt + TOKEN_RETRY_MS || now + ms <= endsAt;
	}

	/** Resolves when there is such a socket again. */
	get ready(): Promise<void> {
		return this.held.promise;
	}

	/** Holds the session by this socket and its successors; resolves when the last of them has ended. */
	async run(line: ManagedSocket): Promise<SocketEnd> {
		const ended = this.outlast(line);
		this.closed = ended;
		return await ended;
	}

	close(cause: CloseCause): void {
		for (const line of [this.current, this.successor]) line?.close(cause);
	}

	private async outlast(first: ManagedSocket): Promise<SocketEnd> {
		this.promote(first);
		for (;;) {
			const line = this.current ?? first;
			const end = await line.ended;
			// Gone because the service took the new socket for this one come back, or for a reason of its own.
			if (this.current === line && this.successor !== null) this.promote(this.successor);
			if (this.current !== line) continue;
			this.setHeld(false);
			return end;
		}
	}

	private promote(line: ManagedSocket): void {
		this.current = line;
		this.successor = null;
		this.setHeld(false);
		void this.maintain(line);
	}

	private setHeld(isHeld: boolean): void {
		this.isHeld = isHeld;
		if (!isHeld) return;
		this.held.resolve();
		this.held = deferred();
	}

	/** Looks after an open socket: reports it as held, renews the token, replaces the socket now and then. */
	private async maintain(line: ManagedSocket): Promise<void> {
		const { clock, tokens } = this.parts;
		await line.opened;
		const since = line.openSince ?? clock.elapsed();
		if (!(await pause(clock, since + SETTLE_MS - clock.elapsed(), line.signal))) return;
		this.setHeld(true);
		let replaceAt = since + this.parts.renewEveryMs;
		for (;;) {
			const due = Math.min(tokens.renewAt, replaceAt) - clock.elapsed();
			// A socket that is due but waits for an ack is looked at again in a second.
			if (!(await pause(clock, Math.max(due, 1_000), line.signal))) return;
			if (clock.elapsed() >= tokens.renewAt) await this.renewToken(line);
			if (clock.elapsed() < replaceAt || this.parts.isBusy()) continue;
			if (await this.rotateOnce(line)) return;
			if (!this.parts.isBusy()) replaceAt = clock.elapsed() + TOKEN_RETRY_MS;
		}
	}

	private async rotateOnce(line: ManagedSocket): Promise<boolean> {
		this.replacing ??= this.rotate(line).finally(() => (this.replacing = null));
		return await this.replacing;
	}

	/**
	 * Opens another socket and lets the old one go once the new one holds, so that no event falls between the two. What the
	 * service does with two sockets of the same client is open: where it closes the old one, the new one takes its place at
	 * once; where it rejects the new one, the old one is closed first, then and from now on. No frame is sent meanwhile.
	 *
	 * @returns whether the old socket goes
	 */
	private async rotate(old: ManagedSocket): Promise<boolean> {
		const minted = await this.parts.tokens.lasting(FRESH_FOR_MS);
		if (old.signal.aborted) return true;
		if (minted.kind === 'session_closed') {
			old.close('session_closed');
			return true;
		}
		this.missed = minted.kind === 'token' ? null : minted;
		if (this.missed === null) this.misses = 0;
		// A frame was sent in between.
		if (this.parts.isBusy()) return false;
		this.setHeld(false);
		if (!this.allowsOverlap && minted.kind === 'token') {
			old.close('renewed');
			return true;
		}
		const line = this.parts.openAnother(minted);
		if (line === null) {
			this.setHeld(true);
			return false;
		}
		this.successor = line;
		await line.opened;
		const holds = await pause(this.parts.clock, SETTLE_MS, line.signal);
		// The old one may have gone meanwhile, and this one taken its place.
		if (this.successor !== line) return true;
		if (holds) {
			this.promote(line);
		} else {
			this.successor = null;
			const { code, openForMs } = await line.ended;
			// Neither a network that fails nor a time-out says anything about two sockets.
			if (openForMs !== null && code !== null && code !== ABNORMAL) this.allowsOverlap = false;
		}
		old.close('renewed');
		return true;
	}

	private async renewToken(line: ManagedSocket): Promise<void> {
		const minted = await this.parts.tokens.renew();
		if (minted.kind === 'session_closed') line.close('session_closed');
		else if (minted.kind !== 'token') this.parts.onTokenMissed(minted.error);
	}
}
