import { setImmediate as nextTick } from 'node:timers/promises';
import { DataDeduplicationService } from 'n8n-core';
import {
	type DeduplicationItemTypes,
	type DeduplicationScope,
	type ICheckProcessedContextData,
	type ICheckProcessedOptions,
	type IDataDeduplicator,
	type IDeduplicationOutput,
	UnexpectedError,
} from 'n8n-workflow';

type Row = { mode: string; data: readonly string[] };

/**
 * A copy of n8n's deduplication store (n8n/dist/deduplication/deduplication-helper.js): one row per workflow and node,
 * which is inserted once, read and written as a whole, without a lock between two writers.
 */
export class Deduplicator implements IDataDeduplicator {
	private readonly rows = new Map<string, Row>();
	/** The calls to the store, in order. */
	readonly calls: string[] = [];
	/** Runs before each call reads or writes. The call waits for a promise. */
	beforeCall: (call: string) => unknown = () => {};
	/** Runs after each call has read. The call waits for a promise. */
	afterRead: (call: string) => unknown = () => {};
	private failsAfterNextAdd = false;

	/** Makes all nodes of the engine use this store, as n8n does when it starts. */
	install(): void {
		Reflect.set(DataDeduplicationService, 'instance', this);
	}

	clear(): void {
		this.rows.clear();
		this.calls.length = 0;
		this.beforeCall = () => {};
		this.afterRead = () => {};
		this.failsAfterNextAdd = false;
	}

	/** The database stores the next texts that are added, but reports an error. */
	failAfterNextAdd(): void {
		this.failsAfterNextAdd = true;
	}

	/** How many texts nodes have stored. */
	get size(): number {
		return [...this.rows.values()].reduce((sum, { data }) => sum + data.length, 0);
	}

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
		options: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		const key = keyOf(scope, context);
		const stored = await this.read(`add ${items.length}`, key);
		const { mode, maxEntries } = options;
		if (stored !== undefined && stored.mode !== mode) throw otherMode();
		const data = [...(stored?.data ?? [])];
		const known = new Set(data);
		const output: IDeduplicationOutput = { new: [], processed: [] };
		for (const item of items) {
			const isKnown = known.has(String(item));
			output[isKnown ? 'processed' : 'new'].push(item);
			if (!isKnown) data.push(String(item));
		}
		if (maxEntries !== undefined) data.splice(0, data.length - maxEntries);
		await this.write(key, { mode, data }, stored === undefined);
		if (this.failsAfterNextAdd) {
			this.failsAfterNextAdd = false;
			throw new Error('Connection terminated unexpectedly');
		}
		return output;
	}

	async removeProcessed(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<void> {
		const key = keyOf(scope, context);
		const stored = await this.read(`remove ${items.length}`, key);
		if (stored === undefined) return;
		const removed = new Set(items.map(String));
		await this.write(key, { ...stored, data: stored.data.filter((text) => !removed.has(text)) });
	}

	async clearAllProcessedItems(
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<void> {
		const key = keyOf(scope, context);
		await this.read('clear', key);
		this.rows.delete(key);
	}

	async getProcessedDataCount(
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<number> {
		return (await this.read('count', keyOf(scope, context)))?.data.length ?? 0;
	}

	private async read(call: string, key: string): Promise<Row | undefined> {
		this.calls.push(call);
		const delay = this.beforeCall(call);
		if (delay instanceof Promise) await delay;
		const row = this.rows.get(key);
		await nextTick();
		const pause = this.afterRead(call);
		if (pause instanceof Promise) await pause;
		return row;
	}

	private async write(key: string, content: Row, isInsert = false): Promise<void> {
		await nextTick();
		if (isInsert && this.rows.has(key)) throw notUnique();
		this.rows.set(key, content);
	}
}

function otherMode(): Error {
	return new UnexpectedError(
		'Deduplication Failed: Deduplication data was originally saved with an incompatible setting of the ‘Keep Items Where’ parameter. Try ’Clean Database’ operation to reset.',
	);
}

function notUnique(): Error {
	return new Error('duplicate key value violates unique constraint "PK_processed_data"');
}

function keyOf(scope: DeduplicationScope, { node, workflow }: ICheckProcessedContextData): string {
	expect(workflow.id).not.toBe('');
	return `${workflow.id} ${scope === 'node' ? (node?.id ?? '') : ''}`;
}
