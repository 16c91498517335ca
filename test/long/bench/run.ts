import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runScript } from '../../n8n/command';
import { externalN8n } from '../../n8n/external';
import { Bench, type Host } from './bench';
import { jobs, measure } from './jobs';
import { HEADER, row, store, type Result, type Targets } from './report';
import { measureSignals, signalJobs, type SignalJob } from './signals';

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '5' },
		jobs: { type: 'string' },
		/** A multiple of the usual size of a job. The figures aren't stored. */
		size: { type: 'string', default: '1' },
		/** A folder for CPU profiles of n8n in each of our rounds. The figures aren't stored. */
		profile: { type: 'string' },
	},
});

async function main(): Promise<void> {
	const { profile } = values;
	const [rounds, size] = [Number(values.rounds), Number(values.size)];
	const work = new Map(Object.entries(jobs(size)));
	const signals = new Map(Object.entries<SignalJob>(signalJobs));
	const known = [...work.keys(), ...signals.keys()];
	const hostOf = (name: string) => work.get(name)?.host ?? signals.get(name)?.host;
	const names = values.jobs?.split(',') ?? known;
	const unknown = names.find((name) => !known.includes(name));
	if (unknown !== undefined)
		throw new Error(`Unknown job ${unknown}. The jobs are ${known.join(', ')}`);
	if (profile !== undefined) mkdirSync(profile, { recursive: true });
	const unmeasured = names.filter(
		(name) => externalN8n !== undefined && hostOf(name) !== undefined,
	);
	if (unmeasured.length > 0)
		console.log(`Not run with N8N_URL, because they configure n8n: ${unmeasured.join(', ')}`);
	const shared = await Bench.start();
	const on = async <T>(host: Host | undefined, act: (bench: Bench) => Promise<T>): Promise<T> => {
		if (host === undefined) return await act(shared);
		const own = await Bench.start(host);
		return await act(own).finally(async () => await own.stop());
	};
	const done = async (name: string, result: Result, target: Targets) => {
		const text = row(name, result, target);
		console.log(text);
		if (profile === undefined && size === 1 && externalN8n === undefined) await store(name, text);
	};
	console.log(HEADER);
	try {
		for (const name of names.filter((one) => !unmeasured.includes(one))) {
			const job = work.get(name);
			if (job !== undefined) {
				const act = async (bench: Bench) => await measure(bench, name, job, { rounds, profile });
				await done(name, await on(job.host, act), job.target);
			}
			const signal = signals.get(name);
			if (signal !== undefined) {
				const act = async (bench: Bench) => await measureSignals(bench, name, signal, rounds);
				await done(name, await on(signal.host, act), signal.target);
			}
		}
	} finally {
		await shared.stop();
	}
}

runScript(main);
