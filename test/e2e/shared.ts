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

/** Jest gives each test file its own globals, so only text reaches them, by the environment. */
export function publish(started: N8nServer, host: string, thirdParties: ProxySettings): void {
	server = started;
	const { baseUrl, home, log, files } = started;
	process.env[variable] = JSON.stringify({ baseUrl, home, log, files, host, thirdParties });
}

export function published(): N8nServer | undefined {
	return server;
}

/** The n8n that all test files of this run share, and the folder it is installed in. */
export function sharedN8n(): N8nInstance & { host: string; thirdParties: ProxySettings } {
	return shared.parse(JSON.parse(process.env[variable] ?? 'null'));
}
