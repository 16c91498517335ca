import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, closeSync, readFileSync } from 'node:fs';

export interface CommandOptions {
	cwd: string;
	/** The log file for everything that the command prints. */
	log: string;
	env?: Record<string, string>;
}

/** Runs a command to its end. If it fails, the error contains the end of its log. */
export async function run(command: string, args: string[], options: CommandOptions): Promise<void> {
	const log = openSync(options.log, 'a');
	const child = spawn(command, args, {
		cwd: options.cwd,
		env: { ...process.env, ...options.env },
		stdio: ['ignore', log, log],
		// Its own process group, so that its child processes end with it.
		detached: true,
	});
	closeSync(log);
	const stop = () => endGroup(child, 'SIGKILL');
	process.once('exit', stop);
	const exit = await new Promise<number | string>((resolve, reject) => {
		child.once('error', reject);
		child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
	}).finally(() => process.off('exit', stop));
	if (exit !== 0) {
		throw new Error(
			`${[command, ...args].join(' ')} ended with ${exit}:\n${tail(options.log)}\n(whole log: ${options.log})`,
		);
	}
}

/** Ends a process and its process group, which it must lead. */
export function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, signal);
	} catch {
		// It has already ended.
	}
}

export function tail(file: string, lines = 15): string {
	return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
}

/** Runs a script. A signal ends it normally, so that the exit handlers end all child processes. */
export function runScript(main: () => Promise<void>): void {
	for (const signal of ['SIGINT', 'SIGTERM'] as const)
		process.once(signal, () => process.exit(130));
	main().catch((error: unknown) => {
		console.error(error);
		process.exitCode = 1;
	});
}
