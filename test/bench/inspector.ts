import { writeFileSync } from 'node:fs';
import WebSocket from 'ws';
import { z } from 'zod';
import { forgetPeak, memoryMb } from '../n8n/processMemory';
import { until } from '../n8n/until';

const target = z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]).rest(z.unknown());
const answer = z.object({ id: z.number(), result: z.unknown(), error: z.unknown().optional() });
const evaluated = z.object({ result: z.object({ value: z.unknown() }) });
const stalls = z.array(z.object({ from: z.number(), to: z.number() }));
const used = z.object({ heapUsed: z.number(), external: z.number() });
const cpu = z.object({ user: z.number(), system: z.number() });
const profiled = z.object({ profile: z.unknown() });

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

/** Looks into a running n8n by the inspector of Node.js: memory, stalls of its event loop, CPU profiles. */
export class Inspector {
	private readonly waiting = new Map<number, (value: unknown) => void>();
	private requests = 0;

	private constructor(
		private readonly socket: WebSocket,
		readonly pid: number,
	) {
		socket.on('message', (data: Buffer) => {
			const { id, result } = answer.parse(JSON.parse(data.toString()));
			this.waiting.get(id)?.(result);
			this.waiting.delete(id);
		});
	}

	/** @param port what n8n was started with: `NODE_OPTIONS=--inspect=127.0.0.1:<port>` */
	static async attach(port: number, pid: number): Promise<Inspector> {
		const [{ webSocketDebuggerUrl }] = await until('the inspector', async () =>
			target.parse(await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()),
		);
		const socket = new WebSocket(webSocketDebuggerUrl, { perMessageDeflate: false });
		await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
		const inspector = new Inspector(socket, pid);
		await inspector.evaluate(WATCH);
		return inspector;
	}

	detach(): void {
		this.socket.terminate();
	}

	/** Starts anew from what n8n cannot give back; gives the memory that it then holds, in MB. */
	async settle(): Promise<number> {
		await this.send('HeapProfiler.collectGarbage');
		forgetPeak(this.pid);
		await this.evaluate('globalThis.benchStalls.length = 0');
		return memoryMb(this.pid, 'VmRSS');
	}

	/** The kernel's high-water mark since `settle`. */
	peakMb(): number {
		return memoryMb(this.pid, 'VmHWM');
	}

	async stalls(): Promise<Stall[]> {
		return stalls.parse(await this.evaluate('globalThis.benchStalls'));
	}

	/** What n8n's process has computed since its start; other processes of the machine matter less to it than to a clock. */
	async cpuMs(): Promise<number> {
		const { user, system } = cpu.parse(await this.evaluate('process.cpuUsage()'));
		return (user + system) / 1000;
	}

	/** Bytes that live objects hold, buffers included. */
	async liveBytes(): Promise<number> {
		await this.send('HeapProfiler.collectGarbage');
		const { heapUsed, external } = used.parse(await this.evaluate('process.memoryUsage()'));
		return heapUsed + external;
	}

	/** Writes a CPU profile of what happens meanwhile. */
	async profile<T>(file: string, act: () => Promise<T>): Promise<T> {
		await this.send('Profiler.enable');
		await this.send('Profiler.setSamplingInterval', { interval: 200 });
		await this.send('Profiler.start');
		const result = await act();
		const { profile } = profiled.parse(await this.send('Profiler.stop'));
		writeFileSync(file, JSON.stringify(profile));
		return result;
	}

	private async evaluate(expression: string): Promise<unknown> {
		const result = await this.send('Runtime.evaluate', { expression, returnByValue: true });
		return evaluated.parse(result).result.value;
	}

	private async send(method: string, params: object = {}): Promise<unknown> {
		const id = ++this.requests;
		return await new Promise((resolve) => {
			this.waiting.set(id, resolve);
			this.socket.send(JSON.stringify({ id, method, params }));
		});
	}
}
