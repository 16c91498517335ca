import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** What is to be reached at most: as parts of what the others take, or by itself where no other can do it; `kb` for each idle socket. */
export type Targets = { core?: number; bare?: number; ms?: number; peakMb?: number; kb?: number };

export type Result = {
	/** Medians; of events the 99th percentile. */
	ours_ms: number;
	core_ms: number | null;
	bare_ms: number | null;
	ours_over_core: number | null;
	ours_over_bare: number | null;
	/** Medians of events. */
	ours_p50_ms?: number;
	core_p50_ms?: number;
	bare_p50_ms?: number | null;
	/** What one idle socket takes. */
	ours_kb?: number;
	bare_kb?: number;
	/** What n8n's HTTP helper takes for the same requests. */
	least_ms?: number | null;
	/** What n8n's process computed in the whole execution; of events for each. */
	ours_cpu_ms?: number | null;
	core_cpu_ms?: number | null;
	/** Above what n8n held before. */
	ours_peak_rss_mb: number | null;
	core_peak_rss_mb: number | null;
	/** Longest stall of the event loop meanwhile. */
	stall_ms: number | null;
	core_stall_ms: number | null;
	max_connections: number | null;
};

export type Measured = { result: Result; target: Targets };

const LONGEST_STALL_MS = 50;

export function median(values: number[]): number {
	return quantile(values, 0.5);
}

export function quantile(values: number[], part: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export function ratio(a: number, b: number | null): number | null {
	return b === null ? null : Math.round((a / b) * 1000) / 1000;
}

/** Prints a job's line of the table: figures, targets and whether they are met. */
export function line(name: string, { result, target }: Measured): string {
	const { ours_peak_rss_mb: ourPeak, core_peak_rss_mb: corePeak, stall_ms: stall } = result;
	return [
		name.padEnd(22),
		`ours ${judged(result.ours_ms, target.ms)} · core ${shown(result.core_ms)} · bare ${shown(result.bare_ms)} ms`,
		`/core ${judged(result.ours_over_core, target.core)}`,
		`/bare ${judged(result.ours_over_bare, target.bare)}`,
		...(result.least_ms === undefined ? [] : [`helper alone ${shown(result.least_ms)} ms`]),
		...(result.ours_cpu_ms === undefined
			? []
			: [`CPU ${shown(result.ours_cpu_ms)} (core ${shown(result.core_cpu_ms)}) ms`]),
		`peak ${judged(ourPeak, target.peakMb ?? corePeak ?? undefined)} MB`,
		`stall ${judged(stall, LONGEST_STALL_MS)} ms (core ${shown(result.core_stall_ms)})`,
		...(result.ours_kb === undefined
			? []
			: [`idle socket ${judged(result.ours_kb, target.kb)} (bare ${shown(result.bare_kb)}) kB`]),
		...(result.ours_p50_ms === undefined
			? []
			: [
					`p50 ${result.ours_p50_ms} · ${shown(result.core_p50_ms)} · ${shown(result.bare_p50_ms)}`,
				]),
	].join(' | ');
}

const shown = (value: number | null | undefined) => (value ?? '–').toString();

function judged(value: number | null, most: number | undefined): string {
	if (value === null || most === undefined) return shown(value);
	return `${value} (${value <= most ? 'met' : 'MISSED'}: ≤ ${most})`;
}

const file = join(__dirname, 'results.json');
const stored = z.record(z.string(), z.unknown());

/** Writes the figures of the jobs that ran; those of others stay. */
export function store(results: { [job: string]: Result }): void {
	const known = existsSync(file) ? stored.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
	writeFileSync(file, `${JSON.stringify({ ...known, ...results }, null, '\t')}\n`);
}
