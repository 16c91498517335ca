/**
 * `npm run long -- sizes`: runs our jobs at 1, 4, and 16 times a size, to measure the time per unit and the memory. With
 * `--heap`, also finds the largest push that an n8n with a small heap can do. Writes growth.json and the picture in docs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { runScript } from '../n8n/command';
import { projectFolder } from '../n8n/package-install';
import { Bench } from './bench';
import { jobs, type JobName, workflow } from './jobs';
import { manyItems, measureManyItems } from './manyItems';
import { plot } from './plot';
import { activate, signalJobs } from './signals';
import { push, read } from './workflows';

/** The jobs, and the smallest size as a fraction of the usual size. */
const INITIAL_SIZE: Partial<Record<JobName, number>> = {
	feed_100k: 0.625,
	feed_100k_file: 0.625,
	get_1000_calls: 1,
	get_many_10k: 0.25,
	dnd_5000: 0.25,
	dnd_check_1000: 1,
	place_500_calls: 1,
	place_500_calls_nine: 1,
	chat_send_500: 1,
};
/** Signals at the pace of the benchmark. The result is the CPU time per signal. */
const SIGNALS = [
	['events_10k', 250],
	['completions_1000', 125],
] as const;
const TIMES = [1, 4, 16];
const SMALL_HEAP_MB = 1024;
/** Numbers that n8n remembers, up to the maximum less one morning. */
const REMEMBERED = [10_000, 100_000, 250_000, 489_000];
const MORNING_ROWS = 10_000;
/** Rows of the largest files, in millions. */
const MILLIONS = [1, 5, 10];
const ROW_COUNTS = [100_000, 200_000, 300_000, 400_000, 600_000, 800_000, 1_000_000, 1_500_000];

const step = z.object({
	units: z.number(),
	us_per_unit: z.number(),
	peak_mb: z.number(),
	/** Longest stall of the event loop. */
	stall_ms: z.number().optional(),
	/** Most CPU time of n8n's main thread in a stall. */
	stall_cpu_ms: z.number().optional(),
	/** Longest garbage collection, which is part of a stall. */
	collection_ms: z.number().optional(),
});
const growth = z.object({
	many_items: manyItems,
	steps: z.record(z.string(), z.array(step)),
	/** Rows of the largest push that succeeds. */
	heap_1024_mb: z.record(z.string(), z.number()),
	/** Pushes of large CSV files with a heap of 1 GB. */
	large_files: z.array(step),
	/** A collection of all garbage of the same n8n before these pushes. */
	idle_collection_ms: z.number().optional(),
	/** A push of 10,000 new rows with *Skip Numbers Pushed Before*, by the numbers that n8n remembers. */
	pushed_before: z.array(
		z.object({
			remembered: z.number(),
			ms: z.number(),
			/** The same push without the option. */
			plain_ms: z.number(),
			peak_mb: z.number(),
			stall_ms: z.number(),
		}),
	),
});
export type Growth = z.infer<typeof growth>;
type Step = z.infer<typeof step>;

const file = join(__dirname, 'growth.json');
const picture = join(projectFolder, 'docs', 'images', 'growth.svg');

async function run(bench: Bench, name: JobName, side: 'ours' | 'core', size: number) {
	const job = jobs(size)[name];
	const flow = (side === 'core' && 'core' in job ? job.core : job.ours)(
		bench.target,
		'rows' in job ? await bench.contacts(job.rows) : '',
	);
	const measured = await bench.prepare(workflow(`${name}-${side}-${size}-${Date.now()}`, flow));
	await bench.resetService('serviceData' in job ? job.serviceData : {});
	const { stepMs, wallMs, ...figures } = await measured();
	return { units: job.units, ms: job.timed === 'whole' ? wallMs : stepMs, ...figures };
}

async function measureGrowth(bench: Bench, name: JobName, beginning: number): Promise<Step[]> {
	return await measureSizes(
		name,
		async (times) => await run(bench, name, 'ours', beginning * times),
	);
}

async function measureSignalGrowth(
	bench: Bench,
	name: (typeof SIGNALS)[number][0],
	beginning: number,
): Promise<Step[]> {
	const { sockets, everyMs, ours } = signalJobs[name];
	await bench.resetService({ calls: beginning * Math.max(...TIMES), sessions: 2 * sockets });
	const trigger = await activate(bench, name, ours(bench));
	return await measureSizes(name, async (times) => {
		const units = beginning * times;
		const { cpuMs, peakMb } = await trigger.run(units, everyMs);
		return { units, ms: cpuMs * units, peakMb };
	});
}

/** A push of up to 10,000,000 rows. */
async function measureLargeFiles(): Promise<Pick<Growth, 'large_files' | 'idle_collection_ms'>> {
	const bench = await Bench.start({ heapMb: SMALL_HEAP_MB });
	const push = async (size: number) => await run(bench, 'feed_1m_file', 'ours', size);
	try {
		const idleMs = await bench.gauge.fullCollectionMs();
		const large_files = await measureSizes('large_files', push, MILLIONS);
		return { large_files, idle_collection_ms: Math.round(idleMs) };
	} finally {
		await bench.stop();
	}
}

