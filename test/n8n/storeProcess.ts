import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** Starts a server that writes its log to this folder and ends with this process. */
export function startStore(
	home: string,
	command: string,
	args: string[],
	log: string,
): ChildProcess {
	const file = openSync(join(home, log), 'a');
	const child = spawn(command, args, { stdio: ['ignore', file, file] });
	closeSync(file);
	const end = () => child.kill('SIGTERM');
	process.once('exit', end);
	child.once('exit', () => process.off('exit', end));
	return child;
}

export async function stopStore(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const exited = once(child, 'exit');
	child.kill('SIGTERM');
	await exited;
}
