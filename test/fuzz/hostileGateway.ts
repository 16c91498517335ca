import {
	createServer,
	request as send,
	type IncomingMessage,
	type ServerResponse,
} from 'node:http';
import omit from 'lodash/omit';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { listening } from '../network/badService';
import type { Simulator } from '../simulator';
import { corrupt, type Corruption } from './corruption';

/** The response or frame to corrupt, and the fault. */
export type CorruptionPlan = { nth: number; harm: Corruption; status: number | undefined };

/** The simulator also sends bodies of 1 GB. */
const MAX_BODY_BYTES = 2_000_000;

async function beginningOf(body: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of body) {
		const bytes = z.instanceof(Buffer).parse(chunk);
		chunks.push(bytes);
		size += bytes.length;
		if (size > MAX_BODY_BYTES) break;
	}
	return Buffer.concat(chunks);
}

/**
 * A gateway between n8n and the service that forwards everything and corrupts one response or one frame of the service.
 */
export class HostileGateway {
	/** Responses and frames of the service so far. */
	private count = 0;
	private plan: CorruptionPlan | undefined;

	private constructor(
		readonly baseUrl: string,
		private readonly service: Simulator,
		readonly close: () => Promise<void>,
	) {}

	static async start(service: Simulator): Promise<HostileGateway> {
		const server = createServer((request, response) => gateway.handle(request, response));
		const sockets = new WebSocketServer({ server });
		const port = await listening(server);
		const close = async () => {
			for (const socket of sockets.clients) socket.terminate();
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		};
		const gateway = new HostileGateway(`http://127.0.0.1:${port}`, service, close);
		sockets.on('connection', (socket, request) => gateway.bridge(socket, request));
		return gateway;
	}

	begin(plan: CorruptionPlan): void {
		this.count = 0;
		this.plan = plan;
	}

	private handle(request: IncomingMessage, response: ServerResponse): void {
		const { method, url = '/', headers } = request;
		// The simulator sometimes resets a connection on purpose, so n8n's connection is reset, too.
		const forwarded = send(this.service.baseUrl + url, {
			method,
			headers: { ...headers, connection: 'close' },
			agent: false,
		});
		forwarded.on('error', () => response.destroy());
		forwarded.on('response', (original) => {
			beginningOf(original).then(
				(bytes) => {
					const { bytes: sent, status = original.statusCode ?? 200 } = this.pass(
						this.withOwnHost(bytes),
					);
					const headersToSend = omit(original.headers, 'content-length', 'transfer-encoding');
					response.writeHead(status, headersToSend).end(sent);
				},
				() => response.destroy(),
			);
		});
		request.pipe(forwarded);
	}

	/** Replaces the host of the service in URLs, so that sockets and recordings use the gateway, too. */
	private withOwnHost(bytes: Buffer): Buffer {
		const own = new URL(this.baseUrl).host;
		return Buffer.from(
			bytes.toString('latin1').replaceAll(new URL(this.service.baseUrl).host, own),
			'latin1',
		);
	}

	private bridge(client: WebSocket, { url = '/' }: IncomingMessage): void {
		const service = new WebSocket(this.service.baseUrl.replace('http', 'ws') + url);
		const early: string[] = [];
		client.on('message', (data: Buffer) => {
			if (service.readyState === WebSocket.OPEN) service.send(data.toString());
			else early.push(data.toString());
		});
		service.on('open', () => early.forEach((text) => service.send(text)));
		service.on('message', (data: Buffer) => {
			const { bytes } = this.pass(data);
			// Sent as text, even if the bytes aren't valid text.
			client.send(bytes, { binary: false });
		});
		service.on('close', (code) => client.close(code === 1005 || code === 1006 ? 1011 : code));
		client.on('close', () => service.terminate());
		for (const socket of [client, service]) socket.on('error', () => socket.terminate());
	}

	private pass(bytes: Buffer): { bytes: Buffer; status?: number | undefined } {
		const { plan } = this;
		if (plan === undefined || this.count++ !== plan.nth) return { bytes };
		return { bytes: isJson(bytes) ? corrupt(bytes, plan.harm) : bytes, status: plan.status };
	}
}

function isJson(bytes: Buffer): boolean {
	try {
		JSON.parse(bytes.toString());
		return true;
	} catch {
		return false;
	}
}
