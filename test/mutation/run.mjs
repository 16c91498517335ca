// npm run long -- mutation [<area> … --concurrency <n> --files <glob>]: mutates the code and reports surviving
// mutants. Results for unchanged code come from reports/mutation. MUTATION_SHARE=0.1 runs a tenth of the mutants of
// every area. MUTATION_SEED=7 draws another sample.
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
