/**
 * Makes a local registry reachable under the name of npm's public one. n8n accepts another registry only with a license
 * (N8N_COMMUNITY_PACKAGES_REGISTRY), so here n8n and npm keep their defaults, and a proxy decides where they lead.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request, type RequestListener, type Server } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { HostProxy, prepareProxy } from '../n8n/hostProxy';
import { listen } from '../n8n/ports';

export class PublicName {
	private constructor(
		/** The environment of a process with npm's defaults, which reaches only the local registry. */
		readonly env: Record<string, string>,
		private readonly service: Server,
		private readonly proxy: HostProxy,
	) {}

	static async start(folder: string, registry: string): Promise<PublicName> {
		mkdirSync(folder, { recursive: true });
		const defaults = npmDefaults(folder);
		const hosts = [new URL(defaultRegistry(folder, defaults)).hostname];
		const { place, env } = await prepareProxy(folder, hosts);
		const { port, cert, key } = place;
		const service = createServer({ cert, key }, forwardTo(registry));
		const proxy = new HostProxy(hosts);
		await proxy.start(port, await listen(service));
		return new PublicName({ ...defaults, ...env }, service, proxy);
	}

	async stop(): Promise<void> {
		await this.proxy.stop();
		await new Promise((resolve) => this.service.close(resolve));
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
