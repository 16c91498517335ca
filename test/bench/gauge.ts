import { z } from 'zod';
import { Inspector } from '../n8n/inspector';
import { resetPeakMemory, memoryMb } from '../n8n/footprint';

const pauses = z.array(z.object({ from: z.number(), to: z.number() }));
const stalls = z.array(z.object({ from: z.number(), to: z.number(), cpuMs: z.number() }));
const used = z.object({ heapUsed: z.number(), external: z.number() });
const cpu = z.object({ user: z.number(), system: z.number() });

/** From and to are epoch milliseconds. */
export type Pause = z.infer<typeof pauses>[number];
/** `cpuMs`: the CPU time of n8n's main thread, which doesn't count the time in which other processes used its core. */
export type Stall = z.infer<typeof stalls>[number];

const TICK_MS = 5;

/** Runs in n8n: records each stall of the event loop, and each garbage collection. */
const WATCH_EVENT_LOOP = `
	globalThis.benchStalls = [];
	globalThis.benchCollections = [];
	const { PerformanceObserver } = process.getBuiltinModule('perf_hooks');
	globalThis.benchObserver = new PerformanceObserver((list) => {
		for (const { startTime, duration } of list.getEntries()) {
			const from = performance.timeOrigin + startTime;
			globalThis.benchCollections.push({ from, to: from + duration });
		}
	});
	globalThis.benchObserver.observe({ entryTypes: ['gc'] });
	const now = () => performance.timeOrigin + performance.now();
	const used = () => {
		const { user, system } = process.threadCpuUsage();
		return (user + system) / 1000;
	};
	let [last, lastUsed] = [now(), used()];
	setInterval(() => {
		const late = now() - last - ${TICK_MS};
		const cpuMs = used() - lastUsed;
		const from = last + ${TICK_MS};
		if (late > 5) globalThis.benchStalls.push({ from, to: from + late, cpuMs });
		[last, lastUsed] = [now(), used()];
	}, ${TICK_MS}).unref();
	0`;

/** Measures a running n8n: memory, stalls of its event loop, and CPU time. */
export class Gauge {
	private constructor(
		readonly inspector: Inspector,
		private readonly pid: number,
	) {}

	/** @param port the port of its inspector */
	static async attach(port: number, pid: number): Promise<Gauge> {
		const inspector = await Inspector.attach(port);
		await inspector.evaluate(WATCH_EVENT_LOOP);
		return new Gauge(inspector, pid);
	}

	/** Collects garbage and resets the measurements. Returns the memory usage in MB. */
	async settle(): Promise<number> {
		await this.inspector.collectGarbage();
		resetPeakMemory(this.pid);
		await this.inspector.evaluate('benchStalls.length = benchCollections.length = 0');
		return memoryMb(this.pid, 'VmRSS');
	}

	/** The kernel's high-water mark since `settle`. */
	peakMb(): number {
		return memoryMb(this.pid, 'VmHWM');
	}

	async stalls(): Promise<Stall[]> {
		return stalls.parse(await this.inspector.evaluate('benchStalls'));
	}

	/** Garbage collections, which are part of the stalls. */
	async collections(): Promise<Pause[]> {
		return pauses.parse(await this.inspector.evaluate('benchCollections'));
	}

	/** How long n8n needs to collect the garbage of its whole heap in one go. */
	async fullCollectionMs(): Promise<number> {
		await this.settle();
		await this.inspector.collectGarbage();
		return Math.max(0, ...(await this.collections()).map(({ from, to }) => to - from));
	}

	/** CPU time of n8n since its start, which depends less on other processes than elapsed time. */
	async cpuMs(): Promise<number> {
		const { user, system } = cpu.parse(await this.inspector.evaluate('process.cpuUsage()'));
		return (user + system) / 1000;
	}

	/** Memory of live objects in bytes, including buffers. */
	async liveBytes(): Promise<number> {
		await this.inspector.collectGarbage();
		const { heapUsed, external } = used.parse(
			await this.inspector.evaluate('process.memoryUsage()'),
		);
		return heapUsed + external;
	}
}
