import { shortFingerprint } from '../../hash';
import type { Limiter } from '../../keyedMutex';
import partition from 'lodash/partition';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { ExplainedError, OutcomeUnknown, type StoredUnknown } from '../../api/errors';
import { forEveryone, USER } from '../../api/modelAdvice';
import { isJsonObject, type JsonObject, parseJson } from '../../json';
import { BoundedMap } from '../../boundedMap';
import { ExecutionStore } from './executionStore';
import { noteCompleted, runsAsTool } from '../tools/toolRun';
import { openWriteAheadLog, type WriteAheadLog } from './writeAheadLog';

/** A checked request that must not be sent twice. */
export type PreparedRequest<Deps> = {
	/** The values to send. A later attempt recognizes the item by them. */
	payload: unknown;
	/**
	 * What the request changes, such as a phone number. As a tool, only the latest request for a subject blocks a
	 * repeat, so a number that was removed can be added again.
	 */
	subject?: unknown;
	/** Never repeated for the same item and person, even after an edit. */
	person?: unknown;
	/**
	 * The person or thing that the request is for, such as a chat session. Defaults to the person, the subject, or the
	 * payload. After n8n crashed, *Retry* compares the number of started requests per target.
	 */
	target?: unknown;
	/** Whether request it twice does the same as request it once. */
	idempotent?: boolean;
	/** Whether a model may repeat the request after it completed. Customers say "yes" twice. */
	repeatable?: boolean;
	/** The limit per agent run or MCP session, across all tools. */
	quota?: Quota;
	/** Checked before request, but not before a replay. Example: the scheduled time is in the future. */
	check?: () => void;
	/** Checked immediately before request, such as the calling hours. If it throws, the request wasn't started. */
	lastCheck?: () => void;
	/** Counts as sent, unless it throws an `ExplainedError` other than `OutcomeUnknown`. */
	send: (deps: Deps) => Promise<INodeExecutionData[]>;
	/** Adds the request, and how to check it, to an unknown outcome. */
	withDetails?: (error: OutcomeUnknown) => OutcomeUnknown;
	/**
	 * Searches the service for a request that an earlier attempt started.
	 *
	 * @param since when the execution started, in epoch milliseconds
	 * @throws OutcomeUnknown if it can't be found for certain
	 */
	find?: (deps: Deps, error: OutcomeUnknown, since: number) => Promise<INodeExecutionData[]>;
	/** Formats new and replayed output. What it adds isn't stored. */
	formatOutput?: (output: INodeExecutionData[]) => INodeExecutionData[];
	/**
	 * The output if the request deliberately wasn't sent, such as outside calling hours. Not stored, so the next attempt
	 * checks again.
	 */
	fallbackOutput?: (reason: unknown) => INodeExecutionData[] | undefined;
};

/** `unit`: a singular noun for messages, such as "call". */
export type Quota = { unit: string; max: number };

/** The model has used up its quota. */
export class QuotaExceeded extends ExplainedError {
	override readonly name = 'QuotaExceeded';
	override readonly isFinal = true;
	readonly outcome = 'not_sent';

	constructor({ unit, max }: Quota) {
		super(
			`Nothing was sent, because this run has used its limit of ${max} ${unit}${max === 1 ? '' : 's'}`,
			forEveryone(
				`Do not ask for another ${unit} now. Tell ${USER} what was done and what remains to be done.`,
			),
		);
	}
}

/**
 * The owner of a record: a tool request, with the `unit` of its quota, or an item, as "parameters/index/person" of
 * fingerprints.
 */
type RecordOwner = { tool_request?: string; unit?: string; item?: string };

/** The result of a request. `inProgress`: n8n stored the execution before the response arrived. */
type IdempotencyRecord = RecordOwner &
	({ completed: JsonObject[] } | { unknown: StoredUnknown } | { inProgress: true });
type IdempotencyRecords = { [request: string]: IdempotencyRecord };

/** Characters of output to store in full. Beyond that, only short fields such as IDs. */
const MAX_STORED_CHARACTERS = 1_000_000;
const SHORT_FIELD_CHARACTERS = 100;
/** For the few parameter sets, and persons per item, of an execution and its retries. */
const SHORT_KEY_LENGTH = 5;
/** 72 bits. */
const KEY_LENGTH = 12;
/** Tool requests to keep in a long MCP session: this many completed ones, and this many others. */
const MAX_TOOL_REQUESTS = 1_000;

/**
 * Sends each request of a node run at most once. Stores the results with the execution and replays them on
 * *Retry On Fail* and *Retry*. Requests that were rejected or never left n8n may be sent again.
 *
 * How an item finds its record:
 * - Same node parameters: by item index, because an expression such as `$now` changes the payload.
 * - Edited parameters: by item index and person if it completed, otherwise by payload and occurrence.
 * - As a tool: by payload, within one agent run or MCP session. Equal requests in flight share a result.
 */
