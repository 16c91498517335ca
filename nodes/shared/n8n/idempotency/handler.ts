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

/** Something that must not be sent twice: read and checked, and not sent yet. */
export type PreparedRequest<Deps> = {
	/** What would be sent, as plain values: by it an item is known again on a later try. */
	payload: unknown;
	/**
	 * What it changes, where wishes can undo one another: as a tool only the last one for the same
	 * subject counts, so that a number taken off a list may be put on it again.
	 */
	subject?: unknown;
	/** Whom it concerns: once it is done for an item, it is not done for that item and them again, whatever was edited. */
	person?: unknown;
	/**
	 * Who or what the request is for, such as a chat session: the person or the subject if omitted, or else the
	 * whole request. After a crash of n8n, the n-th request for it counts as the one that was begun.
	 */
	target?: unknown;
	/** Whether sending it twice does the same as sending it once. */
	idempotent?: boolean;
	/** Whether a model may repeat the request after it completed. Customers say "yes" twice. */
	repeatable?: boolean;
	/** How many of these a model gets in one run of its agent, or one session of its client, whichever tool it calls. */
	quota?: Quota;
	/** What holds before the first sending alone, such as a time that must lie ahead. */
	check?: () => void;
	/** Checked once more right before it is sent, such as the hour. What this rules out was never begun. */
	lastCheck?: () => void;
	/** From here on it counts as sent, unless an ExplainedError says that it was not. */
	send: (deps: Deps) => Promise<INodeExecutionData[]>;
	/** Names what was sent in an unknown outcome, and how to find out. */
	withDetails?: (error: OutcomeUnknown) => OutcomeUnknown;
	/**
	 * Looks for a request of which only the beginning is known.
	 *
	 * @param since when the execution started, in epoch milliseconds
	 * @throws OutcomeUnknown if it can't be found for certain
	 */
	find?: (deps: Deps, error: OutcomeUnknown, since: number) => Promise<INodeExecutionData[]>;
	/** How what was sent comes out, by whichever try: what this adds is not kept with the execution. */
	formatOutput?: (output: INodeExecutionData[]) => INodeExecutionData[];
	/** What comes out where it was meant not to be sent; nothing of that is kept, and a later try looks again. */
	fallbackOutput?: (reason: unknown) => INodeExecutionData[] | undefined;
};

/** `of` names in words what is counted: "call". */
export type Quota = { unit: string; max: number };

/** A model has had what it may have. */
export class QuotaExceeded extends ExplainedError {
	override readonly name = 'QuotaUsed';
	override readonly isFinal = true;
	readonly outcome = 'not_sent';

	constructor({ unit, max }: Quota) {
		const all = max === 1 ? `1 ${unit}, which was` : `${max} ${unit}s, which were`;
		super(
			`Nothing was sent: this run may make ${all} made already`,
			forEveryone(
				`Do not ask for another ${unit} now. Tell ${USER} what was done and what is left.`,
			),
		);
	}
}

/** Whose a record is: a tool request (`of`, and its `kind` where those are counted), or a row: under the parameters of its time, at its place, for its person. */
type RecordOwner = { of?: string; row?: string; kind?: string };

/** What became of a request; `sent` is one whose answer had not come when the record was stored. */
type IdempotencyRecord = RecordOwner &
	({ done: JsonObject[] } | { unknown: StoredUnknown } | { sent: true });
type IdempotencyRecords = { [request: string]: IdempotencyRecord };

/** Characters of answers that are kept whole; of what comes after them only what is short, such as IDs. */
const MAX_STORED_CHARACTERS = 1_000_000;
const SHORT_FIELD_CHARACTERS = 100;
/** Enough to tell apart the few sets of parameters, and persons of one item, that an execution and its retries see. */
const SHORT_KEY_LENGTH = 5;
/** 72 bits, and small beside the answer that is kept under it. */
const KEY_LENGTH = 12;
/** Tool requests to keep in a long MCP session: this many completed ones, and this many others. */
const MAX_TOOL_REQUESTS = 1_000;

