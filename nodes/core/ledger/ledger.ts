import {
	asSentence,
	ExplainedError,
	type ErrorFacts,
	explained,
	failedRepeat,
	InvalidInput,
	NotSent,
	OutcomeUnknown,
	type StoredUnknown,
} from '../service/errors';
import { forEveryone, type Resolution, USER } from '../service/resolution';
import { hashOf } from '../values/hash';
import { isJsonObject, type JsonObject, type JsonValue } from '../values/json';
import { messageOf } from '../values/values';
import type { Notes, Plan } from './notes';

/**
 * What became of a job.
 * - `done`: it isn't sent again. `hadNoEffect`: because sending it was useless, as if a row was rejected.
 * - `unknown`: it may have had an effect. `isBegun`: only that it began is known.
 * - `rejected`, `not_sent`: it certainly had no effect, so it may be sent again.
 * - `skipped`: there was nothing to send.
 */
export type JobOutcome<Result extends JsonValue> =
	| { kind: 'done'; result: Result; hadNoEffect?: boolean }
	| { kind: 'unknown'; error: OutcomeUnknown; isBegun?: boolean }
	| { kind: 'rejected' | 'not_sent'; error: ExplainedError }
	| { kind: 'skipped' };

/** Something that must not be sent twice: a call, a chat message, a chunk of 10,000 rows. */
export type Job = {
	/** The same in all attempts of an execution. */
	key: string;
	/**
	 * Whom or what it's for, such as a phone number, or of a plan, the job itself. After a crash, all jobs for it are unknown,
	 * whatever their order. Undefined if it may be sent again then.
	 */
	target?: unknown;
	/** Which item, or which request of a model. A later request to the same target replaces the entry. */
	owner?: Owner;
	/** The service accepts requests with this key once, so the same key may be sent again. */
	idempotencyKey?: string | undefined;
	quota?: Quota | undefined;
	/** Adds the request, and how to check it, to an unknown outcome. */
	withDetails?: ((error: OutcomeUnknown) => OutcomeUnknown) | undefined;
};

/** The job was deliberately not sent, such as a call outside calling hours. Not stored, so the next attempt decides again. */
export class LeftOut extends ExplainedError {
	/** @param output says so */
	constructor(
		message: string,
		resolution: Resolution,
		readonly output: JsonObject,
		facts: ErrorFacts = {},
	) {
		super('not_sent', message, resolution, facts);
	}
}

type Owner = { item?: number; tool_request?: string };

/** The limit per agent run or MCP session, across all tools. `unit`: a singular noun for messages, such as "call". */
export type Quota = { unit: string; max: number };

/**
 * What is stored of a job. `unit`: of its quota. `repeatableWith`: the hash of the idempotency key with which it may be sent
 * again.
 */
type Entry<Result extends JsonValue> = Owner & { unit?: string } & (
		| { done: Result }
		| { unknown: StoredUnknown; repeatableWith?: string }
		// Until its outcome is known.
		| { begun: true }
	);

/** By the keys of the jobs. Plain JSON, stored with the execution. */
export type Entries<Result extends JsonValue> = { [key: string]: Entry<Result> };

/**
 * Sends each job at most once in all attempts of an execution (*Retry On Fail*, *Retry*, and retries of retries).
 *
 * n8n offers two places. **Entries** are stored with the execution when it ends: what became of each job. **Notes** are in
 * n8n's database before the job leaves: that it was about to be sent. A job with a note and no entry may have been sent, so
 * it's unknown.
 */
export class Ledger<Result extends JsonValue> {
	/**
	 * @param entries changed in place
	 * @param notes opens them. Undefined if the execution can't be retried.
	 */
	constructor(
		readonly entries: Entries<Result>,
		private readonly notes: () => Promise<Notes | undefined>,
	) {}

