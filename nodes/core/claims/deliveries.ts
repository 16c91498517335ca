import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import {
	type ErrorFacts,
	explained,
	ExplainedError,
	failedRepeat,
	OutcomeUnknown,
	type StoredUnknown,
} from '../service/errors';
import { isJsonObject, type JsonObject } from '../values/json';
import type { Claims } from './claims';

/**
 * What became of a job.
 * - `done`: it isn't sent again
 * - `unknown`: it may have had an effect
 * - `rejected`, `not_sent`: it certainly had no effect, so it may be sent again
 */
export type JobOutcome = { kind: 'done'; result: JsonObject[] } | FailedOutcome;

type FailedOutcome =
	| { kind: 'unknown'; error: OutcomeUnknown }
	| { kind: 'rejected' | 'not_sent'; error: ExplainedError };

/** A request that is sent at most once: a call, or a chat message. */
export type Job = {
	/** For whom or what: the person, or the item and its chat session. The same in all attempts of an execution. */
	who: string;
	/** The run and item, or the request of a model. Only it gets its outcome again in a retry. */
	id: string;
	/** Not if it's harmless twice, or certainly never sent. */
	isClaimed: boolean;
	/**
	 * With the same one, it may be sent again: it stands for the idempotency key and the content, by which the service recognizes
	 * it, or for a request that is harmless twice.
	 */
	repeatKey?: string | undefined;
	/** Why it isn't sent if another job has the same `who`, as in another run of the node. */
	again?: ((isUnknown: boolean) => ExplainedError) | undefined;
	/** Adds the request, and how to check it, to an unknown outcome. */
	withDetails?: ((error: OutcomeUnknown) => OutcomeUnknown) | undefined;
};

/** The job was deliberately not sent, such as a call outside calling hours. Not stored, so the next attempt decides again. */
export class LeftOut extends ExplainedError {
	/** @param output says so */
	constructor(
		message: string,
		resolution: string,
		readonly output: JsonObject,
		facts: ErrorFacts = {},
	) {
		super('not_sent', message, resolution, facts);
	}
}

/** Until its outcome is known, it's neither done nor unknown. Then it may have been sent. */
type Entry = {
	id: string;
	/** Its result. Empty when the run of the node has succeeded. */
	done?: JsonObject[];
	unknown?: StoredUnknown;
	repeatKey?: string;
};

/** What became of each job, by `who`. Plain JSON, which n8n stores with the execution when it ends. */
export type DeliveryRecord = { [who: string]: Entry };

/** n8n stores what {@link Deliveries} wrote, so the entries aren't checked further. */
export function isDeliveryRecord(stored: unknown): stored is DeliveryRecord {
	return isJsonObject(stored) && Object.values(stored).every(isJsonObject);
}

/**
 * Sends each job at most once in all attempts of an execution (*Retry On Fail*, *Retry*, and retries of retries), and in all
 * runs of the node.
 *
 * A job is claimed before it's sent, and its outcome is in the record. A job with a claim and no record may have been sent, as
 * when n8n was killed.
 */
export class Deliveries {
	/** Whether a job is sent, the first time or with its key again, or what became of it otherwise. */
	private readonly states = new Map<Job, 'new' | 'repeated' | JobOutcome>();

	/**
	 * @param record changed in place
	 * @param claims opens those of the execution
	 */
	constructor(
		private readonly record: DeliveryRecord,
		private readonly claims: () => Promise<Claims>,
	) {}

	/** What became of a job in an earlier attempt. A copy, because later nodes may change the output in place. */
	known(job: Job): JobOutcome | undefined {
		const entry = this.record[job.who];
		if (entry?.id !== job.id) return undefined;
		if (entry.done !== undefined) return { kind: 'done', result: structuredClone(entry.done) };
		if (entry.unknown === undefined) return begun(job);
		return { kind: 'unknown', error: OutcomeUnknown.fromStored(entry.unknown) };
	}

	/** Whether the job isn't sent (again): it's done, or unknown and can't be repeated. */
	isSettled({ who, id, repeatKey }: Job): boolean {
		const entry = this.record[who];
		if (entry?.id !== id) return false;
		const mayRepeat = repeatKey !== undefined && entry.repeatKey === repeatKey;
		return entry.done !== undefined || !mayRepeat;
	}

	/** Whether no earlier attempt of the execution can exist. */
	async isFirst(): Promise<boolean> {
		return (await this.claims()).isFirst;
	}

	/**
	 * Call this before {@link deliver}. Claims those that may be sent, all in one access. Never throws.
	 *
	 * @returns those to send
	 */
	async claim(jobs: readonly Job[]): Promise<Job[]> {
		for (const job of jobs) this.states.set(job, this.inRecord(job) ?? 'new');
		const open = jobs.filter((job) => this.before(job) === undefined);
		const once = open.filter(({ isClaimed }) => isClaimed);
		const claimed = await this.add(once).catch(outcomeByError);
		for (const job of once) {
			const keyed = keyedClaim(job);
			if (!(claimed instanceof Set)) this.states.set(job, claimed);
			else if (claimed.has(job.who)) continue;
			else if (keyed !== undefined && !claimed.has(keyed)) this.states.set(job, 'repeated');
			else {
				this.record[job.who] ??= { id: job.id };
				this.states.set(job, begun(job));
			}
		}
		return open.filter((job) => this.before(job) === undefined);
	}

