import { z } from 'zod';
import { Inspector } from '../n8n/inspector';
import { resetPeakMemory, memoryMb } from '../n8n/footprint';

const stalls = z.array(z.object({ from: z.number(), to: z.number() }));
const used = z.object({ heapUsed: z.number(), external: z.number() });
const cpu = z.object({ user: z.number(), system: z.number() });

export type Stall = z.infer<typeof stalls>[number];

const TICK_MS = 5;

/** Inside n8n: keeps each time between two ticks, in epoch milliseconds, in which the event loop stood still. */
const WATCH = `
	globalThis.benchStalls = [];
	const now = () => performance.timeOrigin + performance.now();
	let last = now();
	setInterval(() => {
		const late = now() - last - ${TICK_MS};
		if (late > 5) globalThis.benchStalls.push({ from: last + ${TICK_MS}, to: last + ${TICK_MS} + late });
		last = now();
	}, ${TICK_MS}).unref();
	0`;

/** What a running n8n takes: memory, stalls of its event loop, time of the CPU. */
export class Gauge {
	private constructor(
		readonly inspector: Inspector,
		private readonly pid: number,
	) {}

	/** @param port that of its inspector */
	static async attach(port: number, pid: number): Promise<Gauge> {
		const inspector = await Inspector.attach(port);
		await inspector.evaluate(WATCH);
		return new Gauge(inspector, pid);
	}

	/** Starts anew from what n8n cannot give back; gives the memory that it then holds, in MB. */
	async settle(): Promise<number> {
		await this.inspector.collectGarbage();
		resetPeakMemory(this.pid);
		await this.inspector.evaluate('globalThis.benchStalls.length = 0');
		return memoryMb(this.pid, 'VmRSS');
	}

	/** The kernel's high-water mark since `settle`. */
	peakMb(): number {
		return memoryMb(this.pid, 'VmHWM');
	}

	async stalls(): Promise<Stall[]> {
		return stalls.parse(await this.inspector.evaluate('globalThis.benchStalls'));
	}

	/** What n8n's process has computed since its start; other processes of the machine matter less to it than to a clock. */
	async cpuMs(): Promise<number> {
		const { user, system } = cpu.parse(await this.inspector.evaluate('process.cpuUsage()'));
		return (user + system) / 1000;
	}

	/** Bytes that live objects hold, buffers included. */
	async liveBytes(): Promise<number> {
		await this.inspector.collectGarbage();
		const { heapUsed, external } = used.parse(
			await this.inspector.evaluate('process.memoryUsage()'),
		);
		return heapUsed + external;
	}
}
