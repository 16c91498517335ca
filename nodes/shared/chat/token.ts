import type { Clock } from '../clock';
import type { WsToken } from '../api/types';
import { TOKEN_LIFETIME_MS, TOKEN_RETRY_MS } from './timings';
import type { MintResult } from './types';

/** Keeps one token and renews it before its end, so that a reconnect finds a valid one at hand. */
export class TokenKeeper {
	private held: { result: MintResult; usableUntil: number } | null = null;
	private minting: Promise<MintResult> | null = null;
	private nextRenewal = Infinity;

	constructor(
		private readonly mint: () => Promise<MintResult>,
		private readonly clock: Clock,
		private readonly random: () => number,
	) {}

	/** When the held token is to be renewed. */
	get renewAt(): number {
		return this.nextRenewal;
	}

	async current(): Promise<MintResult> {
		const held = this.held;
		return held !== null && this.clock.now() < held.usableUntil ? held.result : await this.renew();
	}

	/** Mints a token; one that is being minted already is shared. On a miss the held token stays. */
	async renew(): Promise<MintResult> {
		this.minting ??= this.mintOnce().finally(() => {
			this.minting = null;
		});
		return await this.minting;
	}

	discard(): void {
		this.held = null;
	}

	private async mintOnce(): Promise<MintResult> {
		const askedAt = this.clock.now();
		const result = await this.tryMint();
		if (result.kind === 'token') {
			const lifetime = lifetimeMs(result.token, askedAt);
			this.held = { result, usableUntil: askedAt + lifetime * 0.95 };
			// Between 80 and 90 % of its life: sessions opened together do not all mint together.
			// Not sooner than after a miss: a clock that is ahead here makes a life look like a second.
			const due = Math.max(TOKEN_RETRY_MS, lifetime * (0.8 + 0.1 * this.random()));
			this.nextRenewal = askedAt + due;
		} else {
			this.nextRenewal = this.clock.now() + TOKEN_RETRY_MS;
		}
		return result;
	}

	private async tryMint(): Promise<MintResult> {
		try {
			return await this.mint();
		} catch (error) {
			return { kind: 'unreachable', error };
		}
	}
}

/** A wrong clock on this machine makes `expires_at` useless; the documented 5 minutes then count from asking. */
function lifetimeMs(token: WsToken, askedAt: number): number {
	const left = token.expires_at * 1000 - askedAt;
	return left > 0 ? Math.min(left, TOKEN_LIFETIME_MS) : TOKEN_LIFETIME_MS;
}
