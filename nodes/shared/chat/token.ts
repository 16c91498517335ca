import { dataOf } from '../api/envelope';
import {
	InvalidInput,
	isRejection,
	isTransient,
	MissingMapping,
	ServiceRejection,
} from '../api/errors';
import { onScreenOnly } from '../api/resolution';
import type { ApiResponse } from '../api/http';
import type { WsToken } from '../api/types';
import type { Clock } from '../clock';
import { isJsonObject, type JsonValue } from '../json';
import { TOKEN_LIFETIME_MS, TOKEN_RETRY_MS } from './timings';

/** The result of a token request. Only `unreachable` is worth a retry. */
export type MintResult = { kind: 'token'; token: WsToken } | MintFailure;

export type MintFailure = { kind: 'session_closed' | 'rejected' | 'unreachable'; error: unknown };

/**
 * Requests a token and classifies the result. Repeating the request is safe, because customers don't notice it.
 *
 * @param request sends `POST /v1/chat/session/{id}/ws_token`
 */
export async function mintToken(request: () => Promise<ApiResponse>): Promise<MintResult> {
	try {
		const token = readWsToken(dataOf(await request()));
		return token === null ? { kind: 'rejected', error: UNREADABLE } : { kind: 'token', token };
	} catch (error) {
		return { kind: failureKind(error), error };
	}
}

const UNREADABLE = new InvalidInput(
	'The response of the service has no WebSocket token or URL',
	onScreenOnly(
		"Check 'Base URL' in the credential. If it's correct, ask your service provider about POST ws_token.",
	),
);

function failureKind(error: unknown): 'session_closed' | 'rejected' | 'unreachable' {
	if (error instanceof InvalidInput || error instanceof MissingMapping) return 'rejected';
	if (!(error instanceof ServiceRejection)) return 'unreachable';
	// By the body, as in the error table, because the documented status (409) has other meanings too.
	if (isRejection(error, 'session_closed')) return 'session_closed';
	return isTransient(error) ? 'unreachable' : 'rejected';
}

/** Half of a surrogate pair, which can't be encoded in a URL. */
const UNSENDABLE = /\p{Surrogate}/u;

function readWsToken(data: JsonValue): WsToken | null {
	if (!isJsonObject(data)) return null;
	const { token, ws_url: wsUrl, expires_at: expiresAt, stream } = data;
	if (typeof token !== 'string' || token === '' || typeof wsUrl !== 'string') return null;
	if (UNSENDABLE.test(token)) return null;
	return {
		token,
		ws_url: wsUrl,
		// 0 means the documented 5 minutes.
		expires_at: typeof expiresAt === 'number' ? expiresAt : 0,
		stream: typeof stream === 'string' ? stream : '',
	};
}

/** Lifetime of a token, by `clock.elapsed()`. */
export interface TokenLife {
	mintedAt: number;
	endsAt: number;
}

interface CachedToken extends TokenLife {
	result: MintResult;
	usableUntil: number;
}

/** Tokens to hide at most, because hiding many takes long. */
const MAX_ISSUED = 20;

/** Caches a token and renews it before it expires, so that a reconnect doesn't have to wait for one. */
export class TokenCache {
	private cached: CachedToken | null = null;
	private recent: Array<{ token: string; mintedAt: number }> = [];
	private minting: Promise<MintResult> | null = null;
	private nextRenewal = Infinity;

	constructor(
		private readonly mint: () => Promise<MintResult>,
		private readonly clock: Clock,
		private readonly random: () => number,
	) {}

	/** When to renew the token, by `clock.elapsed()`. */
	get renewAt(): number {
		return this.nextRenewal;
	}

	/** The tokens that may still be valid or in use. */
	get issued(): string[] {
		return this.recent.map(({ token }) => token);
	}

	/** A token that is valid for at least `minLifeMs` if possible. A cached one with less time left is better than none. */
	async current(minLifeMs = 0): Promise<MintResult> {
		const cached = this.cachedFor(minLifeMs);
		if (cached !== null) return cached;
		const minted = await this.renew();
		return minted.kind === 'unreachable' ? (this.cachedFor(0) ?? minted) : minted;
	}

	private cachedFor(ms: number): MintResult | null {
		const { cached } = this;
		return cached !== null && this.clock.elapsed() + ms < cached.usableUntil ? cached.result : null;
	}

	/** Lifetime of the cached token, in the past if there is none. */
	get life(): TokenLife {
		return this.cached ?? { mintedAt: -Infinity, endsAt: -Infinity };
	}

	/** A token that is valid for at least that long, or the failure. */
	async validFor(ms: number): Promise<MintResult> {
		const { cached } = this;
		const isValid = cached !== null && this.clock.elapsed() + ms <= cached.endsAt;
		return isValid ? cached.result : await this.renew();
	}

	/** Mints a token. Concurrent calls share one request. If it fails, the cached token stays. */
	async renew(): Promise<MintResult> {
		this.minting ??= this.mintOnce().finally(() => {
			this.minting = null;
		});
		return await this.minting;
	}

	discard(): void {
		this.cached = null;
	}

	private async mintOnce(): Promise<MintResult> {
		const mintedAt = this.clock.elapsed();
		const requestedOn = this.clock.now();
		const result = await this.tryMint();
		if (result.kind === 'token') {
			const lifetime = lifetimeMs(result.token, requestedOn);
			const usableUntil = mintedAt + lifetime * 0.95;
			this.cached = { result, mintedAt, usableUntil, endsAt: mintedAt + lifetime };
			this.noteIssued(result.token.token, mintedAt);
			// After 80 to 90 % of its lifetime, so that sessions opened together don't all renew at the same moment.
			// Not before `TOKEN_RETRY_MS`, because a wrong clock here can make a lifetime look like a second.
			const renewInMs = Math.max(TOKEN_RETRY_MS, lifetime * (0.8 + 0.1 * this.random()));
			this.nextRenewal = mintedAt + renewInMs;
		} else {
			this.nextRenewal = this.clock.elapsed() + TOKEN_RETRY_MS;
		}
		return result;
	}

	/** Keeps each token for its lifetime after the next one was issued, because its socket can stay open until then. */
	private noteIssued(token: string, mintedAt: number): void {
		const earlier = this.recent.filter((_one, at) => {
			const replacedAt = this.recent[at + 1]?.mintedAt ?? mintedAt;
			return mintedAt < replacedAt + TOKEN_LIFETIME_MS;
		});
		this.recent = [...earlier, { token, mintedAt }].slice(-MAX_ISSUED);
	}

	private async tryMint(): Promise<MintResult> {
		try {
			return await this.mint();
		} catch (error) {
			return { kind: 'unreachable', error };
		}
	}
}

/** A wrong clock on this machine makes `expires_at` useless. Then the documented 5 minutes count from the request. */
function lifetimeMs(token: WsToken, requestedOn: number): number {
	const remainingMs = token.expires_at * 1000 - requestedOn;
	return remainingMs > 0 ? Math.min(remainingMs, TOKEN_LIFETIME_MS) : TOKEN_LIFETIME_MS;
}
