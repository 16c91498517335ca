import { writeFileSync } from 'node:fs';
import WebSocket from 'ws';
import { z } from 'zod';
import { until } from './until';

const target = z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]).rest(z.unknown());
const response = z.object({ id: z.number(), result: z.unknown(), error: z.unknown().optional() });
const evaluated = z.object({ result: z.object({ value: z.unknown() }) });
const profiled = z.object({ profile: z.unknown() });
const cpu = z.object({ user: z.number(), system: z.number() });
const used = z.object({ heapUsed: z.number(), external: z.number() });

/** The inspector of a Node.js process that was started with `NODE_OPTIONS=--inspect=127.0.0.1:<port>`. */
export class Inspector {
	private readonly pending = new Map<number, (value: unknown) => void>();
	private requests = 0;

	private constructor(private readonly socket: WebSocket) {
		socket.on('message', (data: Buffer) => {
			const { id, result } = response.parse(JSON.parse(data.toString()));
			this.pending.get(id)?.(result);
			this.pending.delete(id);
		});
	}

	static async attach(port: number): Promise<Inspector> {
		const [{ webSocketDebuggerUrl }] = await until('the inspector', async () =>
			target.parse(await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()),
		);
		const socket = new WebSocket(webSocketDebuggerUrl, { perMessageDeflate: false });
		await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
		return new Inspector(socket);
	}

	detach(): void {
		this.socket.terminate();
	}

	async collectGarbage(): Promise<void> {
		await this.send('HeapProfiler.collectGarbage');
	}

	/** Evaluates an expression in the process. Returns its value as JSON. */
	async evaluate(expression: string): Promise<unknown> {
		const result = await this.send('Runtime.evaluate', { expression, returnByValue: true });
		return evaluated.parse(result).result.value;
	}

	/** CPU time of the process since its start, which depends less on other processes than elapsed time. */
	async cpuMs(): Promise<number> {
		const { user, system } = cpu.parse(await this.evaluate('process.cpuUsage()'));
		return (user + system) / 1_000;
	}

	/** Memory of live objects in bytes, including buffers. */
	async liveBytes(): Promise<number> {
		await this.collectGarbage();
		const { heapUsed, external } = used.parse(await this.evaluate('process.memoryUsage()'));
		return heapUsed + external;
	}

	/** Writes a CPU profile while `act` runs. */
	async profile<T>(file: string, act: () => Promise<T>): Promise<T> {
		await this.send('Profiler.enable');
		await this.send('Profiler.setSamplingInterval', { interval: 200 });
		await this.send('Profiler.start');
		const result = await act();
		const { profile } = profiled.parse(await this.send('Profiler.stop'));
		writeFileSync(file, JSON.stringify(profile));
		return result;
	}

	private async send(method: string, params: object = {}): Promise<unknown> {
		const id = ++this.requests;
		return await new Promise((resolve) => {
			this.pending.set(id, resolve);
			this.socket.send(JSON.stringify({ id, method, params }));
		});
	}
}
