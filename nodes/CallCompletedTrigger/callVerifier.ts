import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { CLOSING_MS, triggerKey } from '../shared/n8n/triggers/activeTriggers';
import { clock, createAccountClient, type AccountClient } from '../shared/n8n/http/accountClient';
import { Batcher, RareNotice } from '../shared/n8n/triggers/notices';
import { toNodeError } from '../shared/n8n/run/nodeErrors';
import type { OutcomeKeys } from '../shared/calls/callEnd';
import { isUnknownCall, readCompletedCall, type ReadBack } from '../shared/calls/readBack';
import { callKey } from '../shared/calls/report';
import type { ExplainedError } from '../shared/api/errors';
import { type Clock, pause, settledOrTimeout } from '../shared/clock';
import type { JsonObject } from '../shared/json';
import { outcomeKeysOf } from './outcomeKeys';
import { budgetOf, type ReadBudget } from './readBudget';
import {
	notFinished,
	unverifiedMessages,
	overBudget,
	rejected,
	type Unverified,
} from './unverified';

/** How long to keep reading a call after its latest report, if it can't be read or shows no end. */
const GIVE_UP_AFTER_MS = 5 * 60_000;

/** Reports of the same call that may wait for its record, so that forged ones don't fill the memory. */
const MAX_REPORTS_WAITING = 100;

/** Calls that are being verified. Most of them wait. */
const MAX_IN_FLIGHT = 5_000;

/** How long to use an API client. n8n creates a sandbox for each decryption of a credential. */
const CLIENT_LIFETIME_MS = 30_000;

type Verified = { record: JsonObject };

/** Reads a call until it shows its end. Reports of the same call share a reading. */
class Reading {
	private until = 0;
	private reports = 0;

	constructor(readonly callId: string) {
		this.restart();
	}

	/** Adds a report. @returns false if too many others wait already */
	join(): boolean {
		this.restart();
		return ++this.reports <= MAX_REPORTS_WAITING;
	}

	/** The time limit starts again, because earlier reports may have been premature or forged. */
	restart(): void {
		this.until = clock.elapsed() + GIVE_UP_AFTER_MS;
	}

	mayWait(ms: number): boolean {
		return clock.elapsed() + ms <= this.until;
	}
}

type ReadOptions = Pick<ReadBack, 'included' | 'finished' | 'isFormer' | 'onEnded' | 'mayWait'>;

/** Thrown if the trigger is closed while a call is being verified. */
export class Closed extends Error {}

/**
 * Verifies completed calls by reading them from the service. Outlives the requests that report them: n8n keeps a sandbox
 * for each request, so requests must be short, and the sender may close its connection.
 */
export class CallVerifier {
	/** The readings in progress, with their results. */
	private readonly inFlight = new Map<Reading, Promise<Verified>>();
	/** By call, or by the outcome that another one is waited for: the reading that another report joins. */
	private readonly shared = new Map<string, Reading>();
	private readonly closing = new AbortController();
	private readonly unverified = new Batcher<Unverified>(this.closing.signal, (calls) => {
		for (const error of unverifiedMessages(calls)) this.notifyOwner(error);
	});
	private readonly delayed = new RareNotice<null>(this.closing.signal, (times) =>
		this.notifyOwner(overBudget(times)),
	);
	private readonly rejected = new RareNotice<null>(this.closing.signal, (times) =>
		this.notifyOwner(rejected(times, MAX_IN_FLIGHT)),
	);
	private connection: { opened: Promise<AccountClient>; at: number } | undefined;

	private readonly budget: ReadBudget;

	private readonly keys: OutcomeKeys;

	constructor(private readonly context: ITriggerFunctions | IWebhookFunctions) {
		this.budget = budgetOf(triggerKey(context));
		this.keys = outcomeKeysOf(context);
	}

	get isFull(): boolean {
		return this.inFlight.size >= MAX_IN_FLIGHT;
	}

