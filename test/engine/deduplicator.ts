import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
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
 * n8n's store as n8n has it (n8n/dist/deduplication/deduplication-helper.js): one text a workflow and
 * node, read and written whole, with nothing that keeps two writers apart.
 */
export class Deduplicator implements IDataDeduplicator {
	private readonly rows = new Map<string, string>();
	/** What it was asked for, in order. */
	readonly calls: string[] = [];
	/** Told of each call before anything is written. */
	beforeCall: (call: string) => void = () => {};

	/** Gives this store to all nodes of the engine, as n8n does when it starts. */
	install(): void {
		Reflect.set(DataDeduplicationService, 'instance', this);
	}

	clear(): void {
		this.rows.clear();
		this.calls.length = 0;
		this.beforeCall = () => {};
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
		return output;
	}

	async removeProcessed(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<void> {
		const data = await this.read(`remove ${items.length}`, scope, context);
		const gone = new Set(items.map(hashOf));
		await this.write(
			scope,
			context,
			data.filter((hash) => !gone.has(hash)),
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
		await turn();
		return row.parse(JSON.parse(text));
	}

	private async write(
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
		data: string[],
	): Promise<void> {
		await turn();
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
