/**
 * A local npm registry under the name of npm's public one. n8n accepts another registry only with a license
 * (N8N_COMMUNITY_PACKAGES_REGISTRY), so here n8n and npm keep their defaults, and a proxy decides where they lead.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import omit from 'lodash/omit';
import { z } from 'zod';
import { HostProxy, prepareProxy } from '../../n8n/hostProxy';

const named = z.object({ name: z.string(), file: z.string().default('') });
/** What `npm publish` sends: a new version, with its tarball. */
const release = z
	.object({
		versions: z.record(z.unknown()),
		'dist-tags': z.record(z.string()),
		_attachments: z.record(z.object({ data: z.string() })),
	})
	.passthrough();

export class NpmRegistry {
	private constructor(
		/** The environment of a process with npm's defaults, which reaches only this registry. */
		readonly env: Record<string, string>,
		private readonly service: FastifyInstance,
		private readonly proxy: HostProxy,
	) {}

	static async start(folder: string): Promise<NpmRegistry> {
		mkdirSync(folder, { recursive: true });
		const defaults = npmDefaults(folder);
		const options = {
			cwd: folder,
			env: { ...process.env, ...defaults },
			encoding: 'utf8',
		} as const;
		const { host } = new URL(execFileSync('npm', ['config', 'get', 'registry'], options));
		writeFileSync(defaults.npm_config_userconfig, `//${host}/:_authToken=of-the-publisher\n`);
		const { place, env } = await prepareProxy(folder, [host]);
		const service = serve(host, place);
		const url = await service.listen({ host: '127.0.0.1', port: 0 });
		const proxy = new HostProxy([host]);
		await proxy.start(place.port, Number(new URL(url).port));
		return new NpmRegistry({ ...defaults, ...env }, service, proxy);
	}

	async stop(): Promise<void> {
		await this.proxy.stop();
		await this.service.close();
	}
}

/** Knows only the package that is published to it. */
function serve(host: string, https: { cert: string; key: string }): FastifyInstance {
	const service = fastify({ https, forceCloseConnections: true, bodyLimit: 50_000_000 });
	const packages = new Map<string, z.infer<typeof release>>();
	service.put('/:name', async ({ params, body }) => {
		const { name } = named.parse(params);
		// npm leaves it to the registry to name the tarball by https.
		const text = JSON.stringify(body).replaceAll(`http://${host}/`, `https://${host}/`);
		const latest = release.parse(JSON.parse(text));
		const { versions, _attachments } = packages.get(name) ?? latest;
		packages.set(name, {
			...latest,
			versions: { ...versions, ...latest.versions },
			_attachments: { ..._attachments, ...latest._attachments },
		});
		return await Promise.resolve({ ok: true });
	});
	service.get('/:name', async ({ params }, reply) => {
		const found = packages.get(named.parse(params).name);
		return await (found ? reply.send(omit(found, '_attachments')) : reply.code(404).send({}));
	});
	service.get('/:name/-/:file', async ({ params }, reply) => {
		const { name, file } = named.parse(params);
		const { data = '' } = packages.get(name)?._attachments[file] ?? {};
		return await reply.type('application/octet-stream').send(Buffer.from(data, 'base64'));
	});
	return service;
}

/** Hides the npm settings of this machine and of `npm run`. npm ignores empty variables. */
function npmDefaults(folder: string) {
	const inherited = Object.keys(process.env).filter((name) => /^npm_config_/i.test(name));
	const files = {
		npm_config_userconfig: join(folder, 'user.npmrc'),
		npm_config_globalconfig: join(folder, 'global.npmrc'),
	};
	for (const file of Object.values(files)) writeFileSync(file, '');
	const hidden = Object.fromEntries(inherited.map((name) => [name, '']));
	return { ...hidden, ...files, npm_config_cache: join(folder, 'cache') };
}