/** A push of new rows every morning, until n8n remembers the maximum. */
async function measurePushedBefore(): Promise<Growth['pushed_before']> {
	const bench = await Bench.start({ heapMb: SMALL_HEAP_MB });
	const file = join(bench.target.files, 'morning.csv');
	const prepare = async (name: string, options: INodeParameters) => {
		const ours = push(bench.target, { contactsFrom: 'csv', options });
		return await bench.prepare(workflow(name, { nodes: [read(file), ours] }));
	};
	const figures: Growth['pushed_before'] = [];
	try {
		await bench.resetService();
		const remember = await prepare('remember', { skipPushedBefore: true });
		const plain = await prepare('plain', {});
		let remembered = 0;
		for (const wanted of REMEMBERED) {
			await copyFile(await bench.contacts(wanted - remembered, remembered), file);
			await remember();
			await copyFile(await bench.contacts(MORNING_ROWS, wanted), file);
			const { wallMs: plainMs } = await plain();
			const { wallMs, peakMb, stallMs } = await remember();
			remembered = wanted + MORNING_ROWS;
			const figure = {
				remembered: wanted,
				ms: Math.round(wallMs),
				plain_ms: Math.round(plainMs),
				peak_mb: Math.round(peakMb),
				stall_ms: Math.round(stallMs),
			};
			console.log(figure);
			figures.push(figure);
		}
	} finally {
		await bench.stop();
	}
	return figures;
}

type Run = {
	units: number;
	ms: number;
	peakMb: number;
	stallMs?: number;
	stallCpuMs?: number;
	collectionMs?: number;
};

async function measureSizes(
	name: string,
	run: (times: number) => Promise<Run>,
	sizes = TIMES,
): Promise<Step[]> {
	// Once to warm up.
	await run(1);
	const steps: Step[] = [];
	for (const times of sizes) {
		const { units, ms, peakMb, stallMs, stallCpuMs, collectionMs } = await run(times);
		const us = Math.round((ms / units) * 1000);
		const step = { units, us_per_unit: us, peak_mb: Math.max(0, Math.round(peakMb)) };
		steps.push({
			...step,
			...(stallMs !== undefined && { stall_ms: Math.round(stallMs) }),
			...(stallCpuMs !== undefined && { stall_cpu_ms: Math.round(stallCpuMs) }),
			...(collectionMs !== undefined && { collection_ms: Math.round(collectionMs) }),
		});
		const part = (us / (steps[0]?.us_per_unit ?? us)).toFixed(2);
		console.log(`${name}: ${units} → ${us} µs a unit (${part} of 1×), ${Math.round(peakMb)} MB`);
	}
	return steps;
}

/** Rows of the largest push that succeeds with a small heap, each in its own n8n. */
async function largestPush(name: JobName, side: 'ours' | 'core'): Promise<number> {
	let largest = 0;
	for (const rows of ROW_COUNTS) {
		const bench = await Bench.start({ heapMb: SMALL_HEAP_MB });
		try {
			await run(bench, name, side, rows / 100_000);
			largest = rows;
		} catch (error) {
			console.log(`${side}: a push of ${rows} rows fails: ${String(error).slice(0, 200)}`);
			break;
		} finally {
			await bench.stop();
		}
		console.log(`${side}: a push of ${rows} rows succeeds`);
	}
	return largest;
}

const { values } = parseArgs({
	options: {
		jobs: { type: 'string' },
		heap: { type: 'boolean', default: false },
		action: { type: 'string', default: '' },
	},
});

async function main(): Promise<void> {
	const result = growth.parse(JSON.parse(readFileSync(file, 'utf8')));
	const isWanted = (name: string) => values.jobs?.split(',').includes(name) ?? true;
	const measure = async (name: string, act: (bench: Bench) => Promise<Step[]>) => {
		if (!isWanted(name)) return;
		const bench = await Bench.start();
		result.steps[name] = await act(bench).finally(async () => await bench.stop());
		store(result);
	};
	for (const [name, beginning] of Object.entries(INITIAL_SIZE)) {
		await measure(
			name,
			async (bench) => await measureGrowth(bench, jobName.parse(name), beginning),
		);
	}
	for (const [name, beginning] of SIGNALS)
		await measure(name, async (bench) => await measureSignalGrowth(bench, name, beginning));
	if (isWanted('large_files')) {
		Object.assign(result, await measureLargeFiles());
		store(result);
	}
	if (isWanted('pushed_before')) {
		result.pushed_before = await measurePushedBefore();
		store(result);
	}
	if (isWanted('many_items')) {
		const isAction = (name: string) => new RegExp(values.action, 'i').test(name);
		await measureManyItems(isAction, (figures) => {
			Object.assign(result.many_items, figures);
			store(result);
		});
	}
	if (values.heap) {
		result.heap_1024_mb = {
			core: await largestPush('feed_100k', 'core'),
			ours: await largestPush('feed_100k', 'ours'),
			ours_file: await largestPush('feed_100k_file', 'ours'),
		};
		store(result);
	}
}

function store(result: Growth): void {
	writeFileSync(file, `${JSON.stringify(result, null, '\t')}\n`);
	writeFileSync(picture, plot(result));
}

const jobName = z.custom<JobName>((name) => typeof name === 'string' && name in jobs());

runScript(main);
