import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import {
	ExplainedError,
	type ErrorFacts,
	explained,
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
	/** Whether it's claimed before it's sent. Not if it's harmless twice. */
	isOnce: boolean;
	/** Stands for the idempotency key and the content, with which the service recognizes it, so it may be sent again. */
	repeatKey?: string | undefined;
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

type Entry = { id: string } & (
	| { done: true }
	| { unknown: StoredUnknown; repeatKey?: string }
	// Until its outcome is known.
	| { begun: true }
);

/** What became of each job, by `who`. Plain JSON, which n8n stores with the execution when it ends. */
export type DeliveryRecord = { [who: string]: Entry };

/** n8n stores what {@link Deliveries} wrote, so the entries aren't checked further. */
export function isDeliveryRecord(stored: unknown): stored is DeliveryRecord {
	return isJsonObject(stored) && Object.values(stored).every(isJsonObject);
}

/** The same for results. */
export function areResults(stored: unknown): stored is { [who: string]: JsonObject[] } {
	return isJsonObject(stored) && Object.values(stored).every(Array.isArray);
}

/**
 * Sends each job at most once in all attempts of an execution (*Retry On Fail*, *Retry*, and retries of retries), and in all
 * runs of the node.
 *
 * A job is claimed before it's sent, and its outcome is in the record. A job with a claim and no record may have been sent, as
 * when n8n was killed.
 */
export class Deliveries {
	private readonly claimed = new Set<Job>();
	/** Those that may have been sent before, with the same idempotency key. */
	private readonly repeated = new Set<Job>();
	/** By `who`, why these jobs aren't sent. Undefined if an earlier attempt or run may have sent one of them. */
	private readonly blocked = new Map<string, JobOutcome | undefined>();

	/**
	 * @param record changed in place
	 * @param results of the jobs that are done, by `who`. Changed in place, and forgotten when a run of the node has succeeded.
	 * @param claims opens those of the execution
	 */
	constructor(
		private readonly record: DeliveryRecord,
		private readonly results: { [who: string]: JsonObject[] },
		private readonly claims: () => Promise<Claims>,
	) {}

	/** What became of a job in an earlier attempt. A copy, because later nodes may change the output in place. */
	known(job: Job): JobOutcome | undefined {
		const entry = this.record[job.who];
		if (entry?.id !== job.id) return undefined;
		if ('done' in entry)
			return { kind: 'done', result: structuredClone(this.results[job.who] ?? []) };
		if ('begun' in entry) return begun(job);
		return { kind: 'unknown', error: OutcomeUnknown.fromStored(entry.unknown) };
	}

	/** Whether the job isn't sent (again): it's done, or unknown and can't be repeated. */
	isSettled(job: Job): boolean {
		const entry = this.record[job.who];
		if (entry?.id !== job.id) return false;
		return 'done' in entry || !mayRepeat(entry, job);
	}

	/** Whether no earlier attempt of the execution can exist. */
	async isFirst(): Promise<boolean> {
		return (await this.claims()).isFirst;
	}

	/** Whether any job with such an `id` has an outcome, whatever it was for. */
	has(isMeant: (id: string) => boolean): boolean {
		return Object.values(this.record).some(({ id }) => isMeant(id));
	}

	/** What became of another item with the same `who`, as in another run of the node. */
	ofOther({ who, id }: Job): { isUnknown: boolean } | undefined {
		const entry = this.record[who];
		if (entry === undefined || entry.id === id) return undefined;
		return { isUnknown: !('done' in entry) };
	}

	/**
	 * Claims those that may be sent, in one access. Each of them is for somebody else, except those that the caller leaves out.
	 * With a record of another job, nothing is claimed, because the caller leaves them out, too.
	 *
	 * @returns those to send
	 */
	async claim(jobs: readonly Job[]): Promise<Job[]> {
		const isBlocked = ({ who }: Job) => this.blocked.has(who);
		const isOpen = (job: Job) => !this.claimed.has(job) && !this.isSettled(job) && !isBlocked(job);
		const open = jobs.filter((job) => job.isOnce && isOpen(job) && this.ofOther(job) === undefined);
		const claimed = await this.add(open).catch((error: unknown) => outcomeByError(error));
		for (const job of open) {
			const keyed = keyedClaim(job);
			if (!(claimed instanceof Set)) this.blocked.set(job.who, claimed);
			else if (claimed.has(job.who)) this.claimed.add(job);
			else if (keyed !== undefined && !claimed.has(keyed)) this.repeated.add(job);
			else {
				this.record[job.who] ??= { id: job.id, begun: true };
				this.blocked.set(job.who, undefined);
			}
		}
		return jobs.filter((job) => !this.isSettled(job) && !isBlocked(job));
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

	/**
	 * Sends a job, unless it's known what became of it. It's claimed before.
	 *
	 * @param send returns what became of it
	 */
	async deliver(job: Job, send: () => Promise<JobOutcome>): Promise<JobOutcome> {
		const known = this.known(job);
		if (known !== undefined && this.isSettled(job)) return known;
		if (this.blocked.has(job.who)) return this.blocked.get(job.who) ?? begun(job);
		const outcome = await this.send(job, known !== undefined, send);
		this.note(job, outcome);
		return outcome;
	}

	private async send(
		job: Job,
		isKnown: boolean,
		send: () => Promise<JobOutcome>,
	): Promise<JobOutcome> {
		const before = this.record[job.who];
		const isRepeat = job.isOnce && (isKnown || this.repeated.has(job));
		this.record[job.who] = { id: job.id, begun: true };
		const outcome = await send();
		if (outcome.kind === 'done') return outcome;
		if (outcome.kind === 'unknown')
			return { kind: 'unknown', error: job.withDetails?.(outcome.error) ?? outcome.error };
		if (before === undefined) Reflect.deleteProperty(this.record, job.who);
		else this.record[job.who] = before;
		// A later failure doesn't show what happened to the first one.
		return isRepeat ? { kind: 'unknown', error: failedRepeat(outcome.error) } : outcome;
	}

	/** What had no effect isn't stored, so it may be sent again. */
	private note(job: Job, outcome: JobOutcome): void {
		const { who, id, repeatKey } = job;
		if (outcome.kind === 'done') {
			// Like `known`, a copy.
			this.results[who] = structuredClone(outcome.result);
			this.record[who] = { id, done: true };
		} else if (outcome.kind === 'unknown') {
			const again = repeatKey !== undefined && { repeatKey };
			this.record[who] = { id, unknown: outcome.error.toStored(), ...again };
		}
	}

	/** Removes the claims of those that certainly had no effect. Never throws. */
	async free(jobs: readonly Job[]): Promise<void> {
		const unused = jobs.filter((job) => this.claimed.delete(job) && !(job.who in this.record));
		if (unused.length === 0) return;
		const claims = await this.claims().catch(() => undefined);
		await claims?.remove(uniq(unused.flatMap(claimsOf)));
	}
}

/** With a key, also that it's sent with it. If it was sent without, or with another content, the service wouldn't recognize it. */
function claimsOf(job: Job): string[] {
	return compact([job.who, keyedClaim(job)]);
}

function keyedClaim({ who, repeatKey }: Job): string | undefined {
	return repeatKey && `${who} ${repeatKey}`;
}

function mayRepeat(entry: Entry, { isOnce, repeatKey }: Job): boolean {
	if (!isOnce) return true;
	return repeatKey !== undefined && 'repeatKey' in entry && entry.repeatKey === repeatKey;
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
