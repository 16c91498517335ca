import { whenAborted } from './clock';

/** Runs a function, possibly after others. */
export type Limiter = <T>(run: () => Promise<T>) => Promise<T>;

export const noLimit: Limiter = async (run) => await run();

/** Runs or admits one caller per key at a time, in the order of the calls. Callers with different keys don't wait. */
export class KeyedMutex {
	private readonly queues = new Map<unknown, Promise<void>>();

	private readonly stopped = new Set<unknown>();

	/**
	 * @param stoppedError if given, a key stops after the first function that fails: later functions of the key don't run, and
	 * `runExclusive` throws this error
	 */
	constructor(private readonly stoppedError?: () => Error) {}

	/**
	 * Waits until earlier callers have released the key. A caller that is aborted while it waits continues immediately
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

	/** @throws what `run` throws, or the error for a stopped key */
	async runExclusive<T>(key: unknown, run: () => Promise<T>): Promise<T> {
		const release = await this.acquire(key);
		let hasSucceeded = false;
		try {
			if (this.stoppedError !== undefined && this.stopped.has(key)) throw this.stoppedError();
			const result = await run();
			hasSucceeded = true;
			return result;
		} finally {
			if (!hasSucceeded && this.stoppedError !== undefined) this.stopped.add(key);
			release();
		}
	}
}

const processMutex = new KeyedMutex();

/** Runs one function per key at a time in this process. */
export const runExclusive = async <T>(key: unknown, run: () => Promise<T>): Promise<T> =>
	await processMutex.runExclusive(key, run);
