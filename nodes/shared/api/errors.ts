import type { ErrorCode, RejectionBody } from './errorTable';
import { onScreenOnly, type Reader, type Resolution } from './modelAdvice';

/**
 * Everything that goes wrong is told in two sentences: what happened, and what to do.
 * `message` is the first, `resolution` the second; `originalMessage` keeps the words of whoever answered.
 */
export abstract class ExplainedError extends Error {
	abstract readonly outcome: Outcome;

	/** Whether the very same request may succeed later, with nothing changed by anyone. */
	readonly isTransient: boolean = false;

	/** Whether nothing in the request can be corrected, so that its resolution says all. */
	readonly isFinal: boolean = false;

	/** Whose words `originalMessage` holds. */
	readonly origin: ErrorOrigin = 'service';

	/** What to do, for a person at n8n's screen. */
	readonly resolution: string;

	constructor(
		message: string,
		private readonly given: Resolution,
		readonly originalMessage?: string,
	) {
		super(message);
		this.resolution = given.onScreen;
	}

	/** What a model can do that uses the node as a tool; empty if nothing. */
	get resolutionForModel(): string {
		return this.given.forModel;
	}

	/** The two sentences, for an error that says the same of something else. */
	get explanation(): { message: string; resolution: Resolution } {
		return { message: this.message, resolution: this.given };
	}

	/** What to do, followed by what was said, and by whom. */
	get advice(): string {
		return this.adviceFor('onScreen');
	}

	adviceFor(reader: Reader): string {
		const resolution = this.given[reader];
		if (this.originalMessage === undefined) return resolution;
		const who = this.origin === 'n8n' ? 'n8n' : `The ${this.origin}`;
		return `${resolution} ${who} said: ${asSentence(this.originalMessage)}`.trim();
	}
}

/**
 * `service` its own error body · `answer` something came back that is not in the service's form, so a proxy or a
 * firewall may have written it · `network` no answer: the code of the fault · `n8n` why it let no request out.
 */
export type ErrorOrigin = 'service' | 'answer' | 'network' | 'n8n';

/** Whether waiting and asking again may help; anything that is not explained is taken for lasting. */
export function isTransient(error: unknown): boolean {
	return error instanceof ExplainedError && error.isTransient;
}

/**
 * What is known about the request's effect:
 * `notSent` nothing left n8n · `rejected` the service answered no · `unknown` it may have taken effect.
 */
export type Outcome = 'not_sent' | 'rejected' | 'unknown';

/** A parameter or a row that the document rules out; found before anything is sent. */
export class InvalidInput extends ExplainedError {
	override readonly name = 'InvalidInput';
	readonly outcome = 'not_sent';
}

/** What the document leaves open and the credential does not say yet. */
export class MissingMapping extends ExplainedError {
	override readonly name = 'MissingMapping';
	readonly outcome = 'not_sent';
}

/** The request surely did not reach the service: refused connection, unknown host, a certificate that is not trusted. */
export class NotSent extends ExplainedError {
	override readonly name = 'NotSent';
	readonly outcome = 'not_sent';

	/** @param isTransient false where only a person can help: a certificate, a rule of n8n */
	constructor(
		message: string,
		resolution: Resolution,
		originalMessage?: string,
		override readonly isTransient = true,
		override readonly origin: 'network' | 'n8n' = 'network',
	) {
		super(message, resolution, originalMessage);
	}
}

/** The request left, and no answer shows what became of it: nobody knows whether it took effect. */
export class OutcomeUnknown extends ExplainedError {
	override readonly name = 'OutcomeUnknown';
	readonly outcome = 'unknown';
	override readonly isTransient = true;

	constructor(
		message: string,
		resolution: Resolution,
		originalMessage?: string,
		readonly status?: number,
		override readonly origin: ErrorOrigin = status === undefined ? 'network' : 'service',
	) {
		super(message, resolution, originalMessage);
	}

	/** As plain data, to be stored between two tries; {@link OutcomeUnknown.fromStored} makes an error of it again. */
	toStored(): StoredUnknown {
		const { message, resolution, resolutionForModel, originalMessage, status, origin } = this;
		return {
			message,
			resolution,
			resolutionForModel,
			origin,
			...(originalMessage !== undefined && {
				originalMessage: originalMessage.slice(0, MAX_STORED_CHARACTERS),
			}),
			...(status !== undefined && { status }),
		};
	}

	static fromStored({
		message,
		resolution,
		resolutionForModel = '',
		originalMessage,
		status,
		origin,
	}: StoredUnknown): OutcomeUnknown {
		const advice = { onScreen: resolution, forModel: resolutionForModel };
		return new OutcomeUnknown(message, advice, originalMessage, status, origin);
	}

	/** The same finding in the words of whoever knows what was sent. */
	withText({
		message = this.message,
		resolution = this.explanation.resolution,
	}: {
		message?: string;
		resolution?: Resolution;
	}) {
		return new OutcomeUnknown(message, resolution, this.originalMessage, this.status, this.origin);
	}
}

/** An unknown outcome as it is kept between two tries. */
export type StoredUnknown = {
	message: string;
	resolution: string;
	resolutionForModel?: string;
	origin?: ErrorOrigin;
	originalMessage?: string;
	status?: number;
};

/** Characters of the service's words that are kept for the next try. */
const MAX_STORED_CHARACTERS = 300;

/** The service returned another record than the one that was requested: nothing of it may be used. */
export class OtherRecord extends ExplainedError {
	override readonly name = 'OtherRecord';
	readonly outcome = 'unknown';

	/** @param what is read, in words: "call" */
	constructor(what: string, id: string) {
		super(
			`The service returned another ${what} than the one that was requested`,
			onScreenOnly(
				`Nothing was changed by this read. Report it to your service provider: the response for ${what} "${id}" is about another one.`,
			),
		);
	}
}

/** The service answered that it will not do this (Errors), or a status says that nothing was done. */
export class ServiceRejection extends ExplainedError {
	override readonly name = 'ServiceRejection';
	readonly outcome = 'rejected';
	override readonly isTransient: boolean;

	constructor(
		message: string,
		resolution: Resolution,
		originalMessage: string,
		readonly status: number,
		readonly rejection: RejectionBody,
		override readonly origin: ErrorOrigin = 'service',
	) {
		super(message, resolution, originalMessage);
		this.isTransient = status === TOO_MANY_REQUESTS;
	}
}

export const TOO_MANY_REQUESTS = 429;

/** Whether the service rejected with one of the errors that its document names (Errors › Error texts and codes). */
export function isRejection(error: unknown, code: ErrorCode): error is ServiceRejection {
	return error instanceof ServiceRejection && error.rejection.code === code;
}

/** The error itself where it can be told to a person; a defect of ours goes on as it is. */
export function explained(error: unknown): ExplainedError {
	if (error instanceof ExplainedError) return error;
	throw error;
}

/** Closes what may be the service's own words, so that more can follow. */
export function asSentence(text: string): string {
	return /[.!?]$/.test(text) ? text : `${text}.`;
}
