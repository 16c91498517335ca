import { whenAborted } from './clock';

/** Runs a function, possibly after others. */
export type Limiter = <T>(run: () => Promise<T>) => Promise<T>;

export const noLimit: Limiter = async (run) => await run();

/** Runs or admits one user of a key at a time, in the order in which they come. Users of different keys don't wait. */
export class KeyedMutex {
	private readonly queues = new Map<unknown, Promise<void>>();

	/**
	 * Waits until earlier users have released the key. One that is aborted while it waits continues immediately
	 * without the lock, and the others keep their order.
	 *
	 * @param key an object or a text
	 * @returns `release`, which must be called
	 */
	async acquire(key: unknown, signal?: AbortSignal): Promise<() => void> {
		const previous = this.queues.get(key) ?? Promise.resolve();
		const own: PromiseWithResolvers<void> = Promise.withResolvers();
		const queue = previous.then(async () => await own.promise);
		this.queues.set(key, queue);
		void queue.then(() => {
			if (this.queues.get(key) === queue) this.queues.delete(key);
		});
		await (signal === undefined ? previous : Promise.race([previous, whenAborted(signal)]));
		return () => own.resolve();
	}

	async runExclusive<T>(key: unknown, run: () => Promise<T>): Promise<T> {
		const release = await this.acquire(key);
		try {
			return await run();
		} finally {
			release();
		}
	}
}

const processMutex = new KeyedMutex();

/** Runs one function per key at a time in this process. */
export const runExclusive = async <T>(key: unknown, run: () => Promise<T>): Promise<T> =>
	await processMutex.runExclusive(key, run);
