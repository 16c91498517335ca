import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Result, Results } from './jobs';

const file = join(__dirname, 'results.json');
const stored = z.record(z.string(), z.unknown());

type Target = { core: number | null; bare: number | null };

/** Ratios to reach; a job without a limit script has no second one. */
const TARGETS: { [job: string]: Target } = {
	feed_100k: { core: 0.5, bare: null },
	feed_100k_mapped: { core: 0.03, bare: null },
	feed_100k_step: { core: 0.25, bare: 1.6 },
	place_500_calls: { core: 0.5, bare: 1.8 },
};

/** Prints the table and writes the figures of the jobs that ran. */
export function report(results: Results): void {
	console.table(
		Object.fromEntries(Object.entries(results).map(([job, result]) => [job, row(job, result)])),
	);
	const known = existsSync(file) ? stored.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
	writeFileSync(file, `${JSON.stringify({ ...known, ...results }, null, '\t')}\n`);
}

function row(job: string, result: Result): { [column: string]: string | number } {
	const target = TARGETS[job] ?? { core: null, bare: null };
	return {
		'ours ms': result.ours_ms,
		'core ms': result.core_ms ?? '–',
		'bare ms': result.bare_ms ?? '–',
		'ours/core': judged(result.ours_over_core, target.core),
		'ours/bare': judged(result.ours_over_bare, target.bare),
		'RSS ours/core MB': `${result.ours_peak_rss_mb} / ${result.core_peak_rss_mb}`,
		'stall ours/core ms': `${result.stall_ms} / ${result.core_stall_ms}`,
		connections: result.max_connections,
	};
}

function judged(value: number | null, target: number | null): string {
	if (value === null) return '–';
	if (target === null) return String(value);
	return `${value} (${value <= target ? 'within' : 'over'} ${target})`;
}
