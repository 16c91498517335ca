import once from 'lodash/once';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { explained, ExplainedError, failedRepeat, OutcomeUnknown } from '../../core/service/errors';
import { isJsonObject } from '../../core/values/json';
import type { Limiter } from '../../core/values/keyedMutex';
import { requireRunning } from '../execution/cancel';
import { callerOf } from '../caller/caller';
import { openRecord } from './executionStore';
import type { Notes } from './notes';
import { openNotes } from './openNotes';
import { type PreparedRequest, type Quota, overQuota } from './preparedRequest';
import {
	areRecords,
	isRepeatable,
	type RequestRecord,
	type RequestRecords,
	hashOf,
	type RecordOwner,
	replay,
} from './requestRecord';
import { begunEarlier, maybeSentBefore } from './sentBefore';
import { sendForModel } from './toolRequests';

/** Until the response arrives. */
const IN_PROGRESS = begunEarlier().toStored();

/**
 * Sends each request of a node run at most once. Stores the results with the execution, and replays them on
 * *Retry On Fail* and *Retry*. Requests that were rejected or never left n8n may be sent again.
 *
 * - Before a request leaves, it's noted in n8n's database ({@link Notes}). A retry that finds a note without a record
 *   reports the request as unknown.
 * - {@link SendOnce.findEarlier} finds the record of an item. As a tool, {@link sendForModel} does.
 */
export class SendOnce<Deps> {
	private readonly isTool: boolean;
	private readonly records: RequestRecords;
	/** The items that earlier attempts recorded. */
	private readonly earlierItems: ReadonlySet<number | undefined>;
	/** Whether earlier attempts may have sent requests whose results n8n didn't store. */
	private mayHaveMore = false;
	/** By item. */
	private readonly keys = new Map<number, string>();
	private readonly notes: () => Promise<Notes | undefined>;

