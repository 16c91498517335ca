import { z } from 'zod';
import { Inspector } from '../../n8n/inspector';
import { resetPeakMemory, memoryMb } from '../../n8n/footprint';

const stalls = z.array(z.object({ from: z.number(), to: z.number() }));

/** From and to are epoch milliseconds. */
type Stall = z.infer<typeof stalls>[number];

const TICK_MS = 5;

/** Runs in n8n: records each stall of the event loop. */
const WATCH_EVENT_LOOP = `
	globalThis.benchStalls = [];
	const now = () => performance.timeOrigin + performance.now();
	let last = now();
	setInterval(() => {
		const from = last + ${TICK_MS};
		last = now();
		if (last - from > 5) globalThis.benchStalls.push({ from, to: last });
	}, ${TICK_MS}).unref();
	0`;

/** Measures a running n8n: memory, stalls of its event loop, and CPU time. */
export class Gauge {
	private constructor(
		readonly inspector: Inspector,
		private readonly pid: number,
	) {}

	/** @param port the port of its inspector */
	static async attach(port: number): Promise<Gauge> {
		const inspector = await Inspector.attach(port);
		await inspector.evaluate(WATCH_EVENT_LOOP);
		return new Gauge(inspector, Number(await inspector.evaluate('process.pid')));
	}

	/** Collects garbage and resets the measurements. Returns the memory usage in MB. */
	async settle(): Promise<number> {
		await this.inspector.collectGarbage();
		resetPeakMemory(this.pid);
		await this.inspector.evaluate('benchStalls.length = 0');
		return memoryMb(this.pid, 'VmRSS');
	}

	/** The kernel's high-water mark since `settle`. */
	peakMb(): number {
		return memoryMb(this.pid, 'VmHWM');
	}

	async stalls(): Promise<Stall[]> {
		return stalls.parse(await this.inspector.evaluate('benchStalls'));
	}

	/** CPU time of n8n since its start. */
	async cpuMs(): Promise<number> {
		return await this.inspector.cpuMs();
	}
}