/**
 * What was sent in one run of a node, kept with the execution: what took effect, or may have, is
 * answered from here and never sent a second time, neither by *Retry On Fail* nor by *Retry* in the
 * list of executions. What was rejected or never left may go again.
 *
 * As long as the node's parameters stay, a row is known by its place: an expression such as `$now` gives
 * another request on each try. After an edit it is known by its place and its person where it was done, and
 * else by its request, rows with the same one by their order. As a tool, the same request is
 * sent once per agent run or MCP session, and equal requests in flight share one result.
 */
export class IdempotencyHandler<Deps> {
	private readonly records: IdempotencyRecords;
	private readonly asTool: boolean;
	private readonly occurrences = new Map<string, number>();
	private readonly parameters: string;
	/** Names of the records of rows, by their place, under the parameters of now. */
	private readonly keysByItem = new Map<string, string>();
	private readonly keysOfItems: Set<string>;
	/** Names of what was done, by its row's place and person. */
	private readonly completedFor = new Map<string, string>();
	private storedCharacters: number;
	private log: Promise<WriteAheadLog | undefined> | undefined;

	/**
	 * @param createDeps what every sending needs, such as the connection; nothing was sent while it fails
	 * @throws InvalidInput where an earlier try's record cannot be read
	 */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly createDeps: () => Promise<Deps>,
	) {
		this.asTool = runsAsTool(context);
		const place = this.asTool ? 'workflow' : 'node';
		const memory = new ExecutionStore<IdempotencyRecords>(context, 'sent', areRecords, place);
		this.records = memory.read() ?? {};
		memory.write(this.records);
		this.storedCharacters = JSON.stringify(this.records).length;
		this.parameters = shortFingerprint(context.getNode().parameters, SHORT_KEY_LENGTH);
		for (const [name, record] of Object.entries(this.records)) {
			const [parameters, place, person] = record.row?.split('/') ?? [];
			if (place === undefined) continue;
			if (parameters === this.parameters) this.keysByItem.set(place, name);
			if (person !== undefined && 'done' in record)
				this.completedFor.set(`${place}/${person}`, name);
		}
		this.keysOfItems = new Set(this.keysByItem.values());
	}

	/** Whether no earlier try of this run has sent anything. */
	get isFirstAttempt(): boolean {
		return Object.keys(this.records).length === 0;
	}

	/** To be called for the items in their order. */
	async run(
		sending: PreparedRequest<Deps>,
		turn: Limiter,
		index: number,
	): Promise<INodeExecutionData[]> {
		if (this.asTool) return await this.runAsTool(sending, turn);
		const name = this.keysByItem.get(String(index)) ?? this.nextKey(sending);
		return await this.settle(name, sending, turn, { row: this.ownerOf(sending, index) });
	}

	/** To be told of each item before the first is sent again: after an edit, what was done for its person is still its own. */
	matchEarlierItem(sending: PreparedRequest<Deps>, index: number): void {
		const name = this.completedFor.get(itemKey(sending, index));
		if (name === undefined || this.keysByItem.has(String(index))) return;
		this.keysByItem.set(String(index), name);
		this.keysOfItems.add(name);
	}

	/**
	 * To be called on *Retry* before the first item is sent: of these items, those that an earlier attempt has begun
	 * and whose result n8n didn't store. From then on their outcome is unknown.
	 */
	async findBegun(
		items: ReadonlyMap<number, PreparedRequest<Deps>>,
	): Promise<Map<number, OutcomeUnknown>> {
		const open = [...items].filter(
			([index, { idempotent }]) => idempotent !== true && !this.keysByItem.has(String(index)),
		);
		const begun = new Map<number, OutcomeUnknown>();
		const log = open.length === 0 ? undefined : await this.openLog();
		if (log === undefined) return begun;
		const isBegun = await log.findBegun(open.map(([, sending]) => targetOf(sending)));
		for (const [place, [index, sending]] of open.entries()) {
			if (isBegun[place] !== true) continue;
			const error = begunEarlier(sending);
			const name = this.nextKey(sending);
			this.keysByItem.set(String(index), name);
			this.records[name] = { row: this.ownerOf(sending, index), unknown: error.toStored() };
			begun.set(index, error);
		}
		return begun;
	}

	private async openLog(): Promise<WriteAheadLog | undefined> {
		return await (this.log ??= openWriteAheadLog(this.context));
	}

	private ownerOf(sending: PreparedRequest<Deps>, index: number): string {
		return [this.parameters, itemKey(sending, index)].join('/');
	}

	/** Rows that would send the same count on, past the records that are of other rows for sure. */
	private nextKey({ payload }: PreparedRequest<Deps>): string {
		const name = payloadKey(payload);
		let nth = this.occurrences.get(name) ?? 0;
		while (this.keysOfItems.has(recordKey(name, nth))) nth++;
		this.occurrences.set(name, nth + 1);
		return recordKey(name, nth);
	}

	private async runAsTool(
		sending: PreparedRequest<Deps>,
		turn: Limiter,
	): Promise<INodeExecutionData[]> {
		const accounts = Object.values(this.context.getNode().credentials ?? {}).map(({ id }) => id);
		const toolRequest = payloadKey([accounts, sending.payload]);
		const { inFlight, completedCounts } = toolRequestsOf(this.records);
		const repeatable = sending.repeatable === true;
		const shared = inFlight.get(toolRequest);
		if (shared !== undefined) {
			const output = await shared;
			noteCompleted(this.context, { output, isReplay: true, repeatable });
			return output;
		}
		const subject = sending.subject ?? sending.payload;
		const nth = repeatable ? (completedCounts.get(toolRequest) ?? 0) : 0;
		const name = recordKey(payloadKey([accounts, subject]), nth);
		const isReplay = this.isSettled(name, toolRequest);
		const settling = this.settle(name, sending, turn, {
			of: toolRequest,
			...(sending.quota && { kind: sending.quota.unit }),
		});
		inFlight.set(toolRequest, settling);
		try {
			const output = await settling;
			if (repeatable) completedCounts.set(toolRequest, nth + 1);
			noteCompleted(this.context, { output, isReplay, repeatable });
			return output;
		} finally {
			inFlight.delete(toolRequest);
			this.evictOldest();
		}
	}

	private isSettled(name: string, of: string | undefined): boolean {
		const record = this.records[name];
		return record !== undefined && record.of === of;
	}

	private async settle(
		name: string,
		sending: PreparedRequest<Deps>,
		turn: Limiter,
		tag: RecordOwner,
	): Promise<INodeExecutionData[]> {
		const before = this.records[name];
		if (before !== undefined && this.isSettled(name, tag.of)) return replay(before);
		sending.check?.();
		const deps = await this.createDeps();
		const note = (record: IdempotencyRecord) => {
			this.records[name] = { ...tag, ...record };
		};
		return await turn(async () => {
			this.requireQuota(sending.quota);
			note({ sent: true });
			const output = await this.sendOrFind(sending, deps).catch((error: unknown): never => {
				if (error instanceof OutcomeUnknown) note({ unknown: error.toStored() });
				else if (error instanceof ExplainedError) this.restore(name, before);
				throw error;
			});
			note({ done: output.map(({ json }) => this.toStored(json)) });
			return output;
		});
	}

	/** What an earlier attempt has begun, and n8n has no result of, is not sent again. */
	private async sendOrFind(
		sending: PreparedRequest<Deps>,
		deps: Deps,
	): Promise<INodeExecutionData[]> {
		sending.lastCheck?.();
		const log = sending.idempotent === true ? undefined : await this.openLog();
		if (log === undefined) return await sending.send(deps);
		const target = targetOf(sending);
		if (!(await log.begin(target))) {
			return await sending.send(deps).catch(async (error: unknown) => {
				const isDone = !(error instanceof ExplainedError) || error instanceof OutcomeUnknown;
				if (!isDone) await log.release(target);
				throw error;
			});
		}
		const error = begunEarlier(sending);
		if (sending.find === undefined) throw error;
		return await sending.find(deps, error, log.origin.startedAt);
	}

	/** Rejected and unsent requests have no record, so they don't count. */
	private requireQuota(quota: Quota | undefined): void {
		if (quota === undefined || !this.asTool) return;
		const made = Object.values(this.records).filter(({ kind }) => kind === quota.unit);
		if (made.length >= quota.max) throw new QuotaExceeded(quota);
	}

	private restore(name: string, before: IdempotencyRecord | undefined): void {
		if (before === undefined) Reflect.deleteProperty(this.records, name);
		else this.records[name] = before;
	}

	/** A copy that later nodes cannot change, whole as long as there is room. */
	private toStored(json: INodeExecutionData['json']): JsonObject {
		const text = JSON.stringify(json);
		const whole = parseJson(text);
		if (!isJsonObject(whole)) return {};
		this.storedCharacters += text.length;
		if (this.storedCharacters <= MAX_STORED_CHARACTERS) return whole;
		const isLong = ([, value]: [string, unknown]) =>
			JSON.stringify(value).length > SHORT_FIELD_CHARACTERS;
		const short = Object.entries(whole).filter((entry) => !isLong(entry));
		const left = Object.entries(whole).filter(isLong);
		if (left.length === 0) return whole;
		return { ...Object.fromEntries(short), not_kept: left.map(([field]) => field) };
	}

	/** What is done makes no room for what may have been, nor the other way round. */
	private evictOldest(): void {
		const names = Object.keys(this.records);
		const isDone = (name: string) => 'done' in (this.records[name] ?? {});
		for (const kind of partition(names, isDone)) {
			const [oldest] = kind;
			if (kind.length > MAX_TOOL_REQUESTS && oldest !== undefined) this.restore(oldest, undefined);
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
			onScreen: 'It was not sent again. Check the service before you send it in a new execution.',
			forModel: 'It was not sent again.',
		},
		undefined,
		undefined,
		'n8n',
	);
	return withDetails?.(error) ?? error;
}

