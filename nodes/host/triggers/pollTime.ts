import type { IPollFunctions } from 'n8n-workflow';
import { OutcomeUnknown } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { DONE, duration, whenAborted } from '../../core/values/clock';
import { clock } from '../clock';

/**
 * What n8n gives a check that it never ends: each one without its scheduler, and with it the one at publication. n8n before
 * 2.38 gives nothing. Its scheduler gives the same only with a timeout of exactly 375 seconds.
 */
const NOT_ENFORCED_MS = 300_000;

/**
 * How long a check may take. n8n's scheduler ends a longer one, loses what it has found, and waits longer until the next
 * one. Without the scheduler, a check takes as long as it needs.
 */
export class PollTime {
	/** Infinity if n8n doesn't end the check. */
	private readonly budgetMs: number;
	private readonly startedAt = clock.elapsed();
	/** Aborts when the check must end. */
	readonly end: AbortSignal;

	constructor(context: IPollFunctions) {
		const givenMs = 'getPollBudgetMs' in context ? context.getPollBudgetMs() : NOT_ENFORCED_MS;
		this.budgetMs = givenMs === NOT_ENFORCED_MS ? Infinity : givenMs;
		this.end = this.share(1);
	}

	/** Aborts when this share of the time is over. */
	share(part: number): AbortSignal {
		if (this.budgetMs === Infinity) return new AbortController().signal;
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
			`The check wasn't complete after ${duration(clock.elapsed() - this.startedAt)}`,
			onScreenOnly(
				'The next check begins again. If this repeats, check fewer calls, or ask your n8n administrator to raise N8N_SCHEDULER_POLL_TIMEOUT and N8N_SCHEDULER_LEASE_DURATION.',
			),
		);
	}
}
