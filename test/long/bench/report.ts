/** The figures of the jobs, as rows of the table in `results.md`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import compact from 'lodash/compact';
import { format, resolveConfig } from 'prettier';

/** Maximum values: as fractions of the other sides, or absolute if there is no other side. `kb` is per idle socket. */
export type Targets = { core?: number; bare?: number; ms?: number; peakMb?: number; kb?: number };

/** The same figure of our nodes, of n8n's nodes, and of the script. */
export type Sides = { ours: number; core?: number; bare?: number };

export type Result = {
	/** Medians, or the 99th percentile for events. */
	ms: Sides;
	/** Medians of events. */
	p50?: Sides;
	/** CPU time of n8n in the whole execution, or per event. */
	cpuMs: Sides;
	/** Memory above the usage before. */
	peakMb: Sides;
	/** Longest stall of the event loop. */
	stallMs: Sides;
	/** Memory of one idle socket. */
	kb?: Sides;
};

const MAX_STALL_MS = 50;
const RESULTS = join(__dirname, 'results.md');

export const HEADER =
	'| job | of core | of the script | ms | median ms | CPU ms | peak MB | stall ms | socket kB | missed targets |';

export function quantile(values: number[], part: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** The median of each side that has samples, or another quantile. */
export function sidesOf(
	{ ours, core, bare = [] }: { ours: number[]; core: number[]; bare?: number[] },
	part = 0.5,
): Sides {
	const figure = (samples: number[]) => Math.round(quantile(samples, part));
	return {
		ours: figure(ours),
		...(core.length > 0 && { core: figure(core) }),
		...(bare.length > 0 && { bare: figure(bare) }),
	};
}

/** The row of a job: its figures, and the targets that it missed. */
export function row(name: string, result: Result, target: Targets): string {
	const { ms, p50, cpuMs, peakMb, stallMs, kb } = result;
	const partOf = (side?: number) => side && Math.round((ms.ours / side) * 1_000) / 1_000;
	const figures = [ms, p50, cpuMs, peakMb, stallMs, kb].map((sides) =>
		sides === undefined ? '' : [sides.ours, sides.core ?? '–', sides.bare ?? '–'].join(' / '),
	);
	const missed = (what: string, figure?: number, max?: number) =>
		figure !== undefined && max !== undefined && figure > max && `${what} ≤ ${max}`;
	const misses = compact([
		missed('of core', partOf(ms.core), target.core),
		missed('of the script', partOf(ms.bare), target.bare),
		missed('ms', ms.ours, target.ms),
		missed('peak', peakMb.ours, target.peakMb ?? peakMb.core),
		missed('stall', stallMs.ours, MAX_STALL_MS),
		missed('socket', kb?.ours, target.kb),
	]);
	const parts = [partOf(ms.core) ?? '', partOf(ms.bare) ?? ''];
	return `| ${[name, ...parts, ...figures, misses.join(', ')].join(' | ')} |`;
}

/** Stores the row of a job. The rows of other jobs stay. */
export async function store(name: string, text: string): Promise<void> {
	const lines = readFileSync(RESULTS, 'utf8').trimEnd().split('\n');
	const known = lines.findIndex((line) => line.startsWith(`| ${name} `));
	lines.splice(known < 0 ? lines.length : known, 1, text);
	await writeFormatted(RESULTS, lines.join('\n'));
}

export async function writeFormatted(file: string, text: string): Promise<void> {
	writeFileSync(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}
