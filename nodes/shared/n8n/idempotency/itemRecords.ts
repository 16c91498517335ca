import type { INodeParameters } from 'n8n-workflow';
import { shortFingerprint } from '../../hash';
import {
	type IdempotencyRecord,
	type IdempotencyRecords,
	isRepeatable,
	payloadKey,
	recordKey,
	type RecordOwner,
} from './requestRecord';

/** For the few parameter sets, and persons per item, of an execution and its retries. */
const SHORT_KEY_LENGTH = 5;

/** What identifies the request of an item. */
type ItemRequest = { payload: unknown; person?: unknown; idempotencyKey?: string | undefined };

/**
 * The records of a node run by item:
 * - Same node parameters: by item index, because an expression such as `$now` changes the payload.
 * - Edited parameters: by item index and person if it completed, otherwise by payload and occurrence.
 */
export class ItemRecords {
	private readonly parameters: string;
	private readonly occurrences = new Map<string, number>();
	/** Record keys by item index, for the current node parameters. */
	private readonly keysByItem = new Map<string, string>();
	private readonly keysOfItems: Set<string>;
	/** Keys of completed records, by item index and person. */
	private readonly completedFor = new Map<string, string>();
	/** Indexes of the items with a record. */
	private readonly recordedAt = new Set<string>();
	/** Indexes of the items with a completed record. */
	private readonly completedAt = new Set<string>();
	/** Indexes of the items that may be sent again, because they have the same idempotency key. */
	private readonly repeatableAt = new Set<number>();

	constructor(
		private readonly records: IdempotencyRecords,
		parameters: INodeParameters,
	) {
		this.parameters = shortFingerprint(parameters, SHORT_KEY_LENGTH);
		for (const [key, record] of Object.entries(records)) {
			const [ofParameters, index, person] = record.item?.split('/') ?? [];
			if (index === undefined) continue;
			if (ofParameters === this.parameters) this.keysByItem.set(index, key);
			this.recordedAt.add(index);
			if (!('completed' in record)) continue;
			this.completedAt.add(index);
			if (person !== undefined) this.completedFor.set(`${index}/${person}`, key);
		}
		this.keysOfItems = new Set(this.keysByItem.values());
	}

	/** The record of an item from an earlier attempt. */
	of(index: number): IdempotencyRecord | undefined {
		const key = this.keysByItem.get(String(index));
		return key === undefined ? undefined : this.records[key];
	}

	/** The key of the record of an item, and its owner. Call this in the order of the items. */
	keyOf(request: ItemRequest, index: number): { key: string; owner: RecordOwner } {
		const key = this.keysByItem.get(String(index)) ?? this.nextKey(request.payload);
		return { key, owner: { item: this.ownerOf(request, index) } };
	}

	/** Call this first for every item. A completed record stays with its item and person after an edit. */
	matchPerson(request: ItemRequest, index: number): void {
		const key = this.completedFor.get(itemKey(request, index));
		if (key === undefined || this.keysByItem.has(String(index))) return;
		this.keysByItem.set(String(index), key);
		this.keysOfItems.add(key);
	}

	/**
	 * Then call this for every item, in their order and before the first request. After an edit, a record stays with an
	 * equal request.
	 */
	matchPayload(request: ItemRequest, index: number): void {
		this.keysByItem.set(String(index), this.keyOf(request, index).key);
		if (isRepeatable(this.of(index), request.idempotencyKey)) this.repeatableAt.add(index);
	}

	/** Whether the outcome of an item is unknown, and it may not be sent again. */
	isBlocked(index: number): boolean {
		const record = this.of(index);
		return record !== undefined && !('completed' in record) && !this.repeatableAt.has(index);
	}

	/** Whether an earlier attempt may have sent the item, perhaps with other values. */
	mayBeSent(index: number): boolean {
		return this.recordedAt.has(String(index));
	}

	/** Whether an earlier attempt completed the item, perhaps with other values. */
	wasCompleted(index: number): boolean {
		return this.completedAt.has(String(index));
	}

	/** Adds the record of an item that has none. */
	add(request: ItemRequest, index: number, record: IdempotencyRecord): void {
		const { key, owner } = this.keyOf(request, index);
		this.keysByItem.set(String(index), key);
		this.records[key] = { ...owner, ...record };
	}

	private ownerOf(request: ItemRequest, index: number): string {
		return [this.parameters, itemKey(request, index)].join('/');
	}

	/** Numbers items with equal payloads, skipping records that belong to other items. */
	private nextKey(payload: unknown): string {
		const key = payloadKey(payload);
		let occurrence = this.occurrences.get(key) ?? 0;
		while (this.keysOfItems.has(recordKey(key, occurrence))) occurrence++;
		this.occurrences.set(key, occurrence + 1);
		return recordKey(key, occurrence);
	}
}

function itemKey({ person }: ItemRequest, index: number): string {
	if (person === undefined) return String(index);
	return `${index}/${shortFingerprint(person, SHORT_KEY_LENGTH)}`;
}
