/** What a running n8n holds, as the system and its own inspector see it. */
import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { N8nServer } from '../n8n/server';

/** The heap is that after a garbage collection. */
export const MEASURES = [
	'rss_mb',
	'heap_mb',
	'sockets',
	'fds',
	'threads',
	'timers',
	'database_mb',
] as const;

export type Measure = (typeof MEASURES)[number];
export type Vitals = Record<Measure, number>;

const MB = 1_048_576;

const target = z.array(z.object({ webSocketDebuggerUrl: z.string() }));
const reply = z.object({
	id: z.number(),
	result: z.object({ result: z.object({ value: z.string().optional() }).optional() }),
});
const inside = z.object({ heap: z.number(), timers: z.number() });

const LOOK = `JSON.stringify({
	heap: process.memoryUsage().heapUsed,
	timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
})`;

/** Looks at one n8n that was started with `--inspect`. */
export class Examiner {
	private readonly answers = new Map<number, (value: string | undefined) => void>();
	private asked = 0;

	private constructor(
		private readonly server: N8nServer,
		private readonly socket: WebSocket,
	) {
		socket.on('message', (data: Buffer) => {
			const message = reply.safeParse(JSON.parse(data.toString()));
			if (!message.success) return;
			const { id, result } = message.data;
			this.answers.get(id)?.(result.result?.value);
			this.answers.delete(id);
		});
	}

	static async of(server: N8nServer, inspectorPort: number): Promise<Examiner> {
		const response = await fetch(`http://127.0.0.1:${inspectorPort}/json/list`);
		const [first] = target.parse(await response.json());
		const socket = new WebSocket(first?.webSocketDebuggerUrl ?? '');
		await new Promise((resolve, reject) => {
			socket.once('open', resolve);
			socket.once('error', reject);
		});
		return new Examiner(server, socket);
	}

	async look(): Promise<Vitals> {
		const { pid, home } = this.server;
		await this.ask('HeapProfiler.collectGarbage');
		const expression = { expression: LOOK, returnByValue: true };
		const { heap, timers } = inside.parse(
			JSON.parse((await this.ask('Runtime.evaluate', expression)) ?? ''),
		);
		const status = readFileSync(`/proc/${pid}/status`, 'utf8');
		const links = openFiles(pid);
		return {
			rss_mb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024,
			heap_mb: heap / MB,
			sockets: links.filter((link) => link.startsWith('socket:')).length,
			fds: links.length,
			threads: Number(/Threads:\s+(\d+)/.exec(status)?.[1]),
			timers,
			database_mb: databaseBytes(home) / MB,
		};
	}

	close(): void {
		this.socket.close();
	}

	private async ask(method: string, params: object = {}): Promise<string | undefined> {
		const id = ++this.asked;
		const answer = new Promise<string | undefined>((resolve) => this.answers.set(id, resolve));
		this.socket.send(JSON.stringify({ id, method, params }));
		return await answer;
	}
}

function openFiles(pid: number): string[] {
	const folder = `/proc/${pid}/fd`;
	return readdirSync(folder).map((name) => {
		try {
			return readlinkSync(join(folder, name));
		} catch {
			return 'closed meanwhile';
		}
	});
}

/** The file and its log, which the database works into the file from time to time. */
function databaseBytes(home: string): number {
	const folder = join(home, '.n8n');
	return readdirSync(folder)
		.filter((name) => name.startsWith('database.sqlite'))
		.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
