import type { INodeExecutionData } from 'n8n-workflow';
import { NotSent, type OutcomeUnknown } from '../../core/service/errors';
import { forEveryone, USER } from '../../core/service/resolution';

/** A checked request that must not be sent twice. */
export type PreparedRequest<Deps> = {
	/** The values to send. For a model, they decide what the same request is: with other values, it's another one. */
	payload: unknown;
	/**
	 * The person or thing that the request is for, such as a phone number or a chat session. In a workflow, it decides what
	 * the same request is, together with how many others to it came before: with an edited text, it's still the same one.
	 * Undefined if the request needs no note (`notes.ts`). The payload then takes its place.
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
	/** Runs before the first item is sent. Example: the scheduled time is in the future. */
	check?: () => void;
	/** Counts as sent, unless it throws an `ExplainedError` other than `OutcomeUnknown`. */
	send: (deps: Deps) => Promise<INodeExecutionData[]>;
	/** What happened, for a model, such as "The message was sent." */
	happened: (output: INodeExecutionData[]) => string;
	/** What a model does next, if the request goes on after it was sent. */
	nextStep?: (output: INodeExecutionData[]) => string | undefined;
	/** Adds the request, and how to check it, to an unknown outcome. */
	withDetails?: (error: OutcomeUnknown) => OutcomeUnknown;
	/** Formats new and replayed output. What it adds isn't stored. */
	formatOutput?: (output: INodeExecutionData[]) => INodeExecutionData[];
	/**
	 * The output if the request deliberately wasn't sent, such as outside calling hours. Not stored, so the next attempt
	 * checks again.
	 */
	fallbackOutput?: (reason: unknown) => INodeExecutionData[] | undefined;
};

/** The limit per agent run or MCP session, across all tools. `unit`: a singular noun for messages, such as "call". */
export type Quota = { unit: string; max: number };

/** The error of a request beyond the quota. */
export function overQuota({ unit, max }: Quota): NotSent {
	return new NotSent(
		`Nothing was sent, because this run has used its limit of ${max} ${unit}${max === 1 ? '' : 's'}`,
		forEveryone(
			`Do not ask for another ${unit} now. Tell ${USER} what was done and what remains to be done.`,
		),
		{ isTransient: false, isFinal: true },
	);
}
