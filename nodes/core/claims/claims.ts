import uniq from 'lodash/uniq';
import { asSentence, explained, type ExplainedError, OutcomeUnknown } from '../service/errors';
import type { Clock } from '../values/clock';
import type { Limiter } from '../values/keyedMutex';

/**
 * n8n's deduplication store: a list of texts, stored as fingerprints. n8n reads and writes all of it with each access, and can
 * only look a text up by adding it.
 */
export type TextList = {
	/**
	 * Adds new texts. They're stored when this resolves. If it rejects, they may be.
	 *
	 * @param maxTexts how many to keep; the oldest are dropped first. By default, `MAX_REMEMBERED`.
	 * @returns the texts that were new
	 */
	add(texts: string[], maxTexts?: number): Promise<string[]>;
	/**
	 * Fastest in the order in which they were added.
	 *
	 * @param areAdded whether all of them were added, so that a list with as many texts has no others
	 */
	remove(texts: string[], areAdded?: boolean): Promise<void>;
	clear(): Promise<void>;
	count(): Promise<number>;
};

/** The most texts of a list. */
export const MAX_REMEMBERED = 500_000;

export const CLAIM_LIMITS = {
	/** Claims to keep of other executions at a node: of those that failed, were stopped, or killed, and of sub-workflows. */
	others: 100_000,
};

/** A sub-workflow's first run isn't told apart from a retry. A node doesn't get that many claims so soon. */
const YOUNG_MS = 3_600_000;

/** What mustn't happen twice: in an execution with its retries and sub-workflows, or in the session of an MCP client. */
export type Occasion = {
	/** Every claim begins with it. */
	name: string;
	/** Whether no earlier attempt can exist. */
	isFirst: boolean;
	/** Of a sub-execution: when the first attempt of its topmost parent started, in epoch milliseconds. */
	parentStartedAt?: number | undefined;
};

/** What a process knows of the claims of an execution at a node, or of all sub-executions of one parent. */
export class ClaimState {
	/** How many claims it has added, or is adding. */
	count = 0;
	/** Those of a first attempt, to remove them when it has succeeded. */
	readonly texts = new Set<string>();
	/** Whether an earlier attempt, or another process, may have claims of the same occasion. Undefined if it isn't known yet. */
	hasEarlier: boolean | undefined;
}

/**
 * Who mustn't get the same thing twice. A claim is a text in n8n's deduplication store, written before the request leaves: an
 * occasion, and the person, or the item and chat session.
 *
 * | Occasion                                 | Claim                       |
 * | ---------------------------------------- | --------------------------- |
 * | This execution and its retries           | `<start> <person>`          |
 * | An agent run, with a limit of calls      | `<start> <nth> <agent run>` |
 * | A period of *Limit Calls per Person*     | `<period> <nth> <person>`   |
 * | *Numbers Pushed Before*                  | `campaign <ID> <person>`    |
 *
 * A claim that isn't new was sent before, or may have been. There's nothing else to know.
 *
 * This class has those of an execution. Once it has succeeded, it can't be retried, and they're removed.
 */
export class Claims {
	/** Written with each claim. Shows that the execution has claimed anything. */
	private readonly mark: string;

	/**
	 * @param list of the node, for all its executions
	 * @param running how many claims the executions of this process have at the node. They must stay.
	 * @param repeat repeats an access that fails
	 */
	constructor(
		private readonly list: TextList,
		private readonly occasion: Occasion,
		private readonly state: ClaimState,
		private readonly running: () => number,
		private readonly clock: Pick<Clock, 'now'>,
		private readonly repeat: Limiter,
	) {
		this.mark = this.textOf('any');
	}

	/** Whether no earlier attempt of the execution can exist. */
	get isFirst(): boolean {
		return this.occasion.isFirst;
	}

	/**
	 * Claims these, such as people. n8n writes all claims of a node each time, so claim many together.
	 *
	 * @returns those that were new, and so may be sent
	 * @throws NotSent in a first attempt, otherwise OutcomeUnknown: n8n can't write them, or may have dropped earlier ones
	 */
	async add(names: readonly string[]): Promise<Set<string>> {
		try {
			if (names.length === 0) return new Set();
			await this.requireRemembered();
			const added = await this.write(uniq(names).map(this.textOf));
			return new Set(names.filter((name) => added.has(this.textOf(name))));
		} catch (error) {
			const known = explained(error);
			throw this.isFirst || known instanceof OutcomeUnknown ? known : maybeSentBefore(known);
		}
	}

