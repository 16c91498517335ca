import { z } from 'zod';
import type { N8nInstance, N8nServer } from '../n8n/server';
import { proxySettings, type ProxySettings } from '../n8n/thirdParties';

const variable = 'E2E_SERVER';
const shared = z.object({
	baseUrl: z.string(),
	home: z.string(),
	log: z.string(),
	files: z.string(),
	host: z.string(),
	thirdParties: proxySettings,
});

let server: N8nServer | undefined;

/** Passes the server to test files through the environment, because each has its own globals. */
export function publish(started: N8nServer, host: string, thirdParties: ProxySettings): void {
	server = started;
	const { baseUrl, home, log, files } = started;
	process.env[variable] = JSON.stringify({ baseUrl, home, log, files, host, thirdParties });
}

export function published(): N8nServer | undefined {
	return server;
}

/** The n8n that all test files of the run share, and its installation folder. */
export function sharedN8n(): N8nInstance & { host: string; thirdParties: ProxySettings } {
	return shared.parse(JSON.parse(process.env[variable] ?? 'null'));
}
