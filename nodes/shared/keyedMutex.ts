/** Runs a function when the limit allows it. */
export type Limiter = <T>(run: () => Promise<T>) => Promise<T>;

const queues = new Map<unknown, Promise<unknown>>();

/** Runs after earlier runs with the same key in this process have ended. A key is an object or a text. */
export async function runExclusive<T>(key: unknown, run: () => Promise<T>): Promise<T> {
	const mine = (queues.get(key) ?? Promise.resolve()).then(run, run);
	queues.set(key, mine);
	return await mine.finally(() => {
		if (queues.get(key) === mine) queues.delete(key);
	});
}
