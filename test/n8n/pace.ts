import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Acts at a steady pace, however long each action takes, and waits until all have ended.
 *
 * @param act gets the number of the action, from 0
 */
export async function atPace(
	count: number,
	everyMs: number,
	act: (number: number) => unknown,
): Promise<void> {
	const startedAt = Date.now();
	const actions: unknown[] = [];
	for (let number = 0; number < count; number++) {
		const wait = startedAt + number * everyMs - Date.now();
		if (wait > 0) await sleep(wait);
		actions.push(act(number));
	}
	await Promise.all(actions);
}
