import partition from 'lodash/partition';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { explained, ExplainedError, OutcomeUnknown } from '../../api/errors';
import { BoundedMap } from '../../boundedMap';
import { KeyedMutex, type Limiter } from '../../keyedMutex';
import { requireRunning } from '../run/cancel';
import { noteCompleted, runsAsTool } from '../tools/toolRun';
import { ExecutionStore } from './executionStore';
import { ItemRecords } from './itemRecords';
import { OutputCopier } from './outputCopier';
import {
	begunEarlier,
	failedRepeat,
	loggedPayload,
	type PreparedRequest,
	type Quota,
	QuotaExceeded,
	targetOf,
} from './preparedRequest';
import {
	areRecords,
	isRepeatable,
	mayBeLogged,
	type IdempotencyRecord,
	type IdempotencyRecords,
	payloadKey,
	recordKey,
	type RecordOwner,
	replay,
} from './requestRecord';
import { openWriteAheadLog } from './openWriteAheadLog';
import type { WriteAheadLog } from './writeAheadLog';

/** Tool requests to keep in a long MCP session: this many completed ones, and this many others. */
const MAX_TOOL_REQUESTS = 1_000;

/**
 * Sends each request of a node run at most once. Stores the results with the execution and replays them on
 * *Retry On Fail* and *Retry*. Requests that were rejected or never left n8n may be sent again.
 *
 * An item finds its record with {@link ItemRecords}, and a tool by the payload, within one agent run or MCP session.
 * Equal requests of tools in flight share a result.
 */
export class IdempotencyHandler<Deps> {
	/** Whether no earlier attempt of this node run has stored a record. */
	readonly isFirstAttempt: boolean;
	readonly itemRecords: ItemRecords;
	private readonly records: IdempotencyRecords;
	private readonly asTool: boolean;
	private readonly outputs: OutputCopier;
	/** Why it's unknown which requests an earlier attempt started. */
	private unreadableLog: ExplainedError | undefined;
	private log: Promise<WriteAheadLog | undefined> | undefined;

