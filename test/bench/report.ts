import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** Maximum values: as fractions of the other sides, or absolute if there is no other side. `kb` is per idle socket. */
export type Targets = { core?: number; bare?: number; ms?: number; peakMb?: number; kb?: number };

export type Result = {
	/** Medians, or the 99th percentile for events. */
	ours_ms: number;
	core_ms: number | null;
	bare_ms: number | null;
	ours_over_core: number | null;
	ours_over_bare: number | null;
	/** Medians of events. */
	ours_p50_ms?: number;
	core_p50_ms?: number;
	bare_p50_ms?: number | null;
	/** Memory of one idle socket. */
	ours_kb?: number;
	bare_kb?: number;
	/** CPU time of n8n in the whole execution, or per event. */
	ours_cpu_ms?: number | null;
	core_cpu_ms?: number | null;
	/** Memory above the usage before. */
	ours_peak_rss_mb: number | null;
	core_peak_rss_mb: number | null;
	/** Longest stall of the event loop. */
	stall_ms: number | null;
	core_stall_ms: number | null;
	max_connections: number | null;
};

export type Measured = { result: Result; target: Targets };

const MAX_STALL_MS = 50;

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

/** The line of a job in the table: figures, targets, and whether they are met. */
export function line(name: string, { result, target }: Measured): string {
	const { ours_peak_rss_mb: ourPeak, core_peak_rss_mb: corePeak, stall_ms: stall } = result;
	return [
		name.padEnd(22),
		`ours ${withTarget(result.ours_ms, target.ms)} · core ${orDash(result.core_ms)} · bare ${orDash(result.bare_ms)} ms`,
		`/core ${withTarget(result.ours_over_core, target.core)}`,
		`/bare ${withTarget(result.ours_over_bare, target.bare)}`,
		...(result.ours_cpu_ms === undefined
			? []
			: [`CPU ${orDash(result.ours_cpu_ms)} (core ${orDash(result.core_cpu_ms)}) ms`]),
		`peak ${withTarget(ourPeak, target.peakMb ?? corePeak ?? undefined)} MB`,
		`stall ${withTarget(stall, MAX_STALL_MS)} ms (core ${orDash(result.core_stall_ms)})`,
		...(result.ours_kb === undefined
			? []
			: [
					`idle socket ${withTarget(result.ours_kb, target.kb)} (bare ${orDash(result.bare_kb)}) kB`,
				]),
		...(result.ours_p50_ms === undefined
			? []
			: [
					`p50 ${result.ours_p50_ms} · ${orDash(result.core_p50_ms)} · ${orDash(result.bare_p50_ms)}`,
				]),
	].join(' | ');
}

const orDash = (value: number | null | undefined) => (value ?? '–').toString();

function withTarget(value: number | null, max: number | undefined): string {
	if (value === null || max === undefined) return orDash(value);
	return `${value} (${value <= max ? 'met' : 'MISSED'}: ≤ ${max})`;
}

const file = join(__dirname, 'results.json');
const stored = z.record(z.string(), z.unknown());

/** Writes the figures of the jobs that ran. Other figures stay. */
export function store(results: { [job: string]: Result }): void {
	const known = existsSync(file) ? stored.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
	writeFileSync(file, `${JSON.stringify({ ...known, ...results }, null, '\t')}\n`);
}
