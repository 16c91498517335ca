import type { Explanation } from './explanation';
import type { ErrorCode } from './errorTable';
import { firstCharacters } from '../values/text';
import { messageOf } from '../values/values';

/** What is known of an error besides its text. */
export type ErrorFacts = {
	/** The text of `origin`, shortened if it's very long. */
	originalMessage?: string | undefined;
	/** The source of `originalMessage`. */
	origin?: ErrorOrigin | undefined;
	/** The HTTP status of the response, if there was one. */
	status?: number | undefined;
	/** Whether the same request may succeed later without changes. */
	isTransient?: boolean;
	/** Whether nothing in the request can be corrected, so the resolution is complete. */
	isFinal?: boolean;
	/** The error of a part, such as one call, that this one reports. */
	cause?: unknown;
};

/** A list of thousands of rejected rows would fill each item, and the context of a model. */
const MAX_ORIGINAL_CHARACTERS = 2_000;

/** An error for a person or a model: `message` says what happened, `resolution` what to do. */
export class ExplainedError extends Error {
	override readonly name: string = 'ExplainedError';
	readonly originalMessage: string | undefined;
	readonly origin: ErrorOrigin;
	readonly status: number | undefined;
	readonly isTransient: boolean;
	readonly isFinal: boolean;

	constructor(
		readonly outcome: Outcome,
		message: string,
		/** What to do. */
		readonly resolution: string,
		{
			originalMessage,
			origin = 'service',
			status,
			isTransient = false,
			isFinal = false,
			cause,
		}: ErrorFacts = {},
	) {
		super(message, cause === undefined ? {} : { cause });
		this.originalMessage =
			originalMessage !== undefined && originalMessage.length > MAX_ORIGINAL_CHARACTERS
				? `${firstCharacters(originalMessage, MAX_ORIGINAL_CHARACTERS)}…`
				: originalMessage;
		this.origin = origin;
		this.status = status;
		this.isTransient = isTransient;
		this.isFinal = isFinal;
	}

	/** Message and resolution, to create another error with the same text. */
	get explanation(): Explanation {
		return { message: this.message, resolution: this.resolution };
	}

	/** The resolution and the original message. */
	get description(): string {
		if (this.originalMessage === undefined) return this.resolution;
		return `${this.resolution} ${QUOTES[this.origin]}: ${asSentence(this.originalMessage)}`.trim();
	}
}

/**
 * - `service`: the error body of the service
 * - `response`: a response in another form, which a proxy or firewall may have sent
 * - `network`: no response, only the code of the network fault
 * - `n8n`: why n8n doesn't send the request, or what it remembers of an earlier one
 */
export type ErrorOrigin = 'service' | 'response' | 'network' | 'n8n';

/** How a description introduces the original message. */
const QUOTES: { [origin in ErrorOrigin]: string } = {
	service: 'The service said',
	response: 'The response was',
	network: 'The network reported',
	n8n: 'n8n said',
};

/** Whether the same request may succeed later. False for errors without an explanation. */
export function isTransient(error: unknown): boolean {
	return error instanceof ExplainedError && error.isTransient;
}

/**
 * What is known about the effect of a request.
 * - `not_sent`: the request didn't reach the service, or the service was too busy to take it
 * - `rejected`: the service rejected it, or an HTTP status says that it wasn't processed
 * - `unknown`: it may have taken effect
 */
export type Outcome = 'not_sent' | 'rejected' | 'unknown';

/** An invalid parameter or row, or a value that the profile of the credential lacks. The request isn't sent, or not again. */
export class InvalidInput extends ExplainedError {
	override readonly name = 'InvalidInput';

	constructor(message: string, resolution: string, facts: ErrorFacts = {}) {
		super('not_sent', message, resolution, facts);
	}
}

/**
 * The request didn't reach the service, for example because of an unknown host or an untrusted certificate. `isTransient`
 * is false if a person must fix something, such as a certificate or a rule of n8n.
 */
export class NotSent extends ExplainedError {
	override readonly name = 'NotSent';

	constructor(message: string, resolution: string, facts: ErrorFacts = {}) {
		super('not_sent', message, resolution, { isTransient: true, origin: 'network', ...facts });
	}
}