	/**
	 * @param createDeps creates what every request needs. If it throws, nothing was sent.
	 * @throws InvalidInput if the records of an earlier attempt can't be read
	 */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly createDeps: () => Promise<Deps>,
	) {
		this.asTool = runsAsTool(context);
		const scope = this.asTool ? 'workflow' : 'node';
		const store = new ExecutionStore<IdempotencyRecords>(context, 'requests', areRecords, scope);
		this.records = store.read() ?? {};
		this.isFirstAttempt = Object.keys(this.records).length === 0;
		store.write(this.records);
		this.itemRecords = new ItemRecords(this.records, context.getNode().parameters);
		this.outputs = new OutputCopier(JSON.stringify(this.records).length);
	}

	/** Sends the request, or replays its stored result. Call this in the order of the items. */
	async run(
		request: PreparedRequest<Deps>,
		limiter: Limiter,
		index: number,
	): Promise<INodeExecutionData[]> {
		if (this.asTool) return await this.runAsTool(request, limiter);
		const { key, owner } = this.itemRecords.keyOf(request, index);
		return await this.sendOrReplay(key, request, limiter, owner);
	}

	/** Whether an earlier attempt may have started requests whose results n8n didn't store. */
	async mayHaveBegun(): Promise<boolean> {
		return (await this.openLog())?.isFirstAttempt === false;
	}

	/**
	 * Records the items that an earlier attempt started and whose result n8n didn't store: their outcome is unknown. Call
	 * this before the first item is sent, with all items, because those recorded by a retry explain its entries in the log.
	 * If n8n's store can't be reached, items without a record fail.
	 */
	async recordBegun(items: ReadonlyMap<number, PreparedRequest<Deps>>): Promise<void> {
		if (items.size === 0 || [...items.keys()].every((index) => this.itemRecords.of(index))) return;
		const logged = [...items].filter(([index]) => mayBeLogged(this.itemRecords.of(index)));
		const requests = logged.map(([, request]) => request);
		const isBegun = await this.findBegun(requests).catch((error: unknown) => {
			this.unreadableLog = explained(error);
			return [];
		});
		for (const [position, [index, request]] of logged.entries()) {
			if (isBegun[position] !== true || this.itemRecords.of(index) !== undefined) continue;
			this.itemRecords.add(request, index, begunRecord(request));
		}
	}

	private async findBegun(requests: ReadonlyArray<PreparedRequest<Deps>>): Promise<boolean[]> {
		const log = await this.openLog();
		if (log === undefined) return [];
		const areRepeatable = requests.map(({ idempotencyKey }) => idempotencyKey !== undefined);
		return await log.findBegun(requests.map(targetOf), requests.map(loggedPayload), areRepeatable);
	}

	private async openLog(): Promise<WriteAheadLog | undefined> {
		return await (this.log ??= openWriteAheadLog(this.context));
	}

	private async runAsTool(
		request: PreparedRequest<Deps>,
		limiter: Limiter,
	): Promise<INodeExecutionData[]> {
		const accounts = Object.values(this.context.getNode().credentials ?? {}).map(({ id }) => id);
		const toolRequest = payloadKey([accounts, request.payload]);
		const { inFlight, completedCounts, inOrder } = toolRequestsOf(this.records);
		const repeatable = request.repeatable === true;
		const subject = payloadKey([accounts, request.subject ?? request.payload]);
		const latest = inFlight.get(subject);
		if (latest?.toolRequest === toolRequest) {
			const output = await latest.result;
			noteCompleted(this.context, { output, isReplay: true, repeatable });
			return output;
		}
		const result = inOrder.runExclusive(subject, async () => {
			const occurrence = repeatable ? (completedCounts.get(toolRequest) ?? 0) : 0;
			const key = recordKey(subject, occurrence);
			const isReplay = this.hasRecord(key, toolRequest);
			const output = await this.sendOrReplay(key, request, limiter, {
				tool_request: toolRequest,
				...(request.quota && { unit: request.quota.unit }),
			});
			if (repeatable) completedCounts.set(toolRequest, occurrence + 1);
			noteCompleted(this.context, { output, isReplay, repeatable });
			return output;
		});
		const own = { toolRequest, result };
		inFlight.set(subject, own);
		try {
			return await result;
		} finally {
			if (inFlight.get(subject) === own) inFlight.delete(subject);
			this.evictOldest();
		}
	}

	private hasRecord(key: string, toolRequest: string | undefined): boolean {
		const record = this.records[key];
		return record !== undefined && record.tool_request === toolRequest;
	}

	private async sendOrReplay(
		key: string,
		request: PreparedRequest<Deps>,
		limiter: Limiter,
		owner: RecordOwner,
	): Promise<INodeExecutionData[]> {
		return await limiter(async () => {
			const isIdempotent = request.idempotent === true;
			if (this.asTool && !isIdempotent && !this.hasRecord(key, owner.tool_request)) {
				const [isBegun] = await this.findBegun([request]);
				if (isBegun === true) this.records[key] = { ...owner, ...begunRecord(request) };
			}
			const previous = this.records[key];
			const { idempotencyKey } = request;
			const isRepeat = isRepeatable(previous, idempotencyKey);
			// Within the limiter, so that a replayed failure also stops the later items of its chat session.
			if (!isRepeat && previous !== undefined && this.hasRecord(key, owner.tool_request)) {
				return replay(previous);
			}
			if (this.unreadableLog !== undefined) throw this.unreadableLog;
			// It may have ended while this request waited for an earlier one.
			requireRunning(this.context);
			request.check?.();
			const deps = await this.createDeps();
			const log = isIdempotent ? undefined : await this.openLog();
			const isLogged = log?.isFirstAttempt === false;
			const save = this.saverOf(key, isLogged ? { ...owner, logged: true } : owner);
			// No await in between, so that simultaneous requests count.
			this.requireQuota(request.quota);
			save({ inProgress: true });
			const output = await sendLogged(request, deps, log).catch((error: unknown): never => {
				if (error instanceof OutcomeUnknown) save(unknownRecord(error, idempotencyKey));
				else if (error instanceof ExplainedError) this.restore(key, previous);
				throw isRepeat && error instanceof ExplainedError ? stillUnknown(error) : error;
			});
			save({ completed: output.map(({ json }) => this.outputs.copy(json)) });
			return output;
		});
	}

	/** @returns saves the result of a request */
	private saverOf(key: string, owner: RecordOwner): (result: IdempotencyRecord) => void {
		return (result) => {
			this.records[key] = { ...owner, ...result };
		};
	}

	/** Rejected and unsent requests have no record, so they don't count. */
	private requireQuota(quota: Quota | undefined): void {
		if (quota === undefined || !this.asTool) return;
		const used = Object.values(this.records).filter(({ unit }) => unit === quota.unit);
		if (used.length >= quota.max) throw new QuotaExceeded(quota);
	}

	private restore(key: string, previous: IdempotencyRecord | undefined): void {
		if (previous === undefined) Reflect.deleteProperty(this.records, key);
		else this.records[key] = previous;
	}

	/** Limits completed records and others separately, so that neither kind evicts the other. */
	private evictOldest(): void {
		const keys = Object.keys(this.records);
		const isCompleted = (key: string) => 'completed' in (this.records[key] ?? {});
		for (const group of partition(keys, isCompleted)) {
			const [oldest] = group;
			if (group.length > MAX_TOOL_REQUESTS && oldest !== undefined) this.restore(oldest, undefined);
		}
	}
}

