import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runScript } from '../n8n/command';
import { Bench, type Host } from './bench';
import { jobs, measure, type Job } from './jobs';
import { line, store, type Measured } from './report';
import { measureSignals, signalJobs, type SignalJob } from './signals';

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '5' },
		jobs: { type: 'string' },
		/** A folder for CPU profiles of n8n in each of our rounds. */
		profile: { type: 'string' },
	},
});

async function main(): Promise<void> {
	const { rounds, profile } = { rounds: Number(values.rounds), profile: values.profile };
	const work = new Map(Object.entries<Job>(jobs()));
	const signals = new Map(Object.entries<SignalJob>(signalJobs));
	const known = [...work.keys(), ...signals.keys()];
	const names = values.jobs?.split(',') ?? known;
	const unknown = names.find((name) => !known.includes(name));
	if (unknown !== undefined)
		throw new Error(`Unknown job ${unknown}. The jobs are ${known.join(', ')}`);
	if (profile !== undefined) mkdirSync(profile, { recursive: true });
	const shared = await Bench.start();
	const on = async <T>(host: Host | undefined, act: (bench: Bench) => Promise<T>): Promise<T> => {
		if (host === undefined) return await act(shared);
		const own = await Bench.start(host);
		return await act(own).finally(async () => await own.stop());
	};
	const done = (name: string, measured: Measured) => {
		console.log(line(name, measured));
		if (profile === undefined) store({ [name]: measured.result });
	};
	try {
		for (const name of names) {
			const job = work.get(name);
			if (job !== undefined) {
				const act = async (bench: Bench) => await measure(bench, name, job, { rounds, profile });
				done(name, { ...job, result: await on(job.host, act) });
			}
			const signal = signals.get(name);
			if (signal !== undefined) {
				const act = async (bench: Bench) => await measureSignals(bench, name, signal, rounds);
				done(name, { ...signal, result: await on(signal.host, act) });
			}
		}
	} finally {
		await shared.stop();
	}
}

runScript(main);