export class IdempotencyHandler<Deps> {
	private readonly records: IdempotencyRecords;
	private readonly asTool: boolean;
	private readonly occurrences = new Map<string, number>();
	private readonly parameters: string;
	/** Record keys by item index, for the current node parameters. */
	private readonly keysByItem = new Map<string, string>();
	private readonly keysOfItems: Set<string>;
	/** Keys of completed records, by item index and person. */
	private readonly completedFor = new Map<string, string>();
	private storedCharacters: number;
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
		store.write(this.records);
		this.storedCharacters = JSON.stringify(this.records).length;
		this.parameters = shortFingerprint(context.getNode().parameters, SHORT_KEY_LENGTH);
		for (const [key, record] of Object.entries(this.records)) {
			const [parameters, index, person] = record.item?.split('/') ?? [];
			if (index === undefined) continue;
			if (parameters === this.parameters) this.keysByItem.set(index, key);
			if (person !== undefined && 'completed' in record)
				this.completedFor.set(`${index}/${person}`, key);
		}
		this.keysOfItems = new Set(this.keysByItem.values());
	}

	/** Whether no earlier attempt of this node run has a record. */
	get isFirstAttempt(): boolean {
		return Object.keys(this.records).length === 0;
	}

	/** Sends the request, or replays its stored result. Call this in the order of the items. */
	async run(
		request: PreparedRequest<Deps>,
		limiter: Limiter,
		index: number,
	): Promise<INodeExecutionData[]> {
		if (this.asTool) return await this.runAsTool(request, limiter);
		const key = this.keysByItem.get(String(index)) ?? this.nextKey(request);
		return await this.sendOrReplay(key, request, limiter, { item: this.ownerOf(request, index) });
	}

	/** Call this for every item before request. A completed record stays with its item and person after an edit. */
	matchEarlierItem(request: PreparedRequest<Deps>, index: number): void {
		const key = this.completedFor.get(itemKey(request, index));
		if (key === undefined || this.keysByItem.has(String(index))) return;
		this.keysByItem.set(String(index), key);
		this.keysOfItems.add(key);
	}

	/**
	 * Finds the items that an earlier attempt started and whose result n8n didn't store. Their outcome is unknown from
	 * then on. Call this on *Retry*, before the first item is sent.
	 */
	async findBegun(
		items: ReadonlyMap<number, PreparedRequest<Deps>>,
	): Promise<Map<number, OutcomeUnknown>> {
		const candidates = [...items].filter(
			([index, { idempotent }]) => idempotent !== true && !this.keysByItem.has(String(index)),
		);
		const begun = new Map<number, OutcomeUnknown>();
		const log = candidates.length === 0 ? undefined : await this.openLog();
		if (log === undefined) return begun;
		const isBegun = await log.findBegun(candidates.map(([, request]) => targetOf(request)));
		for (const [position, [index, request]] of candidates.entries()) {
			if (isBegun[position] !== true) continue;
			const error = begunEarlier(request);
			const key = this.nextKey(request);
			this.keysByItem.set(String(index), key);
			this.records[key] = { item: this.ownerOf(request, index), unknown: error.toStored() };
			begun.set(index, error);
		}
		return begun;
	}

	private async openLog(): Promise<WriteAheadLog | undefined> {
		return await (this.log ??= openWriteAheadLog(this.context));
	}

	private ownerOf(request: PreparedRequest<Deps>, index: number): string {
		return [this.parameters, itemKey(request, index)].join('/');
	}

	/** Numbers items with equal payloads, skipping records that belong to other items. */
	private nextKey({ payload }: PreparedRequest<Deps>): string {
		const key = payloadKey(payload);
		let occurrence = this.occurrences.get(key) ?? 0;
		while (this.keysOfItems.has(recordKey(key, occurrence))) occurrence++;
		this.occurrences.set(key, occurrence + 1);
		return recordKey(key, occurrence);
	}

	private async runAsTool(
		request: PreparedRequest<Deps>,
		limiter: Limiter,
	): Promise<INodeExecutionData[]> {
		const accounts = Object.values(this.context.getNode().credentials ?? {}).map(({ id }) => id);
		const toolRequest = payloadKey([accounts, request.payload]);
		const { inFlight, completedCounts } = toolRequestsOf(this.records);
		const repeatable = request.repeatable === true;
		const shared = inFlight.get(toolRequest);
		if (shared !== undefined) {
			const output = await shared;
			noteCompleted(this.context, { output, isReplay: true, repeatable });
			return output;
		}
		const subject = request.subject ?? request.payload;
		const occurrence = repeatable ? (completedCounts.get(toolRequest) ?? 0) : 0;
		const key = recordKey(payloadKey([accounts, subject]), occurrence);
		const isReplay = this.hasRecord(key, toolRequest);
		const result = this.sendOrReplay(key, request, limiter, {
			tool_request: toolRequest,
			...(request.quota && { unit: request.quota.unit }),
		});
		inFlight.set(toolRequest, result);
		try {
			const output = await result;
			if (repeatable) completedCounts.set(toolRequest, occurrence + 1);
			noteCompleted(this.context, { output, isReplay, repeatable });
			return output;
		} finally {
			inFlight.delete(toolRequest);
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
		const previous = this.records[key];
		if (previous !== undefined && this.hasRecord(key, owner.tool_request)) return replay(previous);
		request.check?.();
		const deps = await this.createDeps();
		const save = (record: IdempotencyRecord) => {
			this.records[key] = { ...owner, ...record };
		};
		return await limiter(async () => {
			this.requireQuota(request.quota);
			save({ inProgress: true });
			const output = await this.sendOrFind(request, deps).catch((error: unknown): never => {
				if (error instanceof OutcomeUnknown) save({ unknown: error.toStored() });
				else if (error instanceof ExplainedError) this.restore(key, previous);
				throw error;
			});
			save({ completed: output.map(({ json }) => this.toStored(json)) });
			return output;
		});
	}

	/** Doesn't send what an earlier attempt started. Searches for it if the request can be found. */
	private async sendOrFind(
		request: PreparedRequest<Deps>,
		deps: Deps,
	): Promise<INodeExecutionData[]> {
		request.lastCheck?.();
		const log = request.idempotent === true ? undefined : await this.openLog();
		if (log === undefined) return await request.send(deps);
		const target = targetOf(request);
		if (!(await log.begin(target))) {
			return await request.send(deps).catch(async (error: unknown) => {
				const mayBeSent = !(error instanceof ExplainedError) || error instanceof OutcomeUnknown;
				if (!mayBeSent) await log.release(target);
				throw error;
			});
		}
		const error = begunEarlier(request);
		if (request.find === undefined) throw error;
		return await request.find(deps, error, log.origin.startedAt);
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

	/** A copy that later nodes can't change. Complete until `MAX_STORED_CHARACTERS` is reached. */
	private toStored(json: INodeExecutionData['json']): JsonObject {
		const text = JSON.stringify(json);
		const whole = parseJson(text);
		if (!isJsonObject(whole)) return {};
		this.storedCharacters += text.length;
		if (this.storedCharacters <= MAX_STORED_CHARACTERS) return whole;
		const isLong = ([, value]: [string, unknown]) =>
			JSON.stringify(value).length > SHORT_FIELD_CHARACTERS;
		const short = Object.entries(whole).filter((entry) => !isLong(entry));
		const omitted = Object.entries(whole).filter(isLong);
		if (omitted.length === 0) return whole;
		return { ...Object.fromEntries(short), not_kept: omitted.map(([field]) => field) };
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

type ToolRequests = {
	inFlight: Map<string, Promise<INodeExecutionData[]>>;
	/** Completions by request, in this process. *Retry* starts from zero. */
	completedCounts: BoundedMap<number>;
};

const toolRequests = new WeakMap<IdempotencyRecords, ToolRequests>();

function toolRequestsOf(records: IdempotencyRecords): ToolRequests {
	const known = toolRequests.get(records) ?? {
		inFlight: new Map(),
		completedCounts: new BoundedMap(MAX_TOOL_REQUESTS),
	};
	toolRequests.set(records, known);
	return known;
}

function itemKey<Deps>({ person }: PreparedRequest<Deps>, index: number): string {
	if (person === undefined) return String(index);
	return `${index}/${shortFingerprint(person, SHORT_KEY_LENGTH)}`;
}

function targetOf<Deps>({ target, person, subject, payload }: PreparedRequest<Deps>): unknown {
	return target ?? person ?? subject ?? payload;
}

function begunEarlier<Deps>({ withDetails }: PreparedRequest<Deps>): OutcomeUnknown {
	const error = new OutcomeUnknown(
		'An earlier attempt of this execution may have sent this, and n8n has no record of the result',
		{
			onScreen: "It wasn't sent again. Check the service before you send it in a new execution.",
			forModel: 'It was not sent again.',
		},
		undefined,
		undefined,
		'n8n',
	);
	return withDetails?.(error) ?? error;
}

function recordKey(key: string, occurrence: number): string {
	return occurrence === 0 ? key : `${key}#${occurrence}`;
}

/** @throws OutcomeUnknown if the stored outcome is unknown */
function replay(record: IdempotencyRecord): INodeExecutionData[] {
	if ('completed' in record)
		return record.completed.map((json) => ({ json: structuredClone(json) }));
	if ('unknown' in record) throw OutcomeUnknown.fromStored(record.unknown);
	throw new OutcomeUnknown(
		'An earlier attempt sent this and was interrupted before the response arrived, so the outcome is unknown',
		{
			onScreen: "It wasn't sent again. Check the service before you send it in a new execution.",
			forModel: 'It was not sent again.',
		},
	);
}

function payloadKey(payload: unknown): string {
	return shortFingerprint(payload, KEY_LENGTH);
}

function areRecords(stored: unknown): stored is IdempotencyRecords {
	return isJsonObject(stored) && Object.values(stored).every(isRecord);
}

function isRecord(entry: unknown): boolean {
	if (!isJsonObject(entry)) return false;
	const { completed, unknown, inProgress, item, unit } = entry;
	if (unit !== undefined && typeof unit !== 'string') return false;
	if (item !== undefined && typeof item !== 'string') return false;
	if (Array.isArray(completed)) return completed.every(isJsonObject);
	if (isJsonObject(unknown)) {
		return typeof unknown.message === 'string' && typeof unknown.resolution === 'string';
	}
	return inProgress === true;
}
