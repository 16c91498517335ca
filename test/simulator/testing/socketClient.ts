import WebSocket from 'ws';
import type { Simulator } from '..';
import { until } from '../../n8n/until';
import { isObject, type JsonObject } from '../json';
import { call } from './api';

/** A simple client of the session socket. */
export class SocketClient {
	private readonly acks: JsonObject[] = [];
	private closeCode: number | undefined;

	constructor(readonly ws: WebSocket) {
		ws.on('message', (data: Buffer) => {
			const frame: unknown = JSON.parse(data.toString('utf8'));
			if (!isObject(frame) || frame.type !== 'ws_write_result') return;
			if (isObject(frame.payload)) this.acks.push(frame.payload);
		});
		ws.on('close', (code: number) => (this.closeCode = code));
		ws.on('error', () => {});
	}

	async closed(): Promise<number | undefined> {
		await until('the socket to close', async () => this.closeCode !== undefined);
		return this.closeCode;
	}

	/** Sends a frame. Returns the payload of its ack. */
	async send(frame: string | object): Promise<JsonObject | undefined> {
		this.ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
		await until('the ack', async () => this.acks.length > 0);
		return this.acks.shift();
	}
}

export async function minted(sim: Simulator, sessionId: string) {
	const path = `/v1/chat/session/${sessionId}/ws_token`;
	const { data } = await call(sim, 'POST', path, { stream: 'user' });
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
	await new Promise<void>((resolve) => ws.once('open', resolve).once('close', resolve));
	return client;
}

export async function opened(
	sim: Simulator,
	sessionId: string,
	parameters: Record<string, string> = { client_id: 'client-1' },
): Promise<SocketClient> {
	const { url, token } = await minted(sim, sessionId);
	return await connect(url, { token, ...parameters });
}
