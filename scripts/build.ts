import { spawnSync } from 'node:child_process';
import { projectFolder } from '../test/n8n/package-install';
import { UnrecoverableError } from '../test/n8n/until';

/** Builds the package into `dist`. The compiler prints to the terminal. */
export function build(report: (line: string) => void): void {
	report('Building the nodes');
	const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
		cwd: projectFolder,
		stdio: 'inherit',
	});
	if (status !== 0)
		throw new UnrecoverableError("The nodes couldn't be built. See the lines above.");
}
