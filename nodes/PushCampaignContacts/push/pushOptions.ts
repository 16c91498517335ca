import type { ApiClient } from '../../shared/api/client';
import type { DeduplicationStore } from '../../shared/deduplicationStore';
import type { BegunRowsOptions } from './begunRows';
import type { AttemptOptions } from './attemptSettings';
import type { PushProgress } from './progress';
import type { SentNumbers } from './sentNumbers';

/** The part of the options that all runs of the node share. */
export type BegunLog = Pick<BegunRowsOptions, 'log' | 'memory' | 'executionId'>;

export type PushOptions = AttemptOptions & {
	client: ApiClient;
	/** At most 10,000, the documented limit. */
	contactsPerRequest: number;
	/** Checked before each request: whether the execution was stopped. */
	stopRequested: () => boolean;
	/** Records rows before they are sent, for a retry of the execution. */
	begun?: BegunLog | undefined;
	/** Numbers that other runs of the node pushed in this execution. */
	sentNumbers?: SentNumbers | undefined;
	/** For *Skip Numbers Pushed Before*: the numbers that earlier executions pushed. */
	pushedNumbers?: DeduplicationStore | undefined;
	/** With `pushedNumbers`: records that the execution sends new numbers. */
	markExecution?: () => Promise<void>;
	/** With `pushedNumbers`: an earlier attempt of the execution pushed without it, so any row may be in the campaign. */
	isAnotherPush?: boolean;
};

/** Undefined if n8n stores nothing to retry. */
export function begunRowsOptions(
	{ begun, campaign, isTool }: PushOptions,
	{ record }: PushProgress,
): BegunRowsOptions | undefined {
	// Each list of contacts from a model is a separate push.
	return begun && { ...begun, campaign: campaign.id, push: isTool ? {} : record };
}