	/** What became of a job in an earlier attempt. A copy, because later nodes may change the output in place. */
	known(job: Job): JobOutcome<Result> | undefined {
		const entry = this.entryOf(job);
		if (entry === undefined) return undefined;
		if ('done' in entry) return { kind: 'done', result: structuredClone(entry.done) };
		if ('begun' in entry) return begun(job);
		return { kind: 'unknown', error: OutcomeUnknown.fromStored(entry.unknown) };
	}

	/** Whether the job isn't sent (again): it's done, or unknown without an idempotency key. */
	isSettled(job: Job): boolean {
		const entry = this.entryOf(job);
		if (entry === undefined) return false;
		const { idempotencyKey } = job;
		if (idempotencyKey === undefined || !('repeatableWith' in entry)) return true;
		return entry.repeatableWith !== hashOf(idempotencyKey);
	}

	private entryOf({ key, owner }: Job): Entry<Result> | undefined {
		const entry = this.entries[key];
		return entry?.tool_request === owner?.tool_request ? entry : undefined;
	}

	/**
	 * Finds the jobs without an entry that an earlier attempt began. They are unknown from then on.
	 *
	 * @returns whether an earlier attempt may have begun others, too
	 * @throws if n8n's store can't be reached
	 */
	async findBegun(jobs: readonly Job[]): Promise<boolean> {
		const open = jobs.filter(({ key, target }) => target !== undefined && !(key in this.entries));
		const notes = await this.notes();
		const targets = open.map(({ target }) => target);
		const begun = await notes?.find(targets).catch((error: unknown) => {
			throw maybeSentBefore(explained(error));
		});
		for (const job of open) {
			if (begun?.has(job.target) !== true) continue;
			this.entries[job.key] = { ...job.owner, begun: true };
		}
		return begun !== undefined;
	}

	/**
	 * Sends a job, unless it's known what became of it.
	 *
	 * @param send returns what became of it. If it throws, that's unknown.
	 */
	async deliver(job: Job, send: () => Promise<JobOutcome<Result>>): Promise<JobOutcome<Result>> {
		const known = this.known(job);
		if (known !== undefined && this.isSettled(job)) return known;
		const { key, owner, target, quota, idempotencyKey } = job;
		const notes = target === undefined ? undefined : await this.notes();
		// No await from here on, so that simultaneous jobs count.
		if (quota !== undefined && this.used(quota) >= quota.max) return quotaExceeded(quota);
		const before = this.entries[key];
		const entry = { ...owner, ...(quota && { unit: quota.unit }) };
		this.entries[key] = { ...entry, begun: true };
		const outcome = await this.sendNoted(job, notes, known !== undefined, send);
		if (outcome.kind === 'done') {
			// Like `known`, a copy.
			this.entries[key] = { ...entry, done: structuredClone(outcome.result) };
		} else if (outcome.kind === 'unknown') {
			if (outcome.isBegun === true) return outcome;
			const again = idempotencyKey !== undefined && { repeatableWith: hashOf(idempotencyKey) };
			this.entries[key] = { ...entry, unknown: outcome.error.toStored(), ...again };
		} else if (before === undefined) Reflect.deleteProperty(this.entries, key);
		else this.entries[key] = before;
		return outcome;
	}

	/** @param isRepeat whether an earlier attempt may have sent it with the same idempotency key */
	private async sendNoted(
		job: Job,
		notes: Notes | undefined,
		isRepeat: boolean,
		send: () => Promise<JobOutcome<Result>>,
	): Promise<JobOutcome<Result>> {
		const note = await notes?.add(job.target).catch((error: unknown) => explained(error));
		if (note instanceof ExplainedError) {
			if (notes?.hasNoEarlier === true) return { kind: 'not_sent', error: note };
			return { kind: 'unknown', error: maybeSentBefore(note) };
		}
		const isBegun = notes !== undefined && note === undefined;
		if (isBegun && !isRepeat) return begun(job);
		const outcome = await send();
		if (outcome.kind === 'done') {
			if (outcome.hadNoEffect === true) await note?.remove();
			return outcome;
		}
		if (outcome.kind === 'unknown')
			return { kind: 'unknown', error: job.withDetails?.(outcome.error) ?? outcome.error };
		// A later failure doesn't show what happened to the first one.
		if (isRepeat && outcome.kind !== 'skipped')
			return { kind: 'unknown', error: failedRepeat(outcome.error) };
		await note?.remove();
		return outcome;
	}

