/** The resources of a running n8n, from the operating system and from its inspector. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Inspector } from '../n8n/inspector';
import { databaseMb, memoryMb } from '../n8n/footprint';
import type { N8nServer } from '../n8n/server';

/** The heap is measured after a garbage collection. */
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

const inside = z.object({ heap: z.number(), timers: z.number() });

const READ_MEMORY = `({
	heap: process.memoryUsage().heapUsed,
	timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
})`;

/** Reads the resources of an n8n that was started with `--inspect`. */
export class VitalsReader {
	private constructor(
		private readonly server: N8nServer,
		private readonly inspector: Inspector,
	) {}

	static async of(server: N8nServer, inspectorPort: number): Promise<VitalsReader> {
		return new VitalsReader(server, await Inspector.attach(inspectorPort));
	}

	async read(): Promise<Vitals> {
		const { pid, home } = this.server;
		await this.inspector.collectGarbage();
		const { heap, timers } = inside.parse(await this.inspector.evaluate(READ_MEMORY));
		const status = readFileSync(`/proc/${pid}/status`, 'utf8');
		const links = openFiles(pid);
		return {
			rss_mb: memoryMb(pid, 'VmRSS'),
			heap_mb: heap / MB,
			sockets: links.filter((link) => link.startsWith('socket:')).length,
			fds: links.length,
			threads: Number(/Threads:\s+(\d+)/.exec(status)?.[1]),
			timers,
			database_mb: databaseMb(home),
		};
	}

	close(): void {
		this.inspector.detach();
	}
}

function openFiles(pid: number): string[] {
	const folder = `/proc/${pid}/fd`;
	return readdirSync(folder).map((name) => {
		try {
			return readlinkSync(join(folder, name));
		} catch {
			return 'closed';
		}
	});
}
