/** How fast n8n responds to its health page, once a second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../bench/report';

const EVERY_MS = 1_000;

/** A request that takes longer counts with this time. */
const TIMEOUT_MS = 60_000;

export class Responsiveness {
	private readonly times = new Map<string, number[]>();
	private phase = '';
	private hasEnded = false;
	private readonly probing: Promise<void>;

	constructor(private readonly baseUrl: string) {
		this.probing = this.probe();
	}

	/** The requests from now on belong to this phase. */
	begin(phase: string): void {
		this.phase = phase;
		this.times.set(phase, []);
	}

	async end(): Promise<void> {
		this.hasEnded = true;
		await this.probing;
	}

	/** In milliseconds, by phase. */
	get figures() {
		return Object.fromEntries(
			[...this.times].map(([phase, times]) => [
				phase,
				{
					requests: times.length,
					p50_ms: Math.round(quantile(times, 0.5)),
					p99_ms: Math.round(quantile(times, 0.99)),
					longest_ms: Math.round(quantile(times, 1)),
				},
			]),
		);
	}

	private async probe(): Promise<void> {
		while (!this.hasEnded) {
			const startedAt = performance.now();
			const signal = AbortSignal.timeout(TIMEOUT_MS);
			await fetch(`${this.baseUrl}/healthz/readiness`, { signal }).catch(() => undefined);
			const ms = performance.now() - startedAt;
			this.times.get(this.phase)?.push(ms);
			await sleep(Math.max(0, EVERY_MS - ms));
		}
	}
}
