/** `npm run release:check [-- v1.2.0]`: lists what must change before the package may be published. */
import { join } from 'node:path';
import { releaseFaults } from './faults';

const [tag] = process.argv.slice(2);
const publishingRepository = process.env.GITHUB_REPOSITORY;
const faults = releaseFaults(join(__dirname, '..', '..'), { tag, publishingRepository });
for (const fault of faults) console.log(fault);
console.log(
	faults.length === 0
		? 'The package may be published.'
		: `The package can't be published yet: ${faults.length} findings. See docs/releasing.md.`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
