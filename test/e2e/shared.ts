import { z } from 'zod';
import type { N8nInstance, N8nServer } from '../n8n/server';
import { proxySettings, type ProxySettings } from '../n8n/thirdParties';

const variable = 'E2E_SERVERS';
const shared = z.array(
	z.object({
		baseUrl: z.string(),
		home: z.string(),
		log: z.string(),
		files: z.string(),
		host: z.string(),
		thirdParties: proxySettings,
	}),
);

/** A running n8n, its installation folder, and where it reaches third parties. */
export type SharedServer = { server: N8nServer; host: string; thirdParties: ProxySettings };

const servers: SharedServer[] = [];

/** Passes the server to the test files of the next worker through the environment, because each has its own globals. */
export function publish(started: SharedServer): void {
	servers.push(started);
	const all = servers.map(({ server: { baseUrl, home, log, files }, host, thirdParties }) => ({
		...{ baseUrl, home, log, files },
		host,
		thirdParties,
	}));
	process.env[variable] = JSON.stringify(all);
}

export function published(): N8nServer[] {
	return servers.map(({ server }) => server);
}

/** The n8n that all test files of this worker share, and its installation folder. */
export function sharedN8n(): N8nInstance & { host: string; thirdParties: ProxySettings } {
	const all = shared.parse(JSON.parse(process.env[variable] ?? '[]'));
	const own = all[Number(process.env.JEST_WORKER_ID) - 1];
	if (own === undefined) throw new Error('no n8n was started for this worker');
	return own;
}
