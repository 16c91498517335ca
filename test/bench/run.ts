import { parseArgs } from 'node:util';
import { measureJobs } from './jobs';
import { report } from './report';

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '5' },
		jobs: { type: 'string', default: 'feed_100k,feed_100k_mapped,feed_100k_step,place_500_calls' },
		rows: { type: 'string', default: '100000' },
	},
});

async function main(): Promise<void> {
	const results = await measureJobs(
		values.jobs.split(','),
		Number(values.rounds),
		Number(values.rows),
	);
	report(results);
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
