/**
 * A proxy between n8n and the internet: it leads some hosts to a server of this process and rejects every other host.
 * n8n and the workflows are unchanged.
 */
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { makeCertificate } from '../network/certificates';
import { freePort, listen, serviceHost } from './ports';

export const proxySettings = z.object({ port: z.number(), cert: z.string(), key: z.string() });

/** The port of the proxy, and the certificate of the hosts. */
export type ProxySettings = z.infer<typeof proxySettings>;

/** Call it before n8n starts, because n8n reads the proxy and the trusted certificates from its environment. */
export async function prepareProxy(
	folder: string,
	hosts: string[],
): Promise<{ place: ProxySettings; env: Record<string, string> }> {
	const authority = makeCertificate('Authority of the tests', { isAuthority: true });
	const { cert, key } = makeCertificate('third parties', { hosts, issuer: authority });
	const trusted = join(folder, 'authority.pem');
	writeFileSync(trusted, authority.cert);
	const port = await freePort();
	const proxy = `http://${serviceHost}:${port}`;
	const env = {
		HTTP_PROXY: proxy,
		HTTPS_PROXY: proxy,
		NO_PROXY: `127.0.0.1,localhost,${serviceHost}`,
		NODE_EXTRA_CA_CERTS: trusted,
	};
	return { place: { port, cert, key }, env };
}

export class HostProxy {
	/** Hosts that the proxy rejected. */
	readonly rejected: string[] = [];
	private readonly tunnels = new Set<Duplex>();
	private readonly server: Server;
	private servicePort = 0;

	constructor(hosts: string[]) {
		this.server = createServer(({ url = '' }, response) => {
			this.rejected.push(url);
			response.writeHead(502).end();
		});
		this.server.on('connect', ({ url = '' }, client, head) => {
			// Clients close connections without saying goodbye.
			client.on('error', () => client.destroy());
			const host = url.replace(/:443$/, '');
			if (hosts.includes(host)) this.lead(client, head);
			else {
				this.rejected.push(host);
				client.end('HTTP/1.1 502 No such host in the tests\r\n\r\n');
			}
		});
	}

	/** @param servicePort the port of the server for the hosts */
	async start(port: number, servicePort: number): Promise<void> {
		this.servicePort = servicePort;
		await listen(this.server, port, serviceHost);
	}

	async stop(): Promise<void> {
		for (const client of this.tunnels) client.destroy();
		await new Promise((resolve) => this.server.close(resolve));
	}

	private lead(client: Duplex, head: Buffer): void {
		this.tunnels.add(client);
		const service = connect(this.servicePort, '127.0.0.1', () => {
			client.write('HTTP/1.1 200 Connection established\r\n\r\n');
			service.write(head);
			service.pipe(client).pipe(service);
		});
		service.on('error', () => client.destroy());
		client.once('close', () => {
			service.destroy();
			this.tunnels.delete(client);
		});
	}
}
