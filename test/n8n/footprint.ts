import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Memory of a process in MB: now (`VmRSS`), or the maximum since `resetPeakMemory` (`VmHWM`). */
export function memoryMb(pid: number, which: 'VmRSS' | 'VmHWM'): number {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Resets the kernel's high-water mark. */
export function resetPeakMemory(pid: number): void {
	writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Size of n8n's database on disk in MB: the file and its write-ahead log. */
export function databaseMb(home: string): number {
	const folder = join(home, '.n8n');
	return readdirSync(folder)
		.filter((name) => name.startsWith('database.sqlite'))
		.reduce((sum, name) => sum + statSync(join(folder, name)).size / 1024 / 1024, 0);
}
