/**
 * A proxy between n8n and the internet: it simulates a few services and rejects every other host. n8n and the
 * workflows are unchanged.
 */
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import { makeCertificate } from '../../network/certificates';
import { freePort, listen } from '../ports';
import { Gmail } from './gmail';
import { Hubspot } from './hubspot';
import { Salesforce } from './salesforce';
import { Sheets } from './sheets';
import { SignIn } from './signIn';
import { Slack } from './slack';
import { Zoho } from './zoho';

const HOSTS = [
	'oauth2.googleapis.com',
	'sheets.googleapis.com',
	'www.googleapis.com',
	'slack.com',
	'api.hubapi.com',
	'accounts.zoho.com',
	'www.zohoapis.com',
	'login.salesforce.com',
	'example.my.salesforce.com',
];

export const proxySettings = z.object({ port: z.number(), cert: z.string(), key: z.string() });

/** The port of the proxy, and the certificate of its services. */
export type ProxySettings = z.infer<typeof proxySettings>;

/** Call it before n8n starts, because n8n reads the proxy and the trusted certificates from its environment. */
export async function prepareProxy(
	folder: string,
): Promise<{ place: ProxySettings; env: Record<string, string> }> {
	const authority = makeCertificate('Authority of the tests', { isAuthority: true });
	const { cert, key } = makeCertificate('third parties', { hosts: HOSTS, issuer: authority });
	const trusted = join(folder, 'authority.pem');
	writeFileSync(trusted, authority.cert);
	const port = await freePort();
	const proxy = `http://127.0.0.1:${port}`;
	const env = {
		HTTP_PROXY: proxy,
		HTTPS_PROXY: proxy,
		NO_PROXY: '127.0.0.1,localhost',
		NODE_EXTRA_CA_CERTS: trusted,
	};
	return { place: { port, cert, key }, env };
}

export class ThirdParties {
	readonly signIn = new SignIn('/token');
	readonly sheets = new Sheets(this.signIn);
	readonly gmail = new Gmail(this.signIn);
	readonly slack = new Slack();
	readonly hubspot = new Hubspot();
	readonly zoho = new Zoho();
	readonly salesforce = new Salesforce();
	/** Hosts that the proxy rejected. */
	readonly rejected: string[] = [];
	private readonly tunnels = new Set<Duplex>();

	private constructor(
		private readonly services: FastifyInstance,
		private readonly proxy: Server,
	) {}

	static async start({ port, cert, key }: ProxySettings): Promise<ThirdParties> {
		const services = fastify({ https: { cert, key }, forceCloseConnections: true });
		const proxy = createServer();
		const parties = new ThirdParties(services, proxy);
		proxy.on('request', ({ url = '' }, response) => {
			parties.rejected.push(url);
			response.writeHead(502).end();
		});
		await services.register(parties.signIn.routes);
		await services.register(parties.sheets.routes);
		await services.register(parties.gmail.routes);
		await services.register(parties.slack.routes);
		await services.register(parties.hubspot.routes);
		await services.register(parties.zoho.routes);
		await services.register(parties.salesforce.routes);
		await services.listen({ host: '127.0.0.1', port: 0 });
		parties.forwardTo(services.server.address());
		await listen(proxy, port);
		return parties;
	}

	/** Deletes everything that was sent. */
	reset(): void {
		this.sheets.reset();
		this.gmail.mails.length = 0;
		this.slack.messages.length = 0;
		this.hubspot.contacts.clear();
		this.zoho.leads.clear();
		this.salesforce.leads.clear();
	}

	async stop(): Promise<void> {
		for (const client of this.tunnels) client.destroy();
		await new Promise((resolve) => this.proxy.close(resolve));
		await this.services.close();
	}

	private forwardTo(services: AddressInfo | string | null): void {
		if (services === null || typeof services === 'string')
			throw new Error('The server has no port');
		this.proxy.on('connect', ({ url = '' }, client, head) => {
			const host = url.replace(/:443$/, '');
			if (!HOSTS.includes(host)) {
				this.rejected.push(host);
				client.end('HTTP/1.1 502 No such host in the tests\r\n\r\n');
				return;
			}
			this.tunnels.add(client);
			const service = connect(services.port, '127.0.0.1', () => {
				client.write('HTTP/1.1 200 Connection established\r\n\r\n');
				service.write(head);
				service.pipe(client).pipe(service);
			});
			service.on('error', () => client.destroy());
			client.on('error', () => service.destroy());
			client.on('close', () => {
				service.destroy();
				this.tunnels.delete(client);
			});
		});
	}
}
