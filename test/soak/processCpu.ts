import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second. */
const MS_PER_TICK = 10;

type ProcessTimes = { parent: number; ticks: number };

/** CPU time that each process and its children have used, in milliseconds. Those that have ended count for their parent. */
export function treeCpuMs(roots: readonly number[]): number {
	const all = readProcesses();
	const children = new Map<number, number[]>();
	for (const [pid, { parent }] of all) children.set(parent, [...(children.get(parent) ?? []), pid]);
	const ticksOf = (pid: number): number =>
		(children.get(pid) ?? []).reduce((sum, one) => sum + ticksOf(one), all.get(pid)?.ticks ?? 0);
	return roots.reduce((sum, pid) => sum + ticksOf(pid), 0) * MS_PER_TICK;
}

function readProcesses(): Map<number, ProcessTimes> {
	const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
	return new Map(
		pids.flatMap((pid) => {
			try {
				return [[Number(pid), timesOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))]];
			} catch {
				// It has ended.
				return [];
			}
		}),
	);
}

/** The name, in parentheses, may have spaces. */
function timesOf(stat: string): ProcessTimes {
	const [, parent, ...rest] = stat
		.slice(stat.lastIndexOf(')') + 2)
		.split(' ')
		.map(Number);
	// utime, stime, cutime, cstime
	const ticks = rest.slice(9, 13).reduce((sum, value) => sum + value, 0);
	return { parent: parent ?? 0, ticks };
}
