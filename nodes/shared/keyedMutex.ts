/** Runs something when its turn is. */
export type Limiter = <T>(run: () => Promise<T>) => Promise<T>;

const queues = new Map<unknown, Promise<unknown>>();

/** Runs after whatever else runs in this process under the same key, an object or a text. */
export async function runExclusive<T>(key: unknown, run: () => Promise<T>): Promise<T> {
	const mine = (queues.get(key) ?? Promise.resolve()).then(run, run);
	queues.set(key, mine);
	return await mine.finally(() => {
		if (queues.get(key) === mine) queues.delete(key);
	});
}
