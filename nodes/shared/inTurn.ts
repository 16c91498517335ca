/** Runs something when its turn is. */
export type Turn = <T>(run: () => Promise<T>) => Promise<T>;

const turns = new Map<unknown, Promise<unknown>>();

/** Runs after whatever else runs in this process under the same key, an object or a text. */
export async function inTurn<T>(key: unknown, run: () => Promise<T>): Promise<T> {
	const mine = (turns.get(key) ?? Promise.resolve()).then(run, run);
	turns.set(key, mine);
	return await mine.finally(() => {
		if (turns.get(key) === mine) turns.delete(key);
	});
}
