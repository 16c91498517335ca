import { shortFingerprint } from '../hash';
import type { Turn } from '../inTurn';
import partition from 'lodash/partition';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { ExplainedError, OutcomeUnknown, type KeptUnknown } from '../api/errors';
import { forEveryone, USER } from '../api/modelAdvice';
import { isJsonObject, type JsonObject, parseJson } from '../json';
import { RecentIds } from '../recentIds';
import { ExecutionMemory } from './executionMemory';
import { noteDeed, runsAsTool } from './toolRun';
import { openWriteAheadLog, type WriteAheadLog } from './writeAheadLog';

/** Something that must not be sent twice: read and checked, and not sent yet. */
export type Sending<Desk> = {
	/** What would be sent, as plain values: by it an item is known again on a later try. */
	request: unknown;
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
	/** Whether the same wish of a model, once done, is a new one. People say "yes" twice. */
	repeatable?: boolean;
	/** How many of these a model gets in one run of its agent, or one session of its client, whichever tool it calls. */
	quota?: Quota;
	/** What holds before the first sending alone, such as a time that must lie ahead. */
	check?: () => void;
	/** Checked once more right before it is sent, such as the hour. What this rules out was never begun. */
	lastCheck?: () => void;
	/** From here on it counts as sent, unless an ExplainedError says that it was not. */
	send: (desk: Desk) => Promise<INodeExecutionData[]>;
	/** Names what was sent in an unknown outcome, and how to find out. */
	withDetails?: (error: OutcomeUnknown) => OutcomeUnknown;
	/**
	 * Looks for a request of which only the beginning is known.
	 *
	 * @param since when the execution started, in epoch milliseconds
	 * @throws OutcomeUnknown if it can't be found for certain
	 */
	find?: (desk: Desk, error: OutcomeUnknown, since: number) => Promise<INodeExecutionData[]>;
	/** How what was sent comes out, by whichever try: what this adds is not kept with the execution. */
	shown?: (output: INodeExecutionData[]) => INodeExecutionData[];
	/** What comes out where it was meant not to be sent; nothing of that is kept, and a later try looks again. */
	unsent?: (reason: unknown) => INodeExecutionData[] | undefined;
};

/** `of` names in words what is counted: "call". */
export type Quota = { of: string; most: number };

/** A model has had what it may have. */
export class QuotaUsed extends ExplainedError {
	override readonly name = 'QuotaUsed';
	override readonly isFinal = true;
	readonly outcome = 'notSent';

	constructor({ of, most }: Quota) {
		const all = most === 1 ? `1 ${of}, which was` : `${most} ${of}s, which were`;
		super(
			`Nothing was sent: this run may make ${all} made already`,
			forEveryone(`Do not ask for another ${of} now. Tell ${USER} what was done and what is left.`),
		);
	}
}

/** Whose a record is: a model's wish (`of`, and its `kind` where those are counted), or a row: under the parameters of its time, at its place, for its person. */
type Tag = { of?: string; row?: string; kind?: string };

/** What became of a request; `sent` is one whose answer had not come when the record was stored. */
type Settled = Tag & ({ done: JsonObject[] } | { unknown: KeptUnknown } | { sent: true });
type Ledger = { [request: string]: Settled };

/** Characters of answers that are kept whole; of what comes after them only what is short, such as IDs. */
const MOST_KEPT = 1_000_000;
const SHORT = 100;
/** Enough to tell apart the few sets of parameters, and persons of one item, that an execution and its retries see. */
const SHORT_NAME = 5;
/** 72 bits, and small beside the answer that is kept under it. */
const NAME = 12;
/** Wishes that a long session of an MCP client keeps in this process: so many done ones, and so many whose fate is open. */
const MOST_WISHES = 1_000;

/**
 * What was sent in one run of a node, kept with the execution: what took effect, or may have, is
 * answered from here and never sent a second time, neither by *Retry On Fail* nor by *Retry* in the
 * list of executions. What was refused or never left may go again.
 *
 * As long as the node's parameters stay, a row is known by its place: an expression such as `$now` gives
 * another request on each try. After an edit it is known by its place and its person where it was done, and
 * else by its request, rows with the same one by their order. From a model the same request is the same
 * wish: it is done once for one run of its agent, and those under way share one result.
 */
export class OnceLedger<Desk> {
	private readonly ledger: Ledger;
	private readonly asTool: boolean;
	private readonly rows = new Map<string, number>();
	private readonly parameters: string;
	/** Names of the records of rows, by their place, under the parameters of now. */
	private readonly places = new Map<string, string>();
	private readonly ofOthers: Set<string>;
	/** Names of what was done, by its row's place and person. */
	private readonly doneFor = new Map<string, string>();
	private kept: number;
	private log: Promise<WriteAheadLog | undefined> | undefined;

