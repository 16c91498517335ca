/** The jobs that are measured from start to end: one entry per job, with both workflows and the arguments of the bare script. */
import { fixtures } from '../../simulator';
import type { Bench, Host, Sample } from './bench';
import { sidesOf, type Result, type Targets } from './report';
import type { ServiceData } from './simulatorProcess';
import { chain, webhook, type WorkflowJson } from '../../n8n/workflow';
import {
	CONCURRENCY,
	chatSend,
	coreCalls,
	corePush,
	coreGets,
	coreLookUps,
	corePages,
	dndCheck,
	getCalls,
	getMany,
	getUnreached,
	limitedCalls,
	mapColumns,
	placeCalls,
	push,
	read,
	readCsv,
	skippingPush,
	type Flow,
	type Target,
} from './workflows';

export type Job = {
	ours: (target: Target, file: string) => Flow;
	core?: (target: Target, file: string) => Flow;
	/** Arguments of the bare script. `<file>` is the file with the rows. */
	bare?: string[];
	/** What is compared: the whole execution, or only the nodes that differ. */
	timed: 'whole' | 'step';
	/** Rows in the file. */
	rows?: number;
	/** Additional data at the service. */
	serviceData?: ServiceData;
	/** Fewer rounds for a workflow of core nodes that takes minutes. */
	coreRounds?: number;
	target: Targets;
	/** Settings for a separate n8n for this job. */
	host?: Host;
};

const ourPush: Job['ours'] = (target, file) => ({
	nodes: [...readCsv(file), push(target, { options: { output: 'summary' } })],
});
/** With the default output, one item per row. */
const ourRowPush: Job['ours'] = (target, file) => ({ nodes: [...readCsv(file), push(target)] });
/** Our node reads the file, so no other node creates items from its rows. */
const ourFilePush: Job['ours'] = (target, file) => ({
	nodes: [read(file), push(target, { contactsFrom: 'csv' })],
});
const core = (target: Target, file: string) => corePush(file, target);

/** @param size a multiple of the usual size */
export function jobs(size = 1): { [name: string]: Job } {
	const of = (count: number) => count * size;
	return {
		feed_10k: { rows: of(10_000), ours: ourPush, core, timed: 'whole', target: { core: 0.5 } },
		feed_100k: { rows: of(100_000), ours: ourPush, core, timed: 'whole', target: { core: 0.35 } },
		feed_100k_file: {
			rows: of(100_000),
			ours: ourFilePush,
			core,
			timed: 'whole',
			target: { core: 0.2 },
		},
		feed_1m_file: {
			rows: of(1_000_000),
			ours: ourFilePush,
			timed: 'whole',
			host: { heapMb: 1_024 },
			target: { ms: 6_000, peakMb: 400 },
		},
		feed_100k_step: {
			rows: of(100_000),
			ours: ourPush,
			core,
			bare: ['feedStep', '<file>'],
			timed: 'step',
			target: { core: 0.17, bare: 1.2 },
		},
		feed_100k_rows: {
			rows: of(100_000),
			ours: ourRowPush,
			core,
			timed: 'step',
			target: { core: 0.3 },
		},
		feed_100k_mapped: {
			rows: of(100_000),
			ours: ourPush,
			core: (target, file) => corePush(file, target, mapColumns()),
			coreRounds: 1,
			timed: 'whole',
			target: { core: 0.01 },
		},
		get_1000_calls: {
			serviceData: { calls: of(1_000) },
			ours: getCalls(of(1_000)),
			core: coreGets(of(1_000)),
			bare: ['gets', String(of(1_000)), String(CONCURRENCY)],
			timed: 'step',
			target: { core: 0.4, bare: 1.5 },
		},
		get_many_10k: {
			serviceData: { calls: of(10_000) },
			ours: getMany(),
			core: corePages('/v1/calls'),
			bare: ['pages', '/v1/calls?'],
			timed: 'step',
			target: { core: 0.8, bare: 1.2 },
		},
		latest_of_100k: {
			serviceData: { calls: of(100_000) },
			ours: getUnreached,
			timed: 'step',
			target: { peakMb: 300 },
		},
		dnd_check_1000: {
			ours: dndCheck(of(1_000)),
			core: coreLookUps(of(1_000)),
			bare: ['pages', `/v1/dnd_numbers?agent_uuid=${fixtures.agents.full}&`],
			timed: 'step',
			target: { core: 0.1 },
		},
		place_500_calls: {
			ours: placeCalls(of(500)),
			core: coreCalls(of(500)),
			bare: ['calls', String(of(500)), String(CONCURRENCY)],
			timed: 'step',
			target: { core: 0.3, bare: 1.3 },
		},
		limit_1000_of_20000: {
			ours: limitedCalls(of(20_000), of(1_000), true),
			core: limitedCalls(of(20_000), of(1_000), false),
			timed: 'step',
			target: { core: 1.1 },
		},
		// n8n stores two texts for each of at most 250,000 numbers.
		skip_10k_of_500k: {
			ours: skippingPush(of(240_000), of(10_000), true),
			core: skippingPush(of(240_000), of(10_000), false),
			timed: 'step',
			target: {},
		},
		chat_send_500: {
			serviceData: { sessions: 20 },
			ours: chatSend(of(500), 20),
			bare: ['chat', String(of(500)), '20'],
			timed: 'step',
			target: { bare: 1.5 },
		},
	};
}

