import WebSocket from 'ws';
import type { Simulator } from '..';
import { isObject, type JsonObject } from '../json';
import { call } from './api';

/** A simple client of the session socket. */
export class SocketClient {
	readonly seen: JsonObject[] = [];
	closed: { code: number; reason: string } | null = null;
	private waiting: Array<() => void> = [];

	constructor(readonly ws: WebSocket) {
		ws.on('message', (data: Buffer, isBinary: boolean) => {
			const frame = isBinary ? undefined : parsed(data.toString('utf8'));
			if (isObject(frame)) this.seen.push(frame);
			this.tell();
		});
		ws.on('close', (code: number, reason: Buffer) => {
			this.closed = { code, reason: reason.toString('utf8') };
			this.tell();
		});
		ws.on('error', () => this.tell());
	}

	send(frame: unknown): void {
		this.ws.send(
			typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame),
		);
	}

	async until<T>(look: () => T | null | undefined | false): Promise<T> {
		for (;;) {
			const found = look();
			if (found !== null && found !== undefined && found !== false) return found;
			await new Promise<void>((resolve) => this.waiting.push(resolve));
		}
	}

	async untilClosed(): Promise<{ code: number; reason: string }> {
		return await this.until(() => this.closed);
	}

	/** The payload of the next ack. */
	async ack(): Promise<JsonObject> {
		return await this.until(() => {
			const at = this.seen.findIndex(
				(frame) => frame.type === 'ws_write_result' && isObject(frame.payload),
			);
			const payload = at < 0 ? undefined : this.seen.splice(at, 1)[0]?.payload;
			return isObject(payload) ? payload : undefined;
		});
	}

	private tell(): void {
		const waiting = this.waiting;
		this.waiting = [];
		for (const resolve of waiting) resolve();
	}
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

export async function minted(
	sim: Simulator,
	sessionId: string,
): Promise<{ url: string; token: string }> {
	const { data } = await call(sim, 'POST', `/v1/chat/session/${sessionId}/ws_token`, {
		stream: 'user',
	});
	return { url: String(data.ws_url), token: String(data.token) };
}

/** Opens `ws_url` as returned, with the documented parameters. Resolves when open or rejected. */
export async function connect(
	url: string,
	parameters: Record<string, string>,
): Promise<SocketClient> {
	const address = new URL(url);
	for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
	const ws = new WebSocket(address);
	const client = new SocketClient(ws);
	await new Promise<void>((resolve) => {
		ws.once('open', () => resolve());
		ws.once('close', () => resolve());
	});
	return client;
}

export async function opened(
	sim: Simulator,
	sessionId: string,
	clientId = 'client-1',
	claim?: '1',
): Promise<SocketClient> {
	const { url, token } = await minted(sim, sessionId);
	return await connect(url, {
		token,
		client_id: clientId,
		...(claim === undefined ? {} : { claim }),
	});
}
