import type { INodeExecutionData } from 'n8n-workflow';
import type { ExplainedError, OutcomeUnknown } from '../../core/service/errors';
import { hashOf } from '../../core/values/hash';
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

/** The limit per agent run or MCP session. `unit`: a singular noun for messages, such as "call". */
export type Quota = { unit: string; max: number };

/** Stands for the idempotency key and the content. */
export function repeatKeyOf({ idempotencyKey, payload }: PreparedRequest): string | undefined {
	return idempotencyKey === undefined ? undefined : hashOf([idempotencyKey, payload]);
}

/** The person gets it once, also in other runs of the node. */
export type OncePerPerson = {
	person: string;
	/** Why another item with the same person isn't sent. `item`: the index of the earlier one, null in another run or request. */
	again: (earlier: { item: number | null; isUnknown: boolean }) => ExplainedError;
};

/** A checked request, which changes something in the service. */
export type PreparedRequest = {
	/** The values to send. For a model, they decide what the same request is: with other values, it's another one. */
	payload: Hashable;
	/** What the request is for, such as a chat session. In a workflow, a retry recognizes its item by it. By default, the payload. */
	target?: unknown;
	/**
	 * What must not get it twice in the execution: a person, or in a workflow, the target of the item. Undefined if it's harmless
	 * twice.
	 */
	once?: OncePerPerson | 'item';
	/** Why it isn't sent, known before the first item is sent. */
	instead?: ExplainedError | undefined;
	/** Whether `send` sends nothing, so it isn't claimed in a first attempt. */
	isOnlyChecked?: boolean;
	/** The service accepts requests with this key once, so the same key may be sent again. */
	idempotencyKey?: string | undefined;
	/** How many such requests a model may ask for. */
	quota?: Quota | undefined;
	/** Runs it after others, such as earlier ones of its chat session. */
	queue?: Limiter;
	/**
	 * Checks the request. Runs before the first item is sent, unless an earlier attempt sent this one. Not for a model, which may
	 * repeat a request that can't be sent any more, such as one for a time that has passed.
	 */
	check?: () => void;
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
