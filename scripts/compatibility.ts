/** `npm run test:compatibility`: runs the core tests on a real n8n with each older version in the README. */
import { spawnSync } from 'node:child_process';
import { olderVersions } from '../test/n8n/host';
import { projectFolder } from '../test/n8n/package-install';

/** Left out, because they need the current n8n: AI tools, human review, and the nodes of the examples. */
const CORE = [
	'callCompleted',
	'chat',
	'chatDelivery',
	'chatEvents',
	'credential',
	'dialects',
	'pushWeek',
	'httpRequest',
	'retry',
	'waitForCompletion',
];

const asked = process.argv.slice(2);
for (const version of asked.length > 0 ? asked : Object.keys(olderVersions)) {
	console.log(`\n=== n8n ${version}`);
	const leaveOut = olderVersions[version]?.leaveOut ?? [];
	const files = CORE.filter((name) => !leaveOut.includes(name)).map(
		(name) => `test/e2e/${name}.test.ts`,
	);
	const { status } = spawnSync('npm', ['run', 'test:e2e', '--', ...files], {
		cwd: projectFolder,
		stdio: 'inherit',
		env: { ...process.env, N8N_HOST_VERSION: version },
	});
	if (status !== 0) process.exitCode = 1;
}