	/**
	 * @param open what every sending needs, such as the connection; nothing was sent while it fails
	 * @throws InvalidInput where an earlier try's record cannot be read
	 */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly open: () => Promise<Desk>,
	) {
		this.asTool = runsAsTool(context);
		const place = this.asTool ? 'workflow' : 'node';
		const memory = new ExecutionMemory<Ledger>(context, 'sent', isLedger, place);
		this.ledger = memory.read() ?? {};
		memory.write(this.ledger);
		this.kept = JSON.stringify(this.ledger).length;
		this.parameters = shortFingerprint(context.getNode().parameters, SHORT_NAME);
		for (const [name, settled] of Object.entries(this.ledger)) {
			const [parameters, place, person] = settled.row?.split('/') ?? [];
			if (place === undefined) continue;
			if (parameters === this.parameters) this.places.set(place, name);
			if (person !== undefined && 'done' in settled) this.doneFor.set(`${place}/${person}`, name);
		}
		this.ofOthers = new Set(this.places.values());
	}

	/** Whether no earlier try of this run has sent anything. */
	get isFirstTry(): boolean {
		return Object.keys(this.ledger).length === 0;
	}

	/** To be called for the items in their order. */
	async once(sending: Sending<Desk>, turn: Turn, index: number): Promise<INodeExecutionData[]> {
		if (this.asTool) return await this.onceAsTool(sending, turn);
		const name = this.places.get(String(index)) ?? this.nextRow(sending);
		return await this.settle(name, sending, turn, { row: this.rowOf(sending, index) });
	}

	/** To be told of each item before the first is sent again: after an edit, what was done for its person is still its own. */
	recognize(sending: Sending<Desk>, index: number): void {
		const name = this.doneFor.get(placeOf(sending, index));
		if (name === undefined || this.places.has(String(index))) return;
		this.places.set(String(index), name);
		this.ofOthers.add(name);
	}

	/**
	 * To be called on *Retry* before the first item is sent: of these items, those that an earlier attempt has begun
	 * and whose result n8n didn't store. From then on their outcome is unknown.
	 */
	async findBegun(items: ReadonlyMap<number, Sending<Desk>>): Promise<Map<number, OutcomeUnknown>> {
		const open = [...items].filter(
			([index, { idempotent }]) => idempotent !== true && !this.places.has(String(index)),
		);
		const begun = new Map<number, OutcomeUnknown>();
		const log = open.length === 0 ? undefined : await this.openLog();
		if (log === undefined) return begun;
		const isBegun = await log.findBegun(open.map(([, sending]) => targetOf(sending)));
		for (const [place, [index, sending]] of open.entries()) {
			if (isBegun[place] !== true) continue;
			const error = begunEarlier(sending);
			const name = this.nextRow(sending);
			this.places.set(String(index), name);
			this.ledger[name] = { row: this.rowOf(sending, index), unknown: error.kept() };
			begun.set(index, error);
		}
		return begun;
	}

	private async openLog(): Promise<WriteAheadLog | undefined> {
		return await (this.log ??= openWriteAheadLog(this.context));
	}

	private rowOf(sending: Sending<Desk>, index: number): string {
		return [this.parameters, placeOf(sending, index)].join('/');
	}

	/** Rows that would send the same count on, past the records that are of other rows for sure. */
	private nextRow({ request }: Sending<Desk>): string {
		const name = nameOf(request);
		let nth = this.rows.get(name) ?? 0;
		while (this.ofOthers.has(nextName(name, nth))) nth++;
		this.rows.set(name, nth + 1);
		return nextName(name, nth);
	}

	private async onceAsTool(sending: Sending<Desk>, turn: Turn): Promise<INodeExecutionData[]> {
		const accounts = Object.values(this.context.getNode().credentials ?? {}).map(({ id }) => id);
		const wish = nameOf([accounts, sending.request]);
		const { underWay, timesDone } = wishesOf(this.ledger);
		const repeatable = sending.repeatable === true;
		const shared = underWay.get(wish);
		if (shared !== undefined) {
			const output = await shared;
			noteDeed(this.context, { output, repeated: true, repeatable });
			return output;
		}
		const subject = sending.subject ?? sending.request;
		const nth = repeatable ? (timesDone.get(wish) ?? 0) : 0;
		const name = nextName(nameOf([accounts, subject]), nth);
		const repeated = this.isSettled(name, wish);
		const settling = this.settle(name, sending, turn, {
			of: wish,
			...(sending.quota && { kind: sending.quota.of }),
		});
		underWay.set(wish, settling);
		try {
			const output = await settling;
			if (repeatable) timesDone.set(wish, nth + 1);
			noteDeed(this.context, { output, repeated, repeatable });
			return output;
		} finally {
			underWay.delete(wish);
			this.forgetOldest();
		}
	}

	private isSettled(name: string, of: string | undefined): boolean {
		const settled = this.ledger[name];
		return settled !== undefined && settled.of === of;
	}

	private async settle(
		name: string,
		sending: Sending<Desk>,
		turn: Turn,
		tag: Tag,
	): Promise<INodeExecutionData[]> {
		const before = this.ledger[name];
		if (before !== undefined && this.isSettled(name, tag.of)) return replay(before);
		sending.check?.();
		const desk = await this.open();
		const note = (settled: Settled) => {
			this.ledger[name] = { ...tag, ...settled };
		};
		return await turn(async () => {
			this.demandRoom(sending.quota);
			note({ sent: true });
			const output = await this.sendOrFind(sending, desk).catch((error: unknown): never => {
				if (error instanceof OutcomeUnknown) note({ unknown: error.kept() });
				else if (error instanceof ExplainedError) this.restore(name, before);
				throw error;
			});
			note({ done: output.map(({ json }) => this.keep(json)) });
			return output;
		});
	}

	/** What an earlier attempt has begun, and n8n has no result of, is not sent again. */
	private async sendOrFind(sending: Sending<Desk>, desk: Desk): Promise<INodeExecutionData[]> {
		sending.lastCheck?.();
		const log = sending.idempotent === true ? undefined : await this.openLog();
		if (log === undefined) return await sending.send(desk);
		const target = targetOf(sending);
		if (!(await log.begin(target))) {
			return await sending.send(desk).catch(async (error: unknown) => {
				const isDone = !(error instanceof ExplainedError) || error instanceof OutcomeUnknown;
				if (!isDone) await log.release(target);
				throw error;
			});
		}
		const error = begunEarlier(sending);
		if (sending.find === undefined) throw error;
		return await sending.find(desk, error, log.origin.startedAt);
	}

	/** What was refused or never left is not in the ledger, so it does not count. */
	private demandRoom(quota: Quota | undefined): void {
		if (quota === undefined || !this.asTool) return;
		const made = Object.values(this.ledger).filter(({ kind }) => kind === quota.of);
		if (made.length >= quota.most) throw new QuotaUsed(quota);
	}

	private restore(name: string, before: Settled | undefined): void {
		if (before === undefined) Reflect.deleteProperty(this.ledger, name);
		else this.ledger[name] = before;
	}

	/** A copy that later nodes cannot change, whole as long as there is room. */
	private keep(json: INodeExecutionData['json']): JsonObject {
		const text = JSON.stringify(json);
		const whole = parseJson(text);
		if (!isJsonObject(whole)) return {};
		this.kept += text.length;
		if (this.kept <= MOST_KEPT) return whole;
		const isLong = ([, value]: [string, unknown]) => JSON.stringify(value).length > SHORT;
		const short = Object.entries(whole).filter((entry) => !isLong(entry));
		const left = Object.entries(whole).filter(isLong);
		if (left.length === 0) return whole;
		return { ...Object.fromEntries(short), not_kept: left.map(([field]) => field) };
	}

	/** What is done makes no room for what may have been, nor the other way round. */
	private forgetOldest(): void {
		const names = Object.keys(this.ledger);
		const isDone = (name: string) => 'done' in (this.ledger[name] ?? {});
		for (const kind of partition(names, isDone)) {
			const [oldest] = kind;
			if (kind.length > MOST_WISHES && oldest !== undefined) this.restore(oldest, undefined);
		}
	}
}

