import { spawnSync } from 'node:child_process';
import { projectFolder } from '../test/n8n/package-install';
import { UnrecoverableError } from '../test/n8n/until';

/** Builds the package into `dist`; what the compiler has to say appears on the screen. */
export function build(report: (line: string) => void): void {
	report('Building the nodes');
	const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
		cwd: projectFolder,
		stdio: 'inherit',
	});
	if (status !== 0)
		throw new UnrecoverableError('The nodes could not be built; the lines above say why.');
}
