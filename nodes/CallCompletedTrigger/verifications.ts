import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { CLOSING_MS, triggerKey } from '../shared/n8n/triggers/activeTriggers';
import { clock, createAccountClient, type AccountClient } from '../shared/n8n/http/accountClient';
import { Batcher } from '../shared/n8n/triggers/batcher';
import { toNodeError } from '../shared/n8n/run/nodeErrors';
import { RareNotice } from '../shared/n8n/triggers/rareNotice';
import { isUnknownCall, readCompletedCall, type ReadBack } from '../shared/calls/readBack';
import { callKey } from '../shared/calls/report';
import type { ExplainedError } from '../shared/api/errors';
import { type Clock, pause, settledOrTimeout } from '../shared/clock';
import type { JsonObject } from '../shared/json';
import { budgetOf, type ReadBudget } from './readBudget';
import { notFinished, notVerified, overBudget, rejected, type Unverified } from './unverified';

/** How long after its latest report a call that cannot be read now, or shows no end yet, is read again. */
const GIVE_UP_AFTER_MS = 5 * 60_000;

/** Reports of the same call that wait for its record, so that made-up ones don't fill the memory. */
const MAX_REPORTS_WAITING = 100;

/** Calls that are verified at once, most of them waiting for their turn. */
const MAX_IN_FLIGHT = 5_000;

/** For each decryption of a credential n8n sets up a sandbox of its own, so that one serves for a while. */
const CONNECTION_MS = 30_000;

type Verified = { record: JsonObject };

/** A call that is read until it shows its end; reports of the same call share it. */
class Reading {
	private until = 0;
	private reports = 0;

	constructor(readonly callId: string) {
		this.restart();
	}

	/** A report that has come. @returns false if too many others wait already */
	join(): boolean {
		this.restart();
		return ++this.reports <= MAX_REPORTS_WAITING;
	}

	/** The earlier reports may have been early or made up, so that the latest one counts. */
	restart(): void {
		this.until = clock.elapsed() + GIVE_UP_AFTER_MS;
	}

	mayWait(ms: number): boolean {
		return clock.elapsed() + ms <= this.until;
	}
}

type WhatToRead = Pick<ReadBack, 'included' | 'finished' | 'onEnded' | 'mayWait'>;

/** Thrown where the trigger is closed while a call is verified. */
export class Closed extends Error {}

/**
 * Reads completed calls back. It outlives the requests that report them: n8n keeps a sandbox for each request, so
 * these must not last, and the sender may leave when it likes.
 */
export class CallVerifier {
	/** Each with what it comes to. */
	private readonly underWay = new Map<Reading, Promise<Verified>>();
	/** By the call: those that a further report joins. */
	private readonly shared = new Map<string, Reading>();
	private readonly closing = new AbortController();
	private readonly unverified = new Batcher<Unverified>(this.closing.signal, (calls) => {
		for (const error of notVerified(calls)) this.report(error);
	});
	private readonly delayed = new RareNotice<null>(this.closing.signal, (times) =>
		this.report(overBudget(times)),
	);
	private readonly rejected = new RareNotice<null>(this.closing.signal, (times) =>
		this.report(rejected(times, MAX_IN_FLIGHT)),
	);
	private connection: { opened: Promise<AccountClient>; at: number } | undefined;

	private readonly budget: ReadBudget;

	constructor(private readonly context: ITriggerFunctions | IWebhookFunctions) {
		this.budget = budgetOf(triggerKey(context));
	}

	get isFull(): boolean {
		return this.underWay.size >= MAX_IN_FLIGHT;
	}

	/**
	 * The call as the service holds it, over; reports of the same call share the reading until the record is there, and
	 * each of them makes it go on for as long as if it had begun it.
	 *
	 * @returns what the reading comes to, and whether this report began it; undefined if too many others wait for it
	 */
	verify(
		callId: string,
		{ included, finished }: Pick<ReadBack, 'included' | 'finished'>,
	): { verified: Promise<Verified>; isFirst: boolean } | undefined {
		const key = callKey(callId);
		const begun = this.shared.get(key);
		const known = begun && this.underWay.get(begun);
		if (begun !== undefined && known !== undefined) {
			return begun.join() ? { verified: known, isFirst: false } : undefined;
		}
		const reading = new Reading(callId);
		reading.join();
		const onEnded = () => {
			this.budget.noteRead(callId);
			if (this.shared.get(key) === reading) this.shared.delete(key);
		};
		// A report that comes after the last look begins a reading of its own.
		const mayWait = (ms: number) => {
			const isInTime = reading.mayWait(ms);
			if (!isInTime) onEnded();
			return isInTime;
		};
		const onSettled = () => {
			onEnded();
			this.underWay.delete(reading);
		};
		this.shared.set(key, reading);
		const verified = this.read(reading, { included, finished, onEnded, mayWait }, onSettled);
		this.underWay.set(reading, verified);
		return { verified, isFirst: true };
	}

	/** Tells the workflow's owner that a report was rejected, because there was no room for it. */
	noteRejected(): void {
		this.rejected.add(null);
	}

	/** Tells the workflow's owner, so that no call goes missing without a word. */
	couldNotVerify(callId: string, error: unknown): void {
		if (!(error instanceof Closed)) this.unverified.add({ callId, error });
	}

	/** What can be verified within n8n's patience still is; the owner is told of the rest. */
	async close(): Promise<void> {
		const all = Promise.allSettled(this.underWay.values());
		await settledOrTimeout(clock, CLOSING_MS, all);
		const rest = [...new Set([...this.underWay.keys()].map(({ callId }) => callId))];
		this.closing.abort();
		if (rest.length > 0) this.report(notFinished(rest));
	}

	private report(error: ExplainedError): void {
		const { context } = this;
		if ('saveFailedExecution' in context) {
			context.saveFailedExecution(toNodeError(context.getNode(), error));
		} else {
			context.logger.error(error.message);
		}
	}

	private async read(reading: Reading, what: WhatToRead, onEnd: () => void): Promise<Verified> {
		const record = this.readRecord(reading, what);
		await Promise.allSettled([record]);
		// At one blow, so that a call which the closing names passes no more, and any other one does.
		onEnd();
		if (this.closing.signal.aborted) throw new Closed();
		return { record: await record };
	}

	private async readRecord(reading: Reading, what: WhatToRead): Promise<JsonObject> {
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
		// It may have waited for its turn.
		reading.restart();
		const own: Clock = { ...clock, sleep: async (ms) => await this.sleep(ms) };
		const completed = readCompletedCall(client, callId, { ...what, clock: own, limiter });
		return await completed.catch((error: unknown) => {
			if (hasEntered && !isKnown) budget.noteFailedLookup(callId, isUnknownCall(error));
			throw error;
		});
	}

	/** A call that may be made up waits until the budget has room. */
	private async enter(): Promise<void> {
		const { budget } = this;
		const mustWait = budget.isSpent;
		if (!(await budget.enter(this.closing.signal))) throw new Closed();
		// A process without the trigger cannot tell its owner.
		if (mustWait && budget.isFlooded && 'emit' in this.context) this.delayed.add(null);
	}

	private async connect(): Promise<AccountClient> {
		const now = clock.elapsed();
		if (this.connection === undefined || now - this.connection.at > CONNECTION_MS) {
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