	/**
	 * Begins a plan: jobs that belong together, such as the chunks of a push. Their keys begin with its content. If an earlier
	 * attempt began another plan at the place, its jobs can't be found again, so nothing may be sent.
	 *
	 * @returns undefined if an earlier attempt may have begun another plan
	 * @throws NotSent or OutcomeUnknown if n8n's store can't be reached
	 */
	async beginPlan(place: unknown, content: string): Promise<Plan | undefined> {
		if (Object.keys(this.entries).some((key) => !key.startsWith(content))) return undefined;
		const notes = await this.notes();
		if (notes === undefined) return { name: content, remove: async () => {} };
		return await notes.addPlan(place, content).catch((error: unknown) => {
			throw notes.hasNoEarlier ? error : maybeSentBefore(explained(error));
		});
	}

	/** Jobs that were rejected or not sent have no entry, so they don't count. */
	private used(quota: Quota): number {
		return Object.values(this.entries).filter(({ unit }) => unit === quota.unit).length;
	}
}

/** The outcome of a job that an earlier attempt started, and of which n8n has no result. */
function begun({ withDetails }: Job): JobOutcome<never> {
	const error = new OutcomeUnknown(
		'An earlier attempt of this execution may have sent this, and n8n has no record of the result',
		{
			onScreen: "It wasn't sent again. Check the service before you send it in a new execution.",
			forModel: 'It was not sent again.',
		},
	);
	return { kind: 'unknown', error: withDetails?.(error) ?? error, isBegun: true };
}

/** The error of an item that an earlier attempt sent, or may have sent, although this one can't send it. */
export function maybeSentBefore(error: unknown): OutcomeUnknown {
	const { message, resolutionOnScreen, resolutionForModel, originalMessage, origin } =
		error instanceof ExplainedError
			? error
			: new InvalidInput(messageOf(error), forEveryone('Resolve this.'));
	return new OutcomeUnknown(
		message.replace(/(?:nothing was sent|no call was placed)$/i, '$& in this attempt'),
		{
			onScreen: `${asSentence(resolutionOnScreen)} Then retry the execution again. An earlier attempt may have sent this item, so don't send it in a new execution.`,
			forModel: resolutionForModel,
		},
		{ originalMessage, origin },
	);
}

/** n8n stores what a {@link Ledger} wrote, so its entries aren't checked further. */
export function areEntries<Result extends JsonValue>(stored: unknown): stored is Entries<Result> {
	return isJsonObject(stored) && Object.values(stored).every(isJsonObject);
}

/** The outcome of a request by its error. @throws other errors */
export function outcomeByError(error: unknown): JobOutcome<never> {
	const known = explained(error);
	if (known instanceof OutcomeUnknown) return { kind: 'unknown', error: known };
	if (known.outcome !== 'unknown') return { kind: known.outcome, error: known };
	const { resolution } = known.explanation;
	return { kind: 'unknown', error: new OutcomeUnknown(known.message, resolution, known) };
}

/** The model has used up its quota. */
function quotaExceeded({ unit, max }: Quota): JobOutcome<never> {
	const error = new NotSent(
		`Nothing was sent, because this run has used its limit of ${max} ${unit}${max === 1 ? '' : 's'}`,
		forEveryone(
			`Do not ask for another ${unit} now. Tell ${USER} what was done and what remains to be done.`,
		),
		{ isFinal: true, isTransient: false },
	);
	return { kind: 'not_sent', error };
}
