import type { IPollFunctions } from 'n8n-workflow';
import { OutcomeUnknown } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import { DONE, duration, whenAborted } from '../../clock';

/** As n8n says if it doesn't end a poll itself. n8n before 2.38 says nothing. */
const NOT_ENFORCED_MS = 300_000;

/**
 * How long a check may take. n8n's scheduler ends a longer one, loses what it has found, and waits longer until the next
 * one.
 */
export class PollTime {
	private readonly budgetMs: number;
	/** Whether n8n ends a check that takes longer. */
	readonly isEnforced: boolean;
	/** Aborts when the check must end. */
	readonly end: AbortSignal;

	constructor(context: IPollFunctions) {
		this.budgetMs = 'getPollBudgetMs' in context ? context.getPollBudgetMs() : NOT_ENFORCED_MS;
		this.isEnforced = this.budgetMs < NOT_ENFORCED_MS;
		this.end = AbortSignal.timeout(this.budgetMs);
	}

	/** Aborts when this share of the time is over. */
	share(part: number): AbortSignal {
		return AbortSignal.timeout(Math.round(part * this.budgetMs));
	}

	/** @throws OutcomeUnknown if the signal aborts first */
	async within<T>(signal: AbortSignal, running: Promise<T>): Promise<T> {
		const ended = new AbortController();
		const over = whenAborted(AbortSignal.any([signal, ended.signal])).then(() => undefined);
		const settled = running.then((result) => ({ result }));
		const first = await Promise.race([settled, over]).finally(() => ended.abort(DONE));
		if (first !== undefined) return first.result;
		// What is still running has no result any more.
		settled.catch(() => undefined);
		throw this.timedOut();
	}

	timedOut(): OutcomeUnknown {
		return new OutcomeUnknown(
			`The check wasn't complete after ${duration(this.budgetMs)}`,
			onScreenOnly(
				'The next check begins again. If this repeats, check fewer calls, or ask your n8n administrator to raise N8N_SCHEDULER_POLL_TIMEOUT.',
			),
		);
	}
}
