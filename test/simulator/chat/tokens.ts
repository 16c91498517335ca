import { randomBytes } from 'node:crypto';
import type { SimulatorState } from '../world';

const LIFETIME_MS = 300_000;

export interface SocketToken {
	token: string;
	sessionId: string;
	stream: string;
	expiresAt: number;
}

/** Short-lived tokens for the session sockets. */
export class SocketTokens {
	private readonly tokens = new Map<string, SocketToken>();

	constructor(private readonly world: SimulatorState) {}

	mint(sessionId: string, stream: string): SocketToken {
		const lifetime = this.world.settings.wsTokenLifetimeMs ?? LIFETIME_MS;
		const minted = {
			token: randomBytes(24).toString('base64url'),
			sessionId,
			stream,
			expiresAt: this.world.clock.now() + lifetime,
		};
		this.tokens.set(minted.token, minted);
		return minted;
	}

	/** The token if it is known and not expired. */
	valid(token: string | null): SocketToken | undefined {
		const known = this.tokens.get(token ?? '');
		return known && known.expiresAt > this.world.clock.now() ? known : undefined;
	}

	/** Expires all tokens issued so far. */
	expireAll(): void {
		for (const token of this.tokens.values()) token.expiresAt = 0;
	}

	reset(): void {
		this.tokens.clear();
	}
}