function recordKey(name: string, nth: number): string {
	return nth === 0 ? name : `${name}#${nth}`;
}

/** @throws OutcomeUnknown where what became of it is not known */
function replay(record: IdempotencyRecord): INodeExecutionData[] {
	if ('done' in record) return record.done.map((json) => ({ json: structuredClone(json) }));
	if ('unknown' in record) throw OutcomeUnknown.fromStored(record.unknown);
	throw new OutcomeUnknown(
		'An earlier try sent this and was interrupted before the answer came, so it is not known whether the request took effect',
		{
			onScreen:
				'It was not sent a second time. Look in the service whether it arrived before you send it in a new execution.',
			forModel: 'It was not sent a second time.',
		},
	);
}

function payloadKey(toolRequest: unknown): string {
	return shortFingerprint(toolRequest, KEY_LENGTH);
}

function areRecords(stored: unknown): stored is IdempotencyRecords {
	return isJsonObject(stored) && Object.values(stored).every(isRecord);
}

function isRecord(entry: unknown): boolean {
	if (!isJsonObject(entry)) return false;
	const { done, unknown, sent, row, kind } = entry;
	if (kind !== undefined && typeof kind !== 'string') return false;
	if (row !== undefined && typeof row !== 'string') return false;
	if (Array.isArray(done)) return done.every(isJsonObject);
	if (isJsonObject(unknown)) {
		return typeof unknown.message === 'string' && typeof unknown.resolution === 'string';
	}
	return sent === true;
}
