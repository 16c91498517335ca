import { installHost } from '../n8n/host';
import { newHome, removeHome } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { Postgres } from '../n8n/postgres';
import { N8nServer } from '../n8n/server';
import type { WorkflowJson } from '../n8n/workflow';

/** The workflow setting. n8n's editor doesn't show it. */
export function onEngine2(workflow: WorkflowJson): WorkflowJson {
	return { ...workflow, settings: { ...workflow.settings, engineType: 'v2' } };
}

/** An n8n with Engine 2.0 and the packed package, and PostgreSQL for its executions. */
export class Engine2 {
	private constructor(
		readonly server: N8nServer,
		private readonly postgres: Postgres,
	) {}

	/** @param isOnPostgres whether n8n's own database is also PostgreSQL, not SQLite */
	static async start(isOnPostgres = false): Promise<Engine2> {
		const host = await installHost(console.log);
		const home = await newHome();
		const postgres = await Postgres.start(home);
		const env = {
			N8N_ENABLED_MODULES: 'engine-v2',
			N8N_ENGINE_DATABASE_URL: postgres.createDatabase('engine'),
			N8N_ENGINE_HOST: '127.0.0.1',
			N8N_ENGINE_PORT: String(await freePort()),
			N8N_ENGINE_CONTROL_PLANE_PORT: String(await freePort()),
			...(isOnPostgres && postgres.environment),
		};
		return new Engine2(await N8nServer.start({ host, home, env }), postgres);
	}

	async stop(): Promise<void> {
		await this.server.stop();
		await this.postgres.stop();
		await removeHome(this.server.home);
	}
}
