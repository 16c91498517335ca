// npm run long -- mutation [--concurrency <n> --files <glob>]: mutates the code and reports surviving mutants. Results
// for unchanged code come from reports/mutation. MUTATION_SHARE=1 runs all mutants, and MUTATION_SEED=7 draws another
// sample.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { writeReport } from './report.mjs';
import { SEED, SHARE } from './sample.mjs';

const { values } = parseArgs({
	options: {
		// Half of the processes check types.
		concurrency: { type: 'string', default: '4' },
		force: { type: 'boolean' },
		files: { type: 'string' },
	},
});
console.log(`Share of the mutants: ${SHARE}, seed of the sample: ${SEED}`);
const args = ['run', 'test/long/mutation/stryker.config.mjs', '--concurrency', values.concurrency];
if (values.force) args.push('--force');
if (values.files) args.push('--mutate', values.files);
const { status } = spawnSync('stryker', args, { stdio: 'inherit' });
if (status === 0) await writeReport();
else process.exitCode = 1;
