import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { proxySettings, type ProxySettings } from '../n8n/hostProxy';
import type { N8nInstance, N8nServer } from '../n8n/server';

const variable = 'E2E_SERVERS';
const shared = z.array(
	z.object({
		baseUrl: z.string(),
		home: z.string(),
		log: z.string(),
		files: z.string(),
		host: z.string(),
		thirdParties: proxySettings,
		browserUrl: z.string().optional(),
	}),
);

/** A running n8n, its installation folder, where it reaches third parties, and a browser for it if there is one. */
export interface SharedServer {
	server: N8nServer;
	host: string;
	thirdParties: ProxySettings;
	browser?: Browser;
	browserUrl?: string | undefined;
}

const servers: SharedServer[] = [];

/** Passes the server to the test files of the next worker through the environment, because each has its own globals. */
export function publish(started: SharedServer): void {
	servers.push(started);
	const all = servers.map(({ server: { baseUrl, home, log, files }, browser, ...rest }) => ({
		...{ baseUrl, home, log, files },
		...rest,
	}));
	process.env[variable] = JSON.stringify(all);
}

export function published(): SharedServer[] {
	return servers;
}

/** The n8n that all test files of this worker share. */
export function sharedN8n(): N8nInstance & Omit<SharedServer, 'server' | 'browser'> {
	const all = shared.parse(JSON.parse(process.env[variable] ?? '[]'));
	const own = all[Number(process.env.JEST_WORKER_ID) - 1];
	if (own === undefined) throw new Error('no n8n was started for this worker');
	return own;
}