	/** What becomes of a job that isn't sent, perhaps because of another one with the same `who`. */
	private inRecord(job: Job): JobOutcome | undefined {
		if (this.isSettled(job)) return this.known(job);
		const { [job.who]: entry } = this.record;
		if (entry === undefined || entry.id === job.id || job.again === undefined) return undefined;
		return this.outcomeOf(job, outcomeByError(job.again(entry.done === undefined)));
	}

	private async add(jobs: readonly Job[]): Promise<Set<string>> {
		if (jobs.length === 0) return new Set();
		const claims = await this.claims();
		const added = await claims.add(jobs.flatMap(claimsOf));
		// It wasn't sent with this key. The next attempt would think so.
		const misleading = compact(jobs.map((job) => !added.has(job.who) && keyedClaim(job)));
		await claims.remove(misleading.filter((text) => added.has(text)));
		return added;
	}

	/** What became of a job that isn't sent now. Undefined if it may be sent. */
	before(job: Job): JobOutcome | undefined {
		const state = this.states.get(job) ?? begun(job);
		return typeof state === 'string' ? undefined : state;
	}

	/**
	 * Sends a job, if it may be sent.
	 *
	 * @param send returns what became of it
	 * @param instead why it isn't sent now
	 */
	async deliver(
		job: Job,
		send: () => Promise<JobOutcome>,
		instead?: ExplainedError,
	): Promise<JobOutcome> {
		const before = this.before(job);
		if (before !== undefined) return before;
		if (instead !== undefined) return this.outcomeOf(job, outcomeByError(instead));
		const { who, id, repeatKey } = job;
		const { [who]: earlier } = this.record;
		const entry: Entry = { id, ...(repeatKey !== undefined && { repeatKey }) };
		this.record[who] = entry;
		const outcome = this.outcomeOf(job, await send());
		// Like `known`, a copy.
		if (outcome.kind === 'done') this.record[who] = { id, done: structuredClone(outcome.result) };
		else if (outcome.kind === 'unknown') entry.unknown = outcome.error.toStored();
		// What had no effect isn't stored, so it may be sent again.
		else if (earlier === undefined) Reflect.deleteProperty(this.record, who);
		else this.record[who] = earlier;
		return outcome;
	}

	private outcomeOf(job: Job, outcome: JobOutcome): JobOutcome {
		if (outcome.kind === 'done') return outcome;
		if (outcome.kind === 'unknown')
			return { kind: 'unknown', error: job.withDetails?.(outcome.error) ?? outcome.error };
		// A later failure doesn't show what happened to the first one.
		const isRepeat = this.states.get(job) === 'repeated';
		return isRepeat ? { kind: 'unknown', error: failedRepeat(outcome.error) } : outcome;
	}

	/**
	 * Removes the claims of those that certainly had no effect. Never throws.
	 *
	 * @returns these jobs
	 */
	async free(jobs: readonly Job[]): Promise<Job[]> {
		const isUnused = (job: Job) => this.states.get(job) === 'new' && !(job.who in this.record);
		const unused = jobs.filter(isUnused);
		const texts = uniq(unused.filter(({ isClaimed }) => isClaimed).flatMap(claimsOf));
		if (texts.length === 0) return unused;
		const claims = await this.claims().catch(() => undefined);
		await claims?.remove(texts);
		return unused;
	}
}

/** With a key, also that it's sent with it. If it was sent without, or with another content, the service wouldn't recognize it. */
function claimsOf(job: Job): string[] {
	return compact([job.who, keyedClaim(job)]);
}

function keyedClaim({ who, repeatKey }: Job): string | undefined {
	return repeatKey && `${who} ${repeatKey}`;
}

/** The outcome of a job that an earlier attempt or run started, and of which n8n has no result. */
function begun({ withDetails }: Job): FailedOutcome {
	const error = new OutcomeUnknown(
		'An earlier run or attempt of this execution may have sent this, and n8n has no record of the result',
		"It wasn't sent again. Before anybody sends it in a new execution, check in the service whether it arrived.",
	);
	return { kind: 'unknown', error: withDetails?.(error) ?? error };
}

/** The outcome of a request by its error. @throws other errors */
export function outcomeByError(error: unknown): FailedOutcome {
	const known = explained(error);
	if (known instanceof OutcomeUnknown) return { kind: 'unknown', error: known };
	if (known.outcome !== 'unknown') return { kind: known.outcome, error: known };
	return { kind: 'unknown', error: new OutcomeUnknown(known.message, known.resolution, known) };
}
