/**
 * Makes a local registry reachable under the name of npm's public one. n8n accepts another registry only with a license
 * (N8N_COMMUNITY_PACKAGES_REGISTRY), so here n8n and npm keep their defaults, and a proxy decides where they lead.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { makeCertificate } from '../network/certificates';
import { listen } from '../n8n/ports';

export class PublicName {
	/** Other hosts that n8n and npm asked for. They aren't reached. */
	readonly rejected = new Set<string>();
	private readonly tunnels = new Set<Duplex>();

	private constructor(
		/** The environment of a process with npm's defaults, which reaches only the local registry. */
		readonly env: Record<string, string>,
		private readonly servers: Server[],
	) {}

	static async start(folder: string, registry: string): Promise<PublicName> {
		mkdirSync(folder, { recursive: true });
		const defaults = npmDefaults(folder);
		const { hostname } = new URL(defaultRegistry(folder, defaults));
		const authority = makeCertificate('Authority of the rehearsal', { isAuthority: true });
		const trusted = join(folder, 'authority.pem');
		writeFileSync(trusted, authority.cert);
		const { cert, key } = makeCertificate('registry', { hosts: [hostname], issuer: authority });
		const tls = createTlsServer({ cert, key }, forwardTo(registry));
		const entrance = createServer((_request, response) => response.writeHead(502).end());
		const tlsPort = await listen(tls);
		const proxy = `http://127.0.0.1:${await listen(entrance)}`;
		const env = {
			...defaults,
			HTTP_PROXY: proxy,
			HTTPS_PROXY: proxy,
			NO_PROXY: '127.0.0.1,localhost',
			NODE_EXTRA_CA_CERTS: trusted,
		};
		const name = new PublicName(env, [tls, entrance]);
		entrance.on('connect', ({ url = '' }, client, head) => {
			name.connect(url === `${hostname}:443` ? tlsPort : undefined, { url, client, head });
		});
		return name;
	}

	async stop(): Promise<void> {
		for (const tunnel of this.tunnels) tunnel.destroy();
		await Promise.all(
			this.servers.map(async (server) => await new Promise((resolve) => server.close(resolve))),
		);
	}

	private connect(
		port: number | undefined,
		{ url, client, head }: { url: string; client: Duplex; head: Buffer },
	): void {
		this.tunnels.add(client);
		// npm closes connections without saying goodbye.
		client.on('error', () => client.destroy());
		if (port === undefined) {
			this.rejected.add(url);
			client.end('HTTP/1.1 502 No such host in the rehearsal\r\n\r\n');
			return;
		}
		const service = connect(port, '127.0.0.1', () => {
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

/** Passes requests on. The registry builds its download URLs from the headers. */
function forwardTo(registry: string): RequestListener {
	return (incoming, outgoing) => {
		const { method, url = '', headers } = incoming;
		const passed = request(
			registry + url,
			{ method, headers: { ...headers, 'x-forwarded-proto': 'https' } },
			(response) => {
				outgoing.writeHead(response.statusCode ?? 502, response.headers);
				response.pipe(outgoing);
			},
		);
		passed.on('error', () => outgoing.destroy());
		incoming.pipe(passed);
	};
}

/** Hides the npm settings of this machine and of `npm run`. npm ignores empty variables. */
function npmDefaults(folder: string): Record<string, string> {
	const inherited = Object.keys(process.env).filter((name) => /^npm_config_/i.test(name));
	const files = {
		userconfig: join(folder, 'user.npmrc'),
		globalconfig: join(folder, 'global.npmrc'),
	};
	for (const file of Object.values(files)) writeFileSync(file, '');
	return {
		...Object.fromEntries(inherited.map((name) => [name, ''])),
		npm_config_userconfig: files.userconfig,
		npm_config_globalconfig: files.globalconfig,
		npm_config_cache: join(folder, 'cache'),
	};
}

function defaultRegistry(cwd: string, env: Record<string, string>): string {
	const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8' } as const;
	return execFileSync('npm', ['config', 'get', 'registry'], options).trim();
}
