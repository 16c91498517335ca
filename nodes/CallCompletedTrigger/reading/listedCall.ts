import pick from 'lodash/pick';
import { DateTime } from 'luxon';
import { CALL_ID } from '../../shared/api/limits';
import {
	END_FIELDS,
	hasEnded,
	hasValue,
	OUTCOME_FIELDS,
	type OutcomeKeys,
	PICKED_AT,
} from '../../shared/calls/callEnd';
import { fingerprint64 } from '../../shared/hash';
import type { JsonObject, JsonValue } from '../../shared/json';

/** Fields of an entry whose values are used. */
const FIELDS = ['call_id', 'created_at', 'campaign_id', PICKED_AT, ...OUTCOME_FIELDS];

/** What {@link ListedCall} needs of an entry. The rest of a long list would fill the memory. */
export function compactEntry(entry: JsonObject): JsonObject {
	const compact: JsonObject = pick(entry, FIELDS);
	for (const name of END_FIELDS) {
		if (Object.hasOwn(entry, name)) compact[name] = hasValue(entry[name]) ? true : null;
	}
	return compact;
}

/** A call as the call list shows it, which may be less than its record. */
export class ListedCall {
	readonly callId: string;

	private constructor(
		private readonly entry: JsonObject,
		callId: string,
	) {
		this.callId = callId;
	}

	/** @returns undefined if the entry has no usable `call_id` */
	static from(entry: JsonObject): ListedCall | undefined {
		const { call_id: callId } = entry;
		const isId = typeof callId === 'string' && CALL_ID.test(callId);
		return isId ? new ListedCall(entry, callId) : undefined;
	}

	/** When the call was created, in epoch milliseconds. NaN if the entry doesn't show it. */
	get createdAt(): number {
		return createdAtOf(this.entry);
	}

	/** The key of the outcome. Undefined if the entry lacks a field of it, so only the record has it. */
	outcomeKey(keys: OutcomeKeys): string | undefined {
		const { entry, callId } = this;
		return OUTCOME_FIELDS.every((name) => Object.hasOwn(entry, name))
			? keys.keyOf(callId, entry)
			: undefined;
	}

	/** Whether the entry shows the end of the call. */
	hasEnded(finished: readonly string[]): boolean {
		return hasEnded(this.entry, finished);
	}

	/** Whether the entry has all fields in which an end would show. */
	get showsEnds(): boolean {
		return END_FIELDS.every((name) => Object.hasOwn(this.entry, name));
	}

	get campaignId(): number | undefined {
		const { campaign_id: id } = this.entry;
		return typeof id === 'number' ? id : undefined;
	}

	/** Differs if the call changes its outcome. */
	get content(): bigint {
		const { call_id: id, created_at: at, status, retry_count: retries } = this.entry;
		return fingerprint64(JSON.stringify([id, at, status, retries]));
	}
}

/** `created_at` in epoch milliseconds. NaN if it can't be read. */
export function createdAtOf({ created_at: at }: { created_at?: JsonValue }): number {
	return typeof at === 'string' ? DateTime.fromISO(at, { zone: 'utc' }).toMillis() : NaN;
}

/** The content of a list: the same for the same calls in any order. */
export class ListContent {
	private sum = 0n;
	private count = 0;

	add({ content }: ListedCall): void {
		this.sum ^= content;
		this.count++;
	}

	toString(): string {
		return `${this.count} ${this.sum}`;
	}
}
