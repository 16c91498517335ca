import { dataOf } from '../api/envelope';
import {
	InvalidInput,
	isRejection,
	isTransient,
	MissingMapping,
	ServiceRejection,
} from '../api/errors';
import { onScreenOnly } from '../api/modelAdvice';
import type { ApiResponse } from '../api/http';
import type { WsToken } from '../api/types';
import type { Clock } from '../clock';
import { isJsonObject, type JsonValue } from '../json';
import { TOKEN_LIFETIME_MS, TOKEN_RETRY_MS } from './timings';

/** What became of asking for a token. `unreachable` is worth another attempt; asking again cannot change the others. */
export type MintResult = { kind: 'token'; token: WsToken } | MintMiss;

export type MintMiss = { kind: 'session_closed' | 'rejected' | 'unreachable'; error: unknown };

/**
 * Asks for a token and sorts what comes back. A token is nothing a customer notices, so asking again is safe at any time;
 * it is left when the answer would stay the same.
 *
 * @param ask sends `POST /v1/chat/session/{id}/ws_token`
 */
export async function mintToken(ask: () => Promise<ApiResponse>): Promise<MintResult> {
	try {
		const token = readWsToken(dataOf(await ask()));
		return token === null ? { kind: 'rejected', error: UNREADABLE } : { kind: 'token', token };
	} catch (error) {
		return { kind: missOf(error), error };
	}
}

const UNREADABLE = new InvalidInput(
	'The service answered without a WebSocket token or address',
	onScreenOnly(
		'Check Base URL in the credential, and ask the owner of the service about POST ws_token.',
	),
);

function missOf(error: unknown): 'session_closed' | 'rejected' | 'unreachable' {
	if (error instanceof InvalidInput || error instanceof MissingMapping) return 'rejected';
	if (!(error instanceof ServiceRejection)) return 'unreachable';
	// By the body, as in the error table; the documented status (409) has other meanings too.
	if (isRejection(error, 'session_closed')) return 'session_closed';
	return isTransient(error) ? 'unreachable' : 'rejected';
}

function readWsToken(data: JsonValue): WsToken | null {
	if (!isJsonObject(data)) return null;
	const { token, ws_url: wsUrl, expires_at: expiresAt, stream } = data;
	if (typeof token !== 'string' || token === '' || typeof wsUrl !== 'string') return null;
	return {
		token,
		ws_url: wsUrl,
		// Without a time the documented 5 minutes count.
		expires_at: typeof expiresAt === 'number' ? expiresAt : 0,
		stream: typeof stream === 'string' ? stream : '',
	};
}

/** Of a token, by `clock.elapsed()`. */
export interface TokenLife {
	mintedAt: number;
	endsAt: number;
}

interface HeldToken extends TokenLife {
	result: MintResult;
	usableUntil: number;
}

/** Keeps one token and renews it before its end, so that a reconnect finds a valid one at hand. */
export class TokenCache {
	private held: HeldToken | null = null;
	private minting: Promise<MintResult> | null = null;
	private nextRenewal = Infinity;

	constructor(
		private readonly mint: () => Promise<MintResult>,
		private readonly clock: Clock,
		private readonly random: () => number,
	) {}

	/** When the held token is to be renewed, by the elapsed time. */
	get renewAt(): number {
		return this.nextRenewal;
	}

	/** A token that is good for at least that long, as far as one can be had: a held one that ends earlier is better than none. */
	async current(lastingMs = 0): Promise<MintResult> {
		const held = this.heldFor(lastingMs);
		if (held !== null) return held;
		const minted = await this.renew();
		return minted.kind === 'unreachable' ? (this.heldFor(0) ?? minted) : minted;
	}

	private heldFor(ms: number): MintResult | null {
		const { held } = this;
		return held !== null && this.clock.elapsed() + ms < held.usableUntil ? held.result : null;
	}

	/** When the held token was asked for and when it ends, by the elapsed time; in the past if there is none. */
	get life(): TokenLife {
		return this.held ?? { mintedAt: -Infinity, endsAt: -Infinity };
	}

	/** A token that is good for at least that long, or why there is none. */
	async lasting(ms: number): Promise<MintResult> {
		const { held } = this;
		const isLasting = held !== null && this.clock.elapsed() + ms <= held.endsAt;
		return isLasting ? held.result : await this.renew();
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
		const mintedAt = this.clock.elapsed();
		const askedOn = this.clock.now();
		const result = await this.tryMint();
		if (result.kind === 'token') {
			const lifetime = lifetimeMs(result.token, askedOn);
			const usableUntil = mintedAt + lifetime * 0.95;
			this.held = { result, mintedAt, usableUntil, endsAt: mintedAt + lifetime };
			// Between 80 and 90 % of its life: sessions opened together do not all mint together.
			// Not sooner than after a miss: a clock that is ahead here makes a life look like a second.
			const due = Math.max(TOKEN_RETRY_MS, lifetime * (0.8 + 0.1 * this.random()));
			this.nextRenewal = mintedAt + due;
		} else {
			this.nextRenewal = this.clock.elapsed() + TOKEN_RETRY_MS;
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
function lifetimeMs(token: WsToken, askedOn: number): number {
	const left = token.expires_at * 1000 - askedOn;
	return left > 0 ? Math.min(left, TOKEN_LIFETIME_MS) : TOKEN_LIFETIME_MS;
}