/** The request was sent, perhaps in an earlier attempt, and no response shows whether it took effect. */
export class OutcomeUnknown extends ExplainedError {
	override readonly name = 'OutcomeUnknown';

	constructor(message: string, resolution: string, facts: ErrorFacts = {}) {
		// Named, because the cause of an error isn't enumerable.
		const { cause, status, isTransient = true } = facts;
		const { origin = status === undefined ? 'network' : 'service' } = facts;
		super('unknown', message, resolution, { ...facts, origin, cause, isTransient });
	}

	/** As plain data, to store between attempts. {@link OutcomeUnknown.fromStored} restores the error. */
	toStored(): StoredUnknown {
		const { explanation, originalMessage, status, origin } = this;
		return {
			...explanation,
			origin,
			...(originalMessage !== undefined && { originalMessage }),
			...(status !== undefined && { status }),
		};
	}

	static fromStored({ message, resolution, ...facts }: StoredUnknown): OutcomeUnknown {
		return new OutcomeUnknown(message, resolution, facts);
	}

	/** The same error with a text that names what was sent. */
	withText(text: Partial<Explanation>): OutcomeUnknown {
		const { message, resolution } = { ...this.explanation, ...text };
		return new OutcomeUnknown(message, resolution, this);
	}
}

/**
 * A response that doesn't have what was asked for, and won't until the person who built the workflow, or the service
 * provider, changes something.
 */
export function unusable(message: string, advice: string, facts: ErrorFacts = {}): OutcomeUnknown {
	return new OutcomeUnknown(message, advice, { ...facts, isTransient: false });
}

/** @throws the failure of a read before the request. If it's unknown, certainly nothing was sent. */
export function failedBeforeSending(error: unknown): never {
	if (!(error instanceof OutcomeUnknown)) throw error;
	throw new NotSent(error.message, error.resolution, error);
}

/** An unknown outcome as stored between attempts. */
export type StoredUnknown = Explanation & {
	origin?: ErrorOrigin;
	originalMessage?: string;
	status?: number;
};

/** The service rejected the request, or an HTTP status says that it wasn't processed. */
export class ServiceRejection extends ExplainedError {
	override readonly name = 'ServiceRejection';

	constructor(
		{ message, resolution, isTransient = false }: Explanation,
		originalMessage: string,
		override readonly status: number,
		/** The documented error, if it's one, and the texts of the error body. */
		readonly rejection: { code?: ErrorCode | undefined; texts: string[] },
		origin: ErrorOrigin = 'service',
	) {
		super('rejected', message, resolution, { originalMessage, origin, isTransient });
	}
}

/** Whether the service rejected a request with this documented error. */
export function isRejection(error: unknown, code: ErrorCode): error is ServiceRejection {
	return error instanceof ServiceRejection && error.rejection.code === code;
}

/**
 * The outcome of a request with an idempotency key whose earlier outcome is unknown. A later failure doesn't change it.
 *
 * @param failure of the later attempt
 */
export function failedRepeat({
	originalMessage,
	origin,
}: Pick<ErrorFacts, 'originalMessage' | 'origin'>): OutcomeUnknown {
	return new OutcomeUnknown(
		'An earlier attempt may have sent this, and a later attempt failed, so the outcome is unknown',
		'Check the service. If this is missing, sending it again with the same idempotency key is safe.',
		{ originalMessage, origin },
	);
}

/**
 * Narrows an error to one with an explanation.
 *
 * @throws any other error unchanged, because it's a bug of this package
 */
export function explained(error: unknown): ExplainedError {
	if (error instanceof ExplainedError) return error;
	throw error;
}

/** What happened, and what to do, in one text. */
export function errorText(error: unknown): string {
	if (!(error instanceof ExplainedError)) return messageOf(error);
	return `${error.message}. ${error.description}`.trim();
}

/** The output field for why the last reading failed. The item also has the values of an earlier one, if there was one. */
export const NOT_READ_FIELD = 'not_read';

/** The fields of an item that failed (`toErrorItem`). */
export const ERROR_FIELDS = ['error', 'message', 'details'] as const;

/** Ends a text with a period, so that another sentence can follow. */
export function asSentence(text: string): string {
	return /[.!?]$/.test(text) ? text : `${text}.`;
}
