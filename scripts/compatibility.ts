/** Runs the core cases of the server level on each older n8n that the README names: `npm run test:compatibility`. */
import { spawnSync } from 'node:child_process';
import { olderVersions } from '../test/n8n/host';
import { projectFolder } from '../test/n8n/package-install';

/** What stays away needs n8n of today: AI tools, human review and the nodes that the examples are made with. */
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
