import type { INodeExecutionData } from 'n8n-workflow';
import type { Job } from '../../core/claims/deliveries';
import type { ExplainedError, OutcomeUnknown } from '../../core/service/errors';
import { hashOf } from '../../core/values/hash';
import type { Limiter } from '../../core/values/keyedMutex';
import type { CallerRun } from '../caller/caller';
import type { AccountClient } from '../http/accountClient';

/** What every request needs to be sent. */
export type RequestDeps = CallerRun & { account: AccountClient };

/** The person gets it once, also in other runs of the node. */
export type OncePerPerson = {
	person: string;
	/** Why another item with the same person isn't sent. `item`: the index of the earlier one, null in another run or request. */
	again: (earlier: { item: number | null; isUnknown: boolean }) => ExplainedError;
};

/** A checked request, which changes something in the service. */
export type PreparedRequest = {
	/** The values to send. For a model, they decide what the same request is: with other values, it's another one. */
	payload: unknown;
	/** What the request is for, such as a chat session. In a workflow, a retry recognizes its item by it. By default, the payload. */
	target?: unknown;
	/**
	 * What must not get it twice in the execution: a person, or in a workflow, the target of the item. Undefined if it's harmless
	 * twice.
	 */
	once?: OncePerPerson | 'item';
	/** Why it isn't sent. An `InvalidInput` stops the node before it sends anything, unless it continues on errors. */
	instead?: ExplainedError | undefined;
	/** Whether `send` sends nothing, so it isn't claimed in a first attempt. */
	isOnlyChecked?: boolean;
	/** The service accepts requests with this key once, so the same key may be sent again. */
	idempotencyKey?: string | undefined;
	/** Runs it after others, such as earlier ones of its chat session. */
	queue?: Limiter;
	/**
	 * Counts as sent, unless it throws an `ExplainedError` other than `OutcomeUnknown`. After a `LeftOut`, such as outside
	 * calling hours, the item has the output of that error.
	 */
	send: (deps: RequestDeps) => Promise<INodeExecutionData[]>;
	/** What happened, for a model, such as "The message was sent." */
	happened: (output: INodeExecutionData[]) => string;
	/** What a model does next, if the request goes on after it was sent. */
	nextStep?: (output: INodeExecutionData[]) => string | undefined;
	/** Adds the request, and how to check it, to an unknown outcome. */
	withDetails?: (error: OutcomeUnknown) => OutcomeUnknown;
	/** Formats new and replayed output. What it adds isn't stored. */
	formatOutput?: (output: INodeExecutionData[]) => INodeExecutionData[];
};

/** What doesn't depend on who asks. */
export function jobOf(
	{ once, idempotencyKey, payload, withDetails }: PreparedRequest,
	own: Pick<Job, 'id' | 'who' | 'isClaimed'>,
): Job {
	const isPerson = typeof once === 'object';
	const keyed = idempotencyKey && hashOf([idempotencyKey, payload]);
	return {
		...own,
		withDetails,
		who: isPerson ? once.person : own.who,
		again: isPerson ? (isUnknown) => once.again({ item: null, isUnknown }) : undefined,
		repeatKey: once === undefined ? 'harmless twice' : keyed,
	};
}
