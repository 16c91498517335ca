import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import type { QueueMode } from '../../n8n/queueMode';
import type { N8nServer } from '../../n8n/server';

/** Longer than a worker's lock, so that n8n treats its jobs as stalled although it's alive. */
const FROZEN_MS = 25_000;

export type Disruptions = { workersKilled: number; workersFrozen: number; others: string[] };

/** Random integers from `min` to `max`, the same for the same seed. */
export function randomIntegers(seed: number): (min: number, max: number) => number {
	const all = fc.sample(fc.noBias(fc.integer({ min: 0, max: 999_999 })), { seed, numRuns: 20_000 });
	let used = 0;
	return (min, max) => min + Math.floor(((all[used++] ?? 0) / 1_000_000) * (max - min + 1));
}

/** Kills and freezes processes until `progress` is 1. Starts each process again before the next disruption. */
export async function disrupt(
	queue: QueueMode,
	between: (min: number, max: number) => number,
	progress: () => number,
): Promise<Disruptions> {
	const done: Disruptions = { workersKilled: 0, workersFrozen: 0, others: [] };
	const once = [
		{
			from: 0.2,
			name: 'main process stopped by SIGTERM',
			act: async () => await stopped(queue.main),
		},
		...queue.webhooks.map((server, index) => ({
			from: 0.35 + 0.15 * index,
			name: `webhook process ${index + 1} killed`,
			act: async () => await killed(server),
		})),
		{ from: 0.7, name: 'main process killed', act: async () => await killed(queue.main) },
	];
	for (let round = 1; progress() < 1; round++) {
		await sleep(between(2_000, 12_000));
		const due = once[0];
		if (due !== undefined && progress() >= due.from) {
			once.shift();
			await due.act();
			done.others.push(due.name);
			continue;
		}
		const worker = queue.workers[between(0, queue.workers.length - 1)];
		if (worker === undefined) continue;
		if (round % 4 === 0) {
			await frozen(worker);
			done.workersFrozen++;
		} else {
			await killed(worker);
			done.workersKilled++;
		}
	}
	return done;
}

async function killed(server: N8nServer): Promise<void> {
	await server.kill();
	await server.boot();
}

async function stopped(server: N8nServer): Promise<void> {
	await server.stop();
	await server.boot();
}

/** Pauses the process, as if its machine was suspended or swapping. */
async function frozen({ pid }: N8nServer): Promise<void> {
	process.kill(pid, 'SIGSTOP');
	await sleep(FROZEN_MS);
	process.kill(pid, 'SIGCONT');
}
