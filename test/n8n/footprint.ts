import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a process holds in memory now (`VmRSS`), or at most since `forgetPeak` (`VmHWM`), in MB. */
export function memoryMb(pid: number, which: 'VmRSS' | 'VmHWM'): number {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Starts the kernel's high-water mark anew. */
export function resetPeakMemory(pid: number): void {
	writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** What n8n's database takes on disk, in MB: the file and its log, which is worked into the file from time to time. */
export function databaseMb(home: string): number {
	const folder = join(home, '.n8n');
	return readdirSync(folder)
		.filter((name) => name.startsWith('database.sqlite'))
		.reduce((sum, name) => sum + statSync(join(folder, name)).size / 1024 / 1024, 0);
}
