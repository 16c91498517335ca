import { readFileSync, writeFileSync } from 'node:fs';

/** What a process holds in memory now (`VmRSS`), or at most since `forgetPeak` (`VmHWM`), in MB. */
export function memoryMb(pid: number, which: 'VmRSS' | 'VmHWM'): number {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Starts the kernel's high-water mark anew. */
export function forgetPeak(pid: number): void {
	writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