type Rounds = { ours: Sample[]; core: Sample[]; bare: number[] };

/** Runs ours, core, and bare in turn, so that a slow minute of the machine affects all of them. */
export async function measure(
	bench: Bench,
	name: string,
	job: Job,
	{ rounds, profile }: { rounds: number; profile?: string | undefined },
): Promise<Result> {
	const file = job.rows === undefined ? '' : await bench.contacts(job.rows);
	const ours = await bench.prepare(workflow(`ours-${name}`, job.ours(bench.target, file)));
	const flow = job.core?.(bench.target, file);
	const theirs = flow && (await bench.prepare(workflow(`core-${name}`, flow)));
	const taken: Rounds = { ours: [], core: [], bare: [] };
	const { coreRounds = rounds + 1 } = job;
	// With several rounds, the first one only warms up.
	for (let round = 0; round <= rounds; round++) {
		await bench.resetService(job.serviceData);
		taken.ours.push(await ours(profile && `${profile}/${name}-${round}.cpuprofile`));
		if (theirs !== undefined && round < coreRounds) {
			await bench.resetService(job.serviceData);
			taken.core.push(await theirs());
		}
		if (job.bare !== undefined) {
			await bench.resetService(job.serviceData);
			taken.bare.push(
				...(await bench.bare(job.bare.map((arg) => (arg === '<file>' ? file : arg)))),
			);
		}
	}
	return summary(warm(taken), job);
}

function warm({ ours, core, bare }: Rounds): Rounds {
	const later = <T>(all: T[]) => (all.length > 1 ? all.slice(1) : all);
	return { ours: later(ours), core: later(core), bare: later(bare) };
}

function summary({ ours, core, bare }: Rounds, { timed }: Job): Result {
	const medians = (of: (sample: Sample) => number, script: number[] = []) =>
		sidesOf({ ours: ours.map(of), core: core.map(of), bare: script });
	return {
		ms: medians(({ wallMs, stepMs }) => (timed === 'whole' ? wallMs : stepMs), bare),
		cpuMs: medians(({ cpuMs }) => cpuMs),
		peakMb: medians(({ peakMb }) => peakMb),
		stallMs: medians(({ stallMs }) => stallMs),
	};
}

function workflow(name: string, { nodes, loop = [] }: Flow): WorkflowJson {
	const made = chain(name, webhook(name), ...nodes);
	const [first] = loop;
	if (first === undefined) return made;
	const round = chain(name, ...loop);
	const to = (node: string) => [{ node, type: 'main' as const, index: 0 }];
	return {
		name,
		nodes: [...made.nodes, ...loop],
		connections: {
			...made.connections,
			...round.connections,
			// The first output is for the end, the second for each batch.
			Loop: { main: [to('Done'), to(first.name)] },
			[loop.at(-1)?.name ?? '']: { main: [to('Loop')] },
		},
	};
}
