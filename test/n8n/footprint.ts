import { readFileSync, writeFileSync } from 'node:fs';

/** Memory of a process in MB: now (`VmRSS`), or the maximum since `resetPeakMemory` (`VmHWM`). */
export function memoryMb(pid: number, which: 'VmRSS' | 'VmHWM'): number {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Resets the kernel's high-water mark. */
export function resetPeakMemory(pid: number): void {
	writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
