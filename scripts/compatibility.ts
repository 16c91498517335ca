/** `npm run long -- compatibility`: runs the core tests with a real n8n on each older version in the README. */
import { spawnSync } from 'node:child_process';
import { olderVersions } from '../test/n8n/host';
import { projectFolder } from '../test/n8n/package-install';

/** The other tests need a current n8n: AI tools and the nodes in the examples. */
const CORE = [
	'actions',
	'callCompleted',
	'chatDelivery',
	'chatEvents',
	'credential',
	'killed',
	'retry',
	'waitForCompletion',
];

const requested = process.argv.slice(2);
for (const version of requested.length > 0 ? requested : Object.keys(olderVersions)) {
	console.log(`\n=== n8n ${version}`);
	const skipped = olderVersions[version]?.skippedTests ?? [];
	const files = CORE.filter((name) => !skipped.includes(name)).map(
		(name) => `test/e2e/${name}.test.ts`,
	);
	const { status } = spawnSync('npm', ['run', 'test:e2e', '--', ...files], {
		cwd: projectFolder,
		stdio: 'inherit',
		env: { ...process.env, N8N_HOST_VERSION: version },
	});
	if (status !== 0) process.exitCode = 1;
}
