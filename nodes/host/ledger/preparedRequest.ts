import type { INodeExecutionData } from 'n8n-workflow';
import type { Quota } from '../../core/ledger/ledger';
import type { OutcomeUnknown } from '../../core/service/errors';
import type { Limiter } from '../../core/values/keyedMutex';
import type { CallerRun } from '../caller/caller';
import type { AccountClient } from '../http/accountClient';

/** What every request needs to be sent. */
export type RequestDeps = CallerRun & { account: AccountClient };

/** What JSON keeps. A `Set` would be the same as any other. */
type Hashable =
	| string
	| number
	| boolean
	| null
	| undefined
	| readonly Hashable[]
	| { readonly [name: string]: Hashable };

/** A checked request that must not be sent twice. */
export type PreparedRequest = {
	/** The values to send. For a model, they decide what the same request is: with other values, it's another one. */
	payload: Hashable;
	/**
	 * The person or thing that the request is for, such as a phone number or a chat session. In a workflow, it decides what
	 * the same request is, together with the item: with an edited text, it's still the same one. Undefined if the request may
	 * be sent again after a crash. The payload then takes its place.
	 */
	target: unknown;
	/**
	 * Whether a model may send the same request again in one run. By default, it never may.
	 * - `afterCompletion`: as soon as it completed, as customers say "yes" twice.
	 * - `afterOtherRequest`: after another request to the same target, as a number that was removed can be added again.
	 */
	modelMayRepeat?: 'afterCompletion' | 'afterOtherRequest';
	/** The service accepts requests with this key once, so the same key may be sent again. */
	idempotencyKey?: string | undefined;
	/** How many such requests a model may ask for. */
	quota?: Quota | undefined;
	/** Runs it after others, such as earlier ones of its chat session. */
	queue?: Limiter;
	/**
	 * Checks the request, and counts it with the others, such as for a limit of calls. Runs before the first item is sent,
	 * unless an earlier attempt sent this one. Not for a model, which may repeat a request that can't be sent any more, such as
	 * one for a time that has passed.
	 */
	check?: () => void;
	/**
	 * Reserves what it needs, such as a call of a limit. Runs before it's noted, when all requests are checked, so that the
	 * first one can reserve for all.
	 */
	reserve?: () => Promise<void>;
	/**
	 * Counts as sent, unless it throws an `ExplainedError` other than `OutcomeUnknown`. After a `LeftOut`, such as outside
	 * calling hours, the item has the output of that error.
	 */
	send: (deps: RequestDeps) => Promise<INodeExecutionData[]>;
	/** What happened, for a model, such as "The message was sent." */
	happened: (output: INodeExecutionData[]) => string;
	/**
	 * What a model does next, if the request goes on after it was sent.
	 *
	 * @param recognizesRepeats whether the same request is recognized when it comes again
	 */
	nextStep?: (output: INodeExecutionData[], recognizesRepeats: boolean) => string | undefined;
	/** Adds the request, and how to check it, to an unknown outcome. */
	withDetails?: (error: OutcomeUnknown) => OutcomeUnknown;
	/** Formats new and replayed output. What it adds isn't stored. */
	formatOutput?: (output: INodeExecutionData[]) => INodeExecutionData[];
};
