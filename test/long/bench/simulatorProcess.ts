/** The simulator in its own process, so that its CPU time isn't that of the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { z } from 'zod';
import { credentialFor } from '../../contract/credentialFor';
import { projectFolder } from '../../n8n/package-install';
import { freePort, serviceHost } from '../../n8n/ports';
import { until } from '../../n8n/until';
import { dialects } from '../../simulator';

const open = z.object({ open: z.number() });

const TOKEN = 'benchmark-token-';

export const tsx = ['--import', 'tsx'];

/** Additional data at the service. */
export type ServiceData = { calls?: number; sessions?: number };

export class SimulatorProcess {
	readonly token = TOKEN;

	private constructor(
		readonly baseUrl: string,
		private readonly child: ChildProcess,
	) {}

	static async start(latencyMs: number): Promise<SimulatorProcess> {
		const port = await freePort();
		const cli = [
			'test/simulator/cli.ts',
			'--port',
			String(port),
			'--host',
			serviceHost,
			'--token',
			TOKEN,
		];
		const child = spawn(process.execPath, [...tsx, ...cli, '--latency', String(latencyMs)], {
			cwd: projectFolder,
			stdio: 'ignore',
		});
		const end = () => child.kill('SIGTERM');
		process.once('exit', end);
		child.once('exit', () => process.off('exit', end));
		const baseUrl = `http://${serviceHost}:${port}`;
		await until('the simulator', async () => (await fetch(`${baseUrl}/__simulator/stats`)).ok);
		return new SimulatorProcess(baseUrl, child);
	}

	/** The fields of this package's credential. */
	get credential() {
		return credentialFor({ baseUrl: this.baseUrl, token: TOKEN, dialect: dialects.plain });
	}

	/** Resets the service and adds data. */
	async reset(data: ServiceData = {}): Promise<void> {
		await this.command('reset', {});
		await this.command('fill', data);
	}

	async command(name: string, body: object): Promise<unknown> {
		const response = await fetch(`${this.baseUrl}/__simulator/${name}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
		return z.object({ result: z.unknown() }).parse(await response.json()).result;
	}

	/** Waits until this many sockets are open. */
	async connected(sockets: number): Promise<void> {
		const isOpen = async () => open.parse(await this.command('sockets', {})).open >= sockets;
		await until(`${sockets} sockets`, isOpen, { timeout: 120_000 });
	}

	stop(): void {
		this.child.kill('SIGTERM');
	}
}
