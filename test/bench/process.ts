import { readFileSync, writeFileSync } from 'node:fs';

const MB = 1024;

/** The kernel's high-water mark of a process's memory, in MB. */
export function peakRssMb(pid: number): number {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / MB;
}

/** Starts the high-water mark anew from what the process holds now. */
export function resetPeak(pid: number): void {
	writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export type Probe = { at: number; ms: number };

/** Asks the server every few milliseconds how it is: the longest wait is its longest stall. */
export class StallProbe {
	readonly samples: Probe[] = [];
	private running = true;
	private readonly loop: Promise<void>;

	constructor(baseUrl: string) {
		this.loop = this.run(`${baseUrl}/healthz`);
	}

	async stop(): Promise<void> {
		this.running = false;
		await this.loop;
	}

	/** The longest stall that touches the span, in ms. */
	longest(from: number, to: number): number {
		const touching = this.samples.filter(({ at, ms }) => at + ms >= from && at <= to);
		return Math.max(0, ...touching.map(({ ms }) => ms));
	}

	private async run(url: string): Promise<void> {
		while (this.running) {
			const at = Date.now();
			const started = performance.now();
			// A server that stands still for minutes may drop the line; how long that took counts all the same.
			await fetch(url).then(
				async (response) => await response.text(),
				() => undefined,
			);
			this.samples.push({ at, ms: performance.now() - started });
			await new Promise((resolve) => setTimeout(resolve, 10));
		}
	}
}