/** Doesn't send what an earlier attempt started. */
async function sendLogged<Deps>(
	request: PreparedRequest<Deps>,
	deps: Deps,
	log: WriteAheadLog | undefined,
): Promise<INodeExecutionData[]> {
	request.lastCheck?.();
	if (log === undefined) return await request.send(deps);
	const [target, payload] = [targetOf(request), loggedPayload(request)];
	const isBegun = await log.begin(target, payload);
	if (isBegun && request.idempotencyKey === undefined) throw begunEarlier(request);
	return await request.send(deps).catch(async (error: unknown) => {
		const mayBeSent = !(error instanceof ExplainedError) || error instanceof OutcomeUnknown;
		if (mayBeSent) throw error;
		if (isBegun) throw failedRepeat(error);
		await log.release(target, payload);
		throw error;
	});
}

function unknownRecord(error: OutcomeUnknown, idempotencyKey?: string): IdempotencyRecord {
	const unknown = error.toStored();
	return idempotencyKey === undefined ? { unknown } : { unknown, key: payloadKey(idempotencyKey) };
}

function stillUnknown(error: ExplainedError): ExplainedError {
	return error instanceof OutcomeUnknown ? error : failedRepeat(error);
}

function begunRecord<Deps>(request: PreparedRequest<Deps>): IdempotencyRecord {
	return { unknown: begunEarlier(request).toStored(), logged: true };
}

type ToolRequests = {
	/** The latest request by subject. */
	inFlight: Map<string, { toolRequest: string; result: Promise<INodeExecutionData[]> }>;
	/** Completions by request, in this process. *Retry* starts from zero. */
	completedCounts: BoundedMap<number>;
	/** Sends requests for the same subject one after another, so that its record is that of the latest one. */
	inOrder: KeyedMutex;
};

const toolRequests = new WeakMap<IdempotencyRecords, ToolRequests>();

function toolRequestsOf(records: IdempotencyRecords): ToolRequests {
	const known = toolRequests.get(records) ?? {
		inFlight: new Map(),
		completedCounts: new BoundedMap(MAX_TOOL_REQUESTS),
		inOrder: new KeyedMutex(),
	};
	toolRequests.set(records, known);
	return known;
}