	/**
	 * Reads a call until its record shows an end. Reports of the same call share the reading, and each one restarts its
	 * time limit.
	 *
	 * @param former waits for another outcome than that of this record. Shared only by reports that wait for it, so that a
	 * forged one doesn't delay others
	 * @returns the result, and whether this report started the reading. Undefined if too many reports wait for it.
	 */
	verify(
		callId: string,
		{ included, finished }: Pick<ReadBack, 'included' | 'finished'>,
		former?: JsonObject,
	): { verified: Promise<Verified>; isFirst: boolean } | undefined {
		const formerKey = former && this.keys.keyOf(callId, former);
		const key = formerKey ?? callKey(callId);
		const existing = this.shared.get(key);
		const result = existing && this.inFlight.get(existing);
		if (existing !== undefined && result !== undefined) {
			return existing.join() ? { verified: result, isFirst: false } : undefined;
		}
		const reading = new Reading(callId);
		reading.join();
		const onEnded = () => {
			this.budget.noteRead(callId);
			if (this.shared.get(key) === reading) this.shared.delete(key);
		};
		// A report that arrives after the last attempt starts a new reading.
		const mayWait = (ms: number) => {
			const isInTime = reading.mayWait(ms);
			if (!isInTime) onEnded();
			return isInTime;
		};
		const onSettled = () => {
			onEnded();
			this.inFlight.delete(reading);
		};
		this.shared.set(key, reading);
		const isFormer = (record: JsonObject) => this.keys.keyOf(callId, record) === formerKey;
		const options = { included, finished, isFormer, onEnded, mayWait };
		const verified = this.read(reading, options, onSettled);
		this.inFlight.set(reading, verified);
		return { verified, isFirst: true };
	}

	/** Notifies the workflow's owner that a report was rejected, because too many others were waiting. */
	noteRejected(): void {
		this.rejected.add(null);
	}

	/** Notifies the workflow's owner of a call that couldn't be verified. */
	couldNotVerify(callId: string, error: unknown): void {
		if (!(error instanceof Closed)) this.unverified.add({ callId, error });
	}

	/** Finishes what it can while n8n waits, and notifies the owner of the rest. */
	async close(): Promise<void> {
		const all = Promise.allSettled(this.inFlight.values());
		await settledOrTimeout(clock, CLOSING_MS, all);
		const rest = [...new Set([...this.inFlight.keys()].map(({ callId }) => callId))];
		this.closing.abort();
		if (rest.length > 0) this.notifyOwner(notFinished(rest));
	}

	private notifyOwner(error: ExplainedError): void {
		const { context } = this;
		if ('saveFailedExecution' in context) {
			context.saveFailedExecution(toNodeError(context.getNode(), error));
		} else {
			context.logger.error(error.message);
		}
	}

	private async read(reading: Reading, options: ReadOptions, onEnd: () => void): Promise<Verified> {
		const record = this.readRecord(reading, options);
		await Promise.allSettled([record]);
		// Synchronously, so that each call is either passed on or reported by close().
		onEnd();
		if (this.closing.signal.aborted) throw new Closed();
		return { record: await record };
	}

	private async readRecord(reading: Reading, options: ReadOptions): Promise<JsonObject> {
		const { budget } = this;
		const { callId } = reading;
		const hasEntered = !budget.isKnown(callId);
		if (hasEntered) await this.enter();
		const soon = budget.untilNextRead(callId);
		if (soon > 0) await this.sleep(soon);
		const { client } = await this.connect();
		let isKnown = false;
		const limiter = async <T>(act: () => Promise<T>) => {
			const read = await budget.limiter(async () => await this.unlessClosed(act));
			if (!isKnown) budget.noteKnown(callId, hasEntered);
			isKnown = true;
			return read;
		};
		// It may have waited before.
		reading.restart();
		const closableClock: Clock = { ...clock, sleep: async (ms) => await this.sleep(ms) };
		const completed = readCompletedCall(client, callId, {
			...options,
			clock: closableClock,
			limiter,
			isKnown: () => budget.isKnown(callId),
		});
		return await completed.catch((error: unknown) => {
			if (hasEntered && !isKnown) budget.noteFailedLookup(callId, isUnknownCall(error));
			throw error;
		});
	}

	/** A call that may not exist waits until the budget allows it. */
	private async enter(): Promise<void> {
		const { budget } = this;
		const mustWait = budget.isSpent;
		if (!(await budget.enter(this.closing.signal))) throw new Closed();
		// A process without the trigger can't notify the owner.
		if (mustWait && budget.isFlooded && 'emit' in this.context) this.delayed.add(null);
	}

	private async connect(): Promise<AccountClient> {
		const now = clock.elapsed();
		if (this.connection === undefined || now - this.connection.at > CLIENT_LIFETIME_MS) {
			this.connection = { opened: createAccountClient(this.context), at: now };
		}
		const { opened } = this.connection;
		return await opened.catch((error: unknown) => {
			this.connection = undefined;
			throw error;
		});
	}

	private async sleep(ms: number): Promise<void> {
		if (!(await pause(clock, ms, this.closing.signal))) throw new Closed();
	}

	private async unlessClosed<T>(act: () => Promise<T>): Promise<T> {
		if (this.closing.signal.aborted) throw new Closed();
		return await act();
	}
}
