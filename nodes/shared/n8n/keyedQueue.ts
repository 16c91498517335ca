import { NotSent } from '../api/errors';

/** Jobs of the same key run one after another in the order they came in; those of others side by side. */
export class KeyedQueue {
	private readonly last = new Map<string, Promise<unknown>>();

	private readonly broken = new Set<string>();

	/** `goOn`: whether a job still runs after an earlier one of its key did not go through. */
	constructor(private readonly goOn: boolean) {}

	async run<T>(key: string, job: () => Promise<T>): Promise<T> {
		const before = this.last.get(key) ?? Promise.resolve();
		const mine = before.then(async () => await this.attempt(key, job));
		this.last.set(
			key,
			mine.catch(() => this.broken.add(key)),
		);
		return await mine;
	}

	private async attempt<T>(key: string, job: () => Promise<T>): Promise<T> {
		if (this.broken.has(key) && !this.goOn) {
			throw new NotSent(
				'Nothing was sent, because an earlier item of the same chat session did not go through',
				'Correct the earlier item first, so that the conversation keeps its order.',
			);
		}
		return await job();
	}
}