type Wishes = {
	underWay: Map<string, Promise<INodeExecutionData[]>>;
	/** How often each was done since this process holds the ledger: after *Retry* the count begins anew. */
	timesDone: RecentIds<number>;
};

const wishes = new WeakMap<Ledger, Wishes>();

function wishesOf(ledger: Ledger): Wishes {
	const known = wishes.get(ledger) ?? {
		underWay: new Map(),
		timesDone: new RecentIds(MOST_WISHES),
	};
	wishes.set(ledger, known);
	return known;
}

function placeOf<Desk>({ person }: Sending<Desk>, index: number): string {
	if (person === undefined) return String(index);
	return `${index}/${shortFingerprint(person, SHORT_NAME)}`;
}

function targetOf<Desk>({ target, person, subject, request }: Sending<Desk>): unknown {
	return target ?? person ?? subject ?? request;
}

function begunEarlier<Desk>({ withDetails }: Sending<Desk>): OutcomeUnknown {
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

function nextName(name: string, nth: number): string {
	return nth === 0 ? name : `${name}#${nth}`;
}

/** @throws OutcomeUnknown where what became of it is not known */
function replay(settled: Settled): INodeExecutionData[] {
	if ('done' in settled) return settled.done.map((json) => ({ json: structuredClone(json) }));
	if ('unknown' in settled) throw OutcomeUnknown.from(settled.unknown);
	throw new OutcomeUnknown(
		'An earlier try sent this and was interrupted before the answer came, so it is not known whether the request took effect',
		{
			onScreen:
				'It was not sent a second time. Look in the service whether it arrived before you send it in a new execution.',
			forModel: 'It was not sent a second time.',
		},
	);
}

function nameOf(wish: unknown): string {
	return shortFingerprint(wish, NAME);
}

function isLedger(stored: unknown): stored is Ledger {
	return isJsonObject(stored) && Object.values(stored).every(isSettledEntry);
}

function isSettledEntry(entry: unknown): boolean {
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
