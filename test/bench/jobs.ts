import { Bench, type Sample } from './bench';
import { median } from './process';
import { coreCalls, coreFeed, mapColumns, ourCalls, ourFeed, readOnly } from './workflows';

const CALLS = 500;
const CONCURRENCY = 50;
const STEP = { ours: ['Push'], core: ['Loop', 'Aggregate', 'HTTP'] };

export type Result = {
	ours_ms: number;
	core_ms: number | null;
	bare_ms: number | null;
	ours_over_core: number | null;
	ours_over_bare: number | null;
	/** Above the same workflow that only reads the file; 0 where the job has no file. */
	ours_peak_rss_mb: number;
	core_peak_rss_mb: number;
	/** Longest stall of the event loop during our step. */
	stall_ms: number;
	core_stall_ms: number;
	max_connections: number;
};

export type Results = { [job: string]: Result };

type Rounds = { ours: Sample[]; core: Sample[]; bare: number[] };

const stepMs = ({ nodeMs }: Sample, nodes: string[]) =>
	nodes.reduce((sum, name) => sum + (nodeMs.get(name) ?? 0), 0);

export async function measureJobs(jobs: string[], rounds: number, rows: number): Promise<Results> {
	const results: Results = {};
	const bench = await Bench.start(rows);
	try {
		if (jobs.includes('feed_100k') || jobs.includes('feed_100k_step')) {
			const plain = await feedRounds(bench, rounds, false);
			const memory = await feedMemory(rows, Math.min(rounds, 3));
			results.feed_100k = {
				...summary(
					plain,
					({ wallMs }) => wallMs,
					({ wallMs }) => wallMs,
				),
				...memory,
				bare_ms: null,
				ours_over_bare: null,
			};
			results.feed_100k_step = {
				...summary(
					plain,
					(sample) => stepMs(sample, STEP.ours),
					(sample) => stepMs(sample, STEP.core),
				),
				...memory,
			};
		}
		if (jobs.includes('feed_100k_mapped')) {
			const mapped = await feedRounds(bench, rounds, true);
			results.feed_100k_mapped = {
				...summary(
					mapped,
					({ wallMs }) => wallMs,
					({ wallMs }) => wallMs,
				),
				bare_ms: null,
				ours_over_bare: null,
			};
		}
		if (jobs.includes('place_500_calls')) {
			const calls = await callRounds(bench, rounds);
			results.place_500_calls = summary(
				calls,
				(sample) => stepMs(sample, ['Place']),
				(sample) => stepMs(sample, ['HTTP']),
			);
		}
	} finally {
		await bench.stop();
	}
	return results;
}

/** Medians of both sides and the ratios between them. */
function summary(
	{ ours, core, bare }: Rounds,
	oursMs: (sample: Sample) => number,
	coreMs: (sample: Sample) => number,
): Result {
	const mine = median(ours.map(oursMs));
	const theirs = median(core.map(coreMs));
	const limit = bare.length > 0 ? median(bare) : null;
	return {
		ours_ms: Math.round(mine),
		core_ms: Math.round(theirs),
		bare_ms: limit === null ? null : Math.round(limit),
		ours_over_core: ratio(mine, theirs),
		ours_over_bare: limit === null ? null : ratio(mine, limit),
		ours_peak_rss_mb: Math.round(median(ours.map(({ peakRssMb }) => peakRssMb))),
		core_peak_rss_mb: Math.round(median(core.map(({ peakRssMb }) => peakRssMb))),
		stall_ms: Math.round(median(ours.map((sample) => sample.stallMs([...STEP.ours, 'Place'])))),
		core_stall_ms: Math.round(median(core.map((sample) => sample.stallMs(STEP.core)))),
		max_connections: Math.max(...ours.map(({ maxConnections }) => maxConnections)),
	};
}

const ratio = (a: number, b: number) => Math.round((a / b) * 1000) / 1000;

/** Ours, core and bare in turn, so that a slow minute of the machine hits all of them. */
async function interleave(
	rounds: number,
	ours: () => Promise<Sample>,
	core: () => Promise<Sample>,
	bare?: () => Promise<number>,
): Promise<Rounds> {
	const taken: Rounds = { ours: [], core: [], bare: [] };
	// The first round only warms up.
	for (let round = 0; round <= rounds; round++) {
		const sample = { ours: await ours(), core: await core(), bare: await bare?.() };
		if (round === 0) continue;
		taken.ours.push(sample.ours);
		taken.core.push(sample.core);
		if (sample.bare !== undefined) taken.bare.push(sample.bare);
		console.log(
			`round ${round}: ours ${Math.round(sample.ours.wallMs)} ms, core ${Math.round(sample.core.wallMs)} ms`,
		);
	}
	return taken;
}

async function feedRounds(bench: Bench, rounds: number, mapped: boolean): Promise<Rounds> {
	const { file, target } = bench;
	const name = mapped ? 'mapped' : 'plain';
	const mapping = mapped ? [mapColumns()] : [];
	const ours = await bench.prepare(ourFeed(`ours-${name}`, file, target));
	const core = await bench.prepare(coreFeed(`core-${name}`, file, target, mapping));
	const bare = mapped ? undefined : async () => await bench.bare('feed', file);
	return await interleave(rounds, ours, core, bare);
}

async function callRounds(bench: Bench, rounds: number): Promise<Rounds> {
	const ours = await bench.prepare(ourCalls('ours-calls', CALLS, bench.target));
	const core = await bench.prepare(coreCalls('core-calls', CALLS, bench.target));
	const bare = async () => await bench.bare('calls', String(CALLS), String(CONCURRENCY));
	return await interleave(rounds, ours, core, bare);
}

/** Peak memory of a fresh n8n above that of one which only reads the file. */
async function feedMemory(
	rows: number,
	rounds: number,
): Promise<Pick<Result, 'ours_peak_rss_mb' | 'core_peak_rss_mb'>> {
	const peaks: Record<'read' | 'ours' | 'core', number[]> = { read: [], ours: [], core: [] };
	for (let round = 0; round < rounds; round++) {
		for (const side of ['read', 'ours', 'core'] as const) {
			const bench = await Bench.start(rows);
			try {
				const { file, target } = bench;
				const workflow = {
					read: () => readOnly('read', file),
					ours: () => ourFeed('ours', file, target),
					core: () => coreFeed('core', file, target),
				}[side]();
				peaks[side].push((await (await bench.prepare(workflow))()).peakRssMb);
			} finally {
				await bench.stop();
			}
		}
	}
	const read = median(peaks.read);
	return {
		ours_peak_rss_mb: Math.round(median(peaks.ours) - read),
		core_peak_rss_mb: Math.round(median(peaks.core) - read),
	};
}
