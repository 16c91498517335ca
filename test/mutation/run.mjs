// npm run mutation [-- <area> … --concurrency <n> --files <glob>]: mutates the code and tells which mutants no test
// notices. What has not changed since the last run is answered from reports/mutation. MUTATION_SHARE=0.1 draws a
// tenth of every area, MUTATION_SEED=7 another one than the next run draws without it.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { AREAS, areaNamed, SEED } from './areas.mjs';
import { writeReport } from './report.mjs';

const { positionals, values } = parseArgs({
	allowPositionals: true,
	options: {
		concurrency: { type: 'string', default: '2' },
		force: { type: 'boolean' },
		files: { type: 'string' },
	},
});
const areas = positionals.length > 0 ? positionals.map(areaNamed) : AREAS;
console.log(`Seed of the sample: ${SEED}`);
for (const { name } of areas) {
	console.log(`\n=== ${name}`);
	const args = ['run', 'test/mutation/stryker.config.mjs', '--concurrency', values.concurrency];
	if (values.force) args.push('--force');
	const { status } = spawnSync('stryker', args, {
		stdio: 'inherit',
		env: { ...process.env, MUTATION_AREA: name, MUTATION_FILES: values.files ?? '' },
	});
	if (status !== 0) process.exitCode = 1;
}
await writeReport();