	/**
	 * @param createDeps creates what every request needs. If it throws, nothing was sent.
	 * @param quota for tools
	 * @throws InvalidInput if the records of an earlier attempt can't be read
	 */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly createDeps: () => Promise<Deps>,
		private readonly quota?: (index: number) => Quota,
	) {
		this.isTool = callerOf(context).kind === 'model';
		this.records = openRecord(context, 'requests', areRecords, {});
		this.earlierItems = new Set(Object.values(this.records).map(({ item }) => item));
		this.notes = once(async () => await openNotes(context));
	}

	/**
	 * Finds the records of all items, by the target and which of several requests to it this is. Adds a record for those that an
	 * earlier attempt may have sent and whose result n8n didn't store. Not for tools.
	 *
	 * @param requests in the order of the items
	 * @throws if n8n's store can't be reached
	 */
	async findEarlier(requests: ReadonlyMap<number, PreparedRequest<Deps>>): Promise<void> {
		const occurrences = new Map<string, number>();
		for (const [index, { target, payload }] of requests) {
			const name = hashOf(target ?? payload);
			const occurrence = occurrences.get(name) ?? 0;
			occurrences.set(name, occurrence + 1);
			this.keys.set(index, `${name}#${occurrence}`);
		}
		const withoutRecord = [...requests].filter(
			([index, { target }]) => target !== undefined && this.recordOf(index) === undefined,
		);
		const notes = await this.notes();
		const earlier = await notes?.findEarlier(withoutRecord.map(([, { target }]) => target));
		if (earlier === undefined) return;
		this.mayHaveMore = true;
		for (const [index, request] of withoutRecord) {
			if (!earlier.has(request.target)) continue;
			this.records[this.keyOf(index)] = { item: index, unknown: begunEarlier(request).toStored() };
		}
	}

	/** Whether the item isn't sent (again): it completed, or may have been sent. */
	isSettled(index: number, request: PreparedRequest<Deps> | undefined): boolean {
		const record = this.recordOf(index);
		return record !== undefined && !isRepeatable(record, request?.idempotencyKey);
	}

	/** @throws OutcomeUnknown if the outcome is unknown */
	earlierOutput(index: number): INodeExecutionData[] | undefined {
		const record = this.recordOf(index);
		return record && replay(record);
	}

	/** The error of an item that can't be read now, although an earlier attempt may have sent it. */
	errorOfInvalid(index: number, error: unknown): unknown {
		const mayBeSent = this.earlierItems.has(index) || this.mayHaveMore;
		return mayBeSent ? maybeSentBefore(explained(error)) : error;
	}

	private recordOf(index: number): RequestRecord | undefined {
		return this.records[this.keyOf(index)];
	}

	private keyOf(index: number): string {
		return this.keys.get(index) ?? '';
	}

	/** Sends the request, or replays its stored result. */
	async run(
		request: PreparedRequest<Deps>,
		limiter: Limiter,
		index: number,
	): Promise<INodeExecutionData[]> {
		if (!this.isTool) {
			const key = this.keyOf(index);
			return await limiter(async () => await this.sendOrReplay(key, request, { item: index }));
		}
		const quota = this.quota?.(index);
		return await sendForModel(this.context, this.records, request, async (key, toolRequest) => {
			const owner = { tool_request: toolRequest, ...(quota && { unit: quota.unit }) };
			return await limiter(async () => await this.sendOrReplay(key, request, owner, quota));
		});
	}

	/** Runs within the limiter, so that a replayed failure also stops the later items of its chat session. */
	private async sendOrReplay(
		key: string,
		request: PreparedRequest<Deps>,
		owner: RecordOwner,
		quota?: Quota,
	): Promise<INodeExecutionData[]> {
		const { idempotencyKey } = request;
		const stored = this.records[key];
		// The record of a tool is replaced by that of a later request to the same target.
		const previous = stored?.tool_request === owner.tool_request ? stored : undefined;
		const isRepeat = isRepeatable(previous, idempotencyKey);
		if (previous !== undefined && !isRepeat) return replay(previous);
		// It may have ended while this request waited for an earlier one.
		requireRunning(this.context);
		const deps = await this.createDeps();
		const notes = request.target === undefined ? undefined : await this.notes();
		// No await in between, so that simultaneous requests count.
		if (quota !== undefined) this.requireQuota(quota);
		this.records[key] = { ...owner, unknown: IN_PROGRESS };
		const sending = sendNoted(request, deps, notes, isRepeat);
		const output = await sending.catch((error: unknown): never => {
			if (error instanceof OutcomeUnknown) {
				const again = idempotencyKey !== undefined && { repeatableWith: hashOf(idempotencyKey) };
				this.records[key] = { ...owner, unknown: error.toStored(), ...again };
			} else if (error instanceof ExplainedError) {
				if (stored === undefined) Reflect.deleteProperty(this.records, key);
				else this.records[key] = stored;
			}
			throw error;
		});
		// Copies, because later nodes may change the output in place.
		const completed = output.map(({ json }) => structuredClone(json)).filter(isJsonObject);
		this.records[key] = { ...owner, completed };
		return output;
	}

	/** Rejected and unsent requests have no record, so they don't count. */
	private requireQuota(quota: Quota): void {
		const used = Object.values(this.records).filter(({ unit }) => unit === quota.unit);
		if (used.length >= quota.max) throw overQuota(quota);
	}
}

/** @param isRepeat whether the request may have been sent before, with the same idempotency key */
async function sendNoted<Deps>(
	request: PreparedRequest<Deps>,
	deps: Deps,
	notes: Notes | undefined,
	isRepeat: boolean,
): Promise<INodeExecutionData[]> {
	const note = await notes?.add(request.target);
	// With a record, it's known that an earlier attempt may have sent it.
	if (note?.state === 'same' && !isRepeat) throw begunEarlier(request);
	return await request.send(deps).catch(async (error: unknown): Promise<never> => {
		if (error instanceof OutcomeUnknown) throw request.withDetails?.(error) ?? error;
		if (!(error instanceof ExplainedError)) throw error;
		// A later failure doesn't show what happened to the first request.
		if (isRepeat) throw failedRepeat(error);
		await note?.remove();
		throw error;
	});
}
