import { READS_AT_ONCE } from '../shared/api/limits';
import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { CLOSING_MS } from '../shared/n8n/activeTriggers';
import { clock, connect, type Connection } from '../shared/n8n/connect';
import { toNodeError } from '../shared/n8n/nodeErrors';
import { asSentence, ExplainedError, NotSent, OutcomeUnknown } from '../shared/api/errors';
import { readCompletedCall, ShowsNoEnd, type ReadBack } from '../shared/calls/readBack';
import { pause, settledWithin } from '../shared/clock';
import type { JsonObject } from '../shared/json';

/** How long a call that cannot be read now, or shows no end yet, is read again. */
const GIVE_UP_AFTER_MS = 5 * 60_000;

/** Calls that are verified at once, most of them waiting for their turn. */
const MOST_UNDER_WAY = 5_000;

/** Calls that one message names. */
const MOST_NAMED = 50;

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

	/** What can be verified within n8n's patience still is; the owner is told of the rest. */
	async close(trigger: ITriggerFunctions): Promise<void> {
		const all = Promise.allSettled(this.underWay.keys());
		await settledWithin(clock, CLOSING_MS, all);
		const rest = [...new Set(this.underWay.values())];
		this.closing.abort();
		if (rest.length === 0) return;
		trigger.saveFailedExecution(toNodeError(trigger.getNode(), notFinished(rest)));
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

/** Told to the workflow's owner, so that no call goes missing without a word. */
export function notVerified(callId: string, error: unknown): ExplainedError {
	if (error instanceof ShowsNoEnd) {
		return new OutcomeUnknown(
			`Call ${callId} was reported as completed but shows no end, so the workflow was not started for it`,
			'If it goes on, the workflow starts when its end is reported. If it is over, read it with Get Call, and add its status to Finished Statuses among the options of the trigger.',
		);
	}
	const [what, resolution, originalMessage] =
		error instanceof ExplainedError
			? [error.message, error.resolution, error.originalMessage]
			: [error instanceof Error ? error.message : String(error)];
	return new NotSent(
		`Call ${callId} was reported as completed but could not be read back, so the workflow was not started for it`,
		[what, resolution, 'Once that is put right, read this call with Get Call']
			.filter((text) => text !== undefined)
			.map(asSentence)
			.join(' '),
		originalMessage,
	);
}

/** The same for calls that were being verified when the trigger was closed. */
function notFinished(callIds: readonly string[]): ExplainedError {
	const named = callIds.slice(0, MOST_NAMED).join(', ');
	const more = callIds.length > MOST_NAMED ? ` and ${callIds.length - MOST_NAMED} more` : '';
	return new OutcomeUnknown(
		`${callIds.length === 1 ? 'A completed call was' : `${callIds.length} completed calls were`} still being verified when the trigger was stopped, so the workflow was not started`,
		`Read them with Get Call: ${named}${more}.`,
	);
}
