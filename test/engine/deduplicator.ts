import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import { DataDeduplicationService } from 'n8n-core';
import type {
	DeduplicationItemTypes,
	DeduplicationScope,
	ICheckProcessedContextData,
	ICheckProcessedOptions,
	IDataDeduplicator,
	IDeduplicationOutput,
} from 'n8n-workflow';
import { z } from 'zod';

const row = z.array(z.string());

/**
 * A copy of n8n's deduplication store (n8n/dist/deduplication/deduplication-helper.js): one text per workflow and
 * node, read and written as a whole, without a lock between two writers.
 */
export class Deduplicator implements IDataDeduplicator {
	private readonly rows = new Map<string, string>();
	/** The calls to the store, in order. */
	readonly calls: string[] = [];
	/** Runs before each call reads or writes. */
	beforeCall: (call: string) => void = () => {};
	private failsAfterNextAdd = false;

	/** Makes all nodes of the engine use this store, as n8n does when it starts. */
	install(): void {
		Reflect.set(DataDeduplicationService, 'instance', this);
	}

	clear(): void {
		this.rows.clear();
		this.calls.length = 0;
		this.beforeCall = () => {};
		this.failsAfterNextAdd = false;
	}

	/** The database stores the next texts that are added, but reports an error. */
	failAfterNextAdd(): void {
		this.failsAfterNextAdd = true;
	}

	get size(): number {
		return [...this.rows.values()].reduce(
			(sum, text) => sum + row.parse(JSON.parse(text)).length,
			0,
		);
	}

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
		{ maxEntries }: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		const data = await this.read(`add ${items.length}`, scope, context);
		const known = new Set(data);
		const output: IDeduplicationOutput = { new: [], processed: [] };
		for (const item of items) {
			const hash = hashOf(item);
			output[known.has(hash) ? 'processed' : 'new'].push(item);
			if (!known.has(hash)) data.push(hash);
		}
		if (maxEntries !== undefined) data.splice(0, data.length - maxEntries);
		await this.write(scope, context, data);
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
		const data = await this.read(`remove ${items.length}`, scope, context);
		const removed = new Set(items.map(hashOf));
		await this.write(
			scope,
			context,
			data.filter((hash) => !removed.has(hash)),
		);
	}

	async clearAllProcessedItems(
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<void> {
		await this.read('clear', scope, context);
		this.rows.delete(keyOf(scope, context));
	}

	async getProcessedDataCount(
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<number> {
		return (await this.read('count', scope, context)).length;
	}

	private async read(
		call: string,
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<string[]> {
		this.calls.push(call);
		this.beforeCall(call);
		const text = this.rows.get(keyOf(scope, context)) ?? '[]';
		await nextTick();
		return row.parse(JSON.parse(text));
	}

	private async write(
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
		data: string[],
	): Promise<void> {
		await nextTick();
		this.rows.set(keyOf(scope, context), JSON.stringify(data));
	}
}

function keyOf(scope: DeduplicationScope, { node, workflow }: ICheckProcessedContextData): string {
	expect(workflow.id).not.toBe('');
	return `${workflow.id} ${scope === 'node' ? (node?.id ?? '') : ''}`;
}

function hashOf(item: DeduplicationItemTypes): string {
	return createHash('md5').update(String(item)).digest('base64');
}
