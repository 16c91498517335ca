import { z } from 'zod';
import { proxySettings } from '../n8n/hostProxy';
import type { RunningN8n } from '../n8n/server';

const variable = 'E2E_SERVERS';
const folderSchema = z.object({
	home: z.string(),
	log: z.string(),
	/** The only folder from which workflows may read files. */
	files: z.string(),
	thirdParties: proxySettings,
});
const shared = z.array(
	z.object({
		baseUrl: z.string(),
		folder: folderSchema.optional(),
	}),
);

/** The folder of an n8n, and where it reaches third parties. */
export type N8nFolder = z.infer<typeof folderSchema>;
type SharedN8n = z.infer<typeof shared>[number];

export interface SharedServer extends Pick<SharedN8n, 'folder'> {
	server: RunningN8n;
}

const servers: SharedServer[] = [];

/** Passes the server to the test files of the next worker through the environment, because each has its own globals. */
export function publish(started: SharedServer): void {
	servers.push(started);
	const all = servers.map(({ server: { baseUrl }, folder }): SharedN8n => ({ baseUrl, folder }));
	process.env[variable] = JSON.stringify(all);
}

export function published(): SharedServer[] {
	return servers;
}

/** The n8n that all test files of this worker share. */
export function sharedN8n(): SharedN8n {
	const all = shared.parse(JSON.parse(process.env[variable] ?? '[]'));
	const own = all[Number(process.env.JEST_WORKER_ID) - 1];
	if (own === undefined) throw new Error('no n8n was started for this worker');
	return own;
}
