import { READS_AT_ONCE } from '../shared/api/limits';
import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { CLOSING_MS } from '../shared/n8n/activeTriggers';
import { clock, connect, type Connection } from '../shared/n8n/connect';
import { Gathered } from '../shared/n8n/gathered';
import { toNodeError } from '../shared/n8n/nodeErrors';
import { readCompletedCall, type ReadBack } from '../shared/calls/readBack';
import type { ExplainedError } from '../shared/api/errors';
import { pause, settledWithin } from '../shared/clock';
import type { JsonObject } from '../shared/json';
import { notFinished, notVerified, type Unverified } from './unverified';

/** How long a call that cannot be read now, or shows no end yet, is read again. */
const GIVE_UP_AFTER_MS = 5 * 60_000;

/** Calls that are verified at once, most of them waiting for their turn. */
const MOST_UNDER_WAY = 5_000;

/** For each decryption of a credential n8n sets up a sandbox of its own, so that one serves for a while. */
const CONNECTION_MS = 30_000;

type Verified = { record: JsonObject };

/** Thrown where the trigger is closed while a call is verified. */
export class Closed extends Error {}

/**
 * Reads completed calls back. It outlives the requests that report them: n8n keeps a sandbox for each request, so
 * these must not last, and the sender may leave when it likes.
 */
export class Verifications {
	/** Each with its call. */
	private readonly underWay = new Map<Promise<Verified>, string>();
	/** By the call: those whose record is not read yet. */
	private readonly shared = new Map<string, Promise<Verified>>();
	private readonly inTurn = pLimit(READS_AT_ONCE);
	private readonly closing = new AbortController();
	private readonly unverified = new Gathered<Unverified>(this.closing.signal, (calls) => {
		for (const error of notVerified(calls)) this.report(error);
	});
	private connection: { opened: Promise<Connection>; at: number } | undefined;

	constructor(private readonly context: ITriggerFunctions | IWebhookFunctions) {}

	get isFull(): boolean {
		return this.underWay.size >= MOST_UNDER_WAY;
	}

	/**
	 * The call as the service holds it, over; deliveries of the same call share the reading until the record is there.
	 *
	 * @returns the reading, and whether this delivery is the one that began it
	 */
	verify(
		callId: string,
		{ included, finished }: Pick<ReadBack, 'included' | 'finished'>,
	): { reading: Promise<Verified>; isFirst: boolean } {
		const begun = this.shared.get(callId);
		if (begun !== undefined) return { reading: begun, isFirst: false };
		const onOver = () => {
			if (this.shared.get(callId) === reading) this.shared.delete(callId);
		};
		const onEnd = () => {
			onOver();
			this.underWay.delete(reading);
		};
		const reading = this.read(callId, { included, finished, onOver }, onEnd);
		this.shared.set(callId, reading);
		this.underWay.set(reading, callId);
		return { reading, isFirst: true };
	}

	/** Tells the workflow's owner, so that no call goes missing without a word. */
	couldNotVerify(callId: string, error: unknown): void {
		if (!(error instanceof Closed)) this.unverified.add({ callId, error });
	}

	/** What can be verified within n8n's patience still is; the owner is told of the rest. */
	async close(): Promise<void> {
		const all = Promise.allSettled(this.underWay.keys());
		await settledWithin(clock, CLOSING_MS, all);
		const rest = [...new Set(this.underWay.values())];
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

	private async read(
		callId: string,
		what: Pick<ReadBack, 'included' | 'finished' | 'onOver'>,
		onEnd: () => void,
	): Promise<Verified> {
		const reading = this.readRecord(callId, what);
		await Promise.allSettled([reading]);
		// At one blow, so that a call which the closing names passes no more, and any other one does.
		onEnd();
		if (this.closing.signal.aborted) throw new Closed();
		return { record: await reading };
	}

	private async readRecord(
		callId: string,
		what: Pick<ReadBack, 'included' | 'finished' | 'onOver'>,
	): Promise<JsonObject> {
		const { client } = await this.connect();
		return await readCompletedCall(client, callId, {
			...what,
			until: clock.now() + GIVE_UP_AFTER_MS,
			clock: { now: () => clock.now(), sleep: async (ms) => await this.sleep(ms) },
			inTurn: async (act) => await this.inTurn(async () => await this.unlessClosed(act)),
		});
	}

	private async connect(): Promise<Connection> {
		const now = clock.now();
		if (this.connection === undefined || now - this.connection.at > CONNECTION_MS) {
			this.connection = { opened: connect(this.context), at: now };
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