	/**
	 * Removes claims of what certainly had no effect. Never throws: what stays only turns "not sent" into "unknown".
	 *
	 * @param names which were new
	 */
	async remove(names: readonly string[]): Promise<void> {
		if (names.length === 0) return;
		const { state, mark } = this;
		state.count -= names.length;
		const texts = names.map(this.textOf);
		// Without any other claim, nothing was sent.
		const isLast = state.count === 0 && state.hasEarlier === false;
		await this.removeTexts(isLast ? [mark, ...texts] : texts);
	}

	/** Whether anything was claimed before, also in this attempt. True if n8n can't tell. */
	async mayHaveBegun(): Promise<boolean> {
		const { state, isFirst, mark } = this;
		if (state.count > 0 || state.hasEarlier === true) return true;
		if (isFirst) return false;
		try {
			await this.requireRemembered();
			const isNew = (await this.write([])).has(mark);
			// Unless something was claimed meanwhile.
			if (isNew && state.count === 0) await this.removeTexts([mark]);
			return !isNew;
		} catch {
			return true;
		}
	}

	/** The execution has succeeded. Never throws. */
	async close(): Promise<void> {
		await this.removeTexts([...this.state.texts]);
	}

	private readonly textOf = (name: string): string => `${this.occasion.name} ${name}`;

	/** @returns those that were new */
	private async write(texts: string[]): Promise<ReadonlySet<string>> {
		const { state, isFirst, mark } = this;
		const all = [mark, ...texts];
		// What an earlier attempt has claimed isn't counted, so nothing is dropped then.
		const max = isFirst || state.hasEarlier === false ? this.maxWith(all.length) : MAX_REMEMBERED;
		state.count += texts.length;
		const added = new Set(await this.repeat(async () => await this.list.add(all, max)));
		state.hasEarlier ??= !added.has(mark);
		state.count -= texts.filter((text) => !added.has(text)).length;
		if (isFirst) for (const text of added) state.texts.add(text);
		return added;
	}

	private maxWith(more: number): number {
		return Math.min(CLAIM_LIMITS.others + this.running() + more, MAX_REMEMBERED);
	}

	private async removeTexts(texts: readonly string[]): Promise<void> {
		const { state, list } = this;
		if (texts.length === 0) return;
		for (const text of texts) state.texts.delete(text);
		await this.repeat(async () => await list.remove([...texts], true)).catch(() => undefined);
	}

	/** @throws OutcomeUnknown if n8n may have dropped claims of an earlier attempt */
	private async requireRemembered(): Promise<void> {
		const { isFirst, parentStartedAt = -Infinity } = this.occasion;
		if (isFirst || this.state.hasEarlier !== undefined) return;
		if (this.clock.now() - parentStartedAt < YOUNG_MS) return;
		if ((await this.list.count()) >= CLAIM_LIMITS.others) throw forgotten();
	}
}

function forgotten(): OutcomeUnknown {
	const max = CLAIM_LIMITS.others.toLocaleString('en-US');
	return new OutcomeUnknown(
		`n8n remembers the ${max} latest requests of failed executions and sub-workflows at this node, and may have dropped those of an earlier attempt of this execution`,
		'Nothing was sent in this attempt. Check in the service which items were completed, and run the others in a new execution.',
		{ origin: 'n8n' },
	);
}

/** The error of something that this attempt can't send, although an earlier one may have sent it. */
export function maybeSentBefore({
	message,
	resolution,
	originalMessage,
	origin,
}: ExplainedError): OutcomeUnknown {
	return new OutcomeUnknown(
		message.replace(/(?:nothing was sent|no call was placed)$/i, '$& in this attempt'),
		`${asSentence(resolution)} Then retry the execution again. An earlier attempt may have sent this item, so don't send it in a new execution.`,
		{ originalMessage, origin },
	);
}
