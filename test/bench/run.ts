import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Bench } from './bench';
import { jobs, measure } from './jobs';
import { line, store, type Measured, type Result } from './report';

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '5' },
		jobs: { type: 'string' },
		/** A folder for a CPU profile of n8n in each round of ours. */
		profile: { type: 'string' },
	},
});

async function main(): Promise<void> {
	const table = new Map(Object.entries(jobs()));
	const names = values.jobs?.split(',') ?? [...table.keys()];
	if (values.profile !== undefined) mkdirSync(values.profile, { recursive: true });
	const bench = await Bench.start();
	const results: { [job: string]: Result } = {};
	try {
		for (const name of names) {
			const job = table.get(name);
			if (job === undefined)
				throw new Error(`There is no job ${name}: ${[...table.keys()].join()}`);
			const how = { rounds: Number(values.rounds), profile: values.profile };
			const measured: Measured = {
				result: await measure(bench, name, job, how),
				target: job.target,
			};
			results[name] = measured.result;
			console.log(line(name, measured));
		}
	} finally {
		await bench.stop();
	}
	if (values.profile === undefined) store(results);
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
