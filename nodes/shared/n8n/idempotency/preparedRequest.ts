import type { INodeExecutionData } from 'n8n-workflow';
import { ExplainedError, OutcomeUnknown } from '../../api/errors';
import { forEveryone, USER } from '../../api/resolution';

/** A checked request that must not be sent twice. */
export type PreparedRequest<Deps> = {
	/** The values to send. A later attempt recognizes the item by them. */
	payload: unknown;
	/**
	 * What the request changes, such as a phone number. As a tool, only the latest request for a subject blocks a
	 * repeat, so a number that was removed can be added again.
	 */
	subject?: unknown;
	/** Never repeated for the same item and person, even after an edit. */
	person?: unknown;
	/**
	 * The person or thing that the request is for, such as a chat session. Defaults to the person, the subject, or the
	 * payload. After n8n crashed, *Retry* compares the number of started requests per target.
	 */
	target?: unknown;
	/** Whether it changes nothing, or sending it twice has the same effect as sending it once. */
	idempotent?: boolean;
	/** The service accepts requests with this key once, so the same key may be sent again. */
	idempotencyKey?: string | undefined;
	/** Whether a model may repeat the request after it completed. Customers say "yes" twice. */
	repeatable?: boolean;
	/** The limit per agent run or MCP session, across all tools. */
	quota?: Quota;
	/** Runs before the request is sent, but not before a replay. Example: the scheduled time is in the future. */
	check?: () => void;
	/** Runs immediately before the request is sent, such as the calling hours. If it throws, the request wasn't started. */
	lastCheck?: () => void;
	/** Counts as sent, unless it throws an `ExplainedError` other than `OutcomeUnknown`. */
	send: (deps: Deps) => Promise<INodeExecutionData[]>;
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

/** `unit`: a singular noun for messages, such as "call". */
export type Quota = { unit: string; max: number };

/** The model has used up its quota. */
export class QuotaExceeded extends ExplainedError {
	override readonly name = 'QuotaExceeded';
	override readonly isFinal = true;
	readonly outcome = 'not_sent';

	constructor({ unit, max }: Quota) {
		super(
			`Nothing was sent, because this run has used its limit of ${max} ${unit}${max === 1 ? '' : 's'}`,
			forEveryone(
				`Do not ask for another ${unit} now. Tell ${USER} what was done and what remains to be done.`,
			),
		);
	}
}

export function targetOf<Deps>({
	target,
	person,
	subject,
	payload,
}: PreparedRequest<Deps>): unknown {
	return target ?? person ?? subject ?? payload;
}

/** What identifies the request in the write-ahead log, beside its target. */
export function loggedPayload<Deps>({ payload, idempotencyKey }: PreparedRequest<Deps>): unknown {
	return idempotencyKey === undefined ? payload : { idempotencyKey };
}

/** The outcome of a request with an idempotency key whose earlier outcome is unknown. A later failure doesn't change it. */
export function failedRepeat({ originalMessage, origin }: ExplainedError): OutcomeUnknown {
	return new OutcomeUnknown(
		'An earlier attempt may have sent this, and a later attempt failed, so the outcome is unknown',
		{
			onScreen:
				'Check the service. If this is missing, send it again with the same idempotency key, which is safe.',
			forModel: '',
		},
		originalMessage,
		undefined,
		origin,
	);
}

/** The outcome of a request that an earlier attempt started, and of which n8n has no record. */
export function begunEarlier<Deps>({ withDetails }: PreparedRequest<Deps>): OutcomeUnknown {
	const error = new OutcomeUnknown(
		'An earlier attempt of this execution may have sent this, and n8n has no record of the result',
		{
			onScreen: "It wasn't sent again. Check the service before you send it in a new execution.",
			forModel: 'It was not sent again.',
		},
		undefined,
		undefined,
		'n8n',
	);
	return withDetails?.(error) ?? error;
}
