import type { JsonObject } from '../../shared/json';
import { asItems } from '../../shared/n8n/run/itemLoop';
import type { TriggerStarter } from '../../shared/n8n/triggers/executionStarter';
import { notStarted } from './readingNotices';
import type { ReadState } from './readState';

type Start = { listId: string; fingerprint: bigint; key: string; item: JsonObject };

/** The executions that a reading starts. The last one stores the state, so each start waits for the next one. */
export class ReadingStarts {
	private latest: Start | undefined;

	/** Outcomes that n8n couldn't start, until they're reported. */
	private readonly failed: unknown[] = [];

	/** @param save puts the state where n8n stores it with the next execution, if that is due */
	constructor(
		private readonly starter: TriggerStarter,
		private readonly state: ReadState,
		private readonly save: (isDue: boolean) => void,
	) {}

	/** Whether this process has started an execution with this key. */
	isUsed(key: string): boolean {
		return this.starter.isUsed(key);
	}

	/** Whether an execution with this key waits, or hasn't ended. */
	isPending(key: string): boolean {
		return this.starter.isPending(key);
	}

	/** Makes the start before this one. */
	async add(start: Start): Promise<void> {
		const before = this.latest;
		this.latest = start;
		await this.make(before, false);
	}

	/** Makes the last start of a reading. @returns why n8n couldn't make some */
	async end(): Promise<unknown[]> {
		const last = this.latest;
		this.latest = undefined;
		await this.make(last, true);
		return this.failed.splice(0);
	}

	/** Waits until n8n has the execution, so that the executions of a reading don't fill the memory. */
	private async make(start: Start | undefined, isLast: boolean): Promise<void> {
		if (start === undefined) return;
		const { listId, fingerprint, key, item } = start;
		await this.starter.start(asItems(item), key, {
			beforeEmit: () => this.save(isLast),
			onEnd: (isStarted) => {
				this.state.settle(listId, fingerprint, isStarted);
				if (!isStarted) this.failed.push(notStarted(item));
			},
		});
	}
}
