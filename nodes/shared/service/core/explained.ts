import type { JsonObject } from '../types';

/**
 * Everything that goes wrong is told in two sentences: what happened, and what to do.
 * `message` is the first, `todo` the second; `said` keeps the words of the service or the network.
 */
export abstract class ExplainedError extends Error {
	abstract readonly outcome: Outcome;

	constructor(
		message: string,
		readonly todo: string,
		readonly said?: string,
	) {
		super(message);
	}

	/** What to do, followed by what the service said, or by the network's code where it said nothing. */
	get advice(): string {
		if (this.said === undefined) return this.todo;
		return `${this.todo} The ${this.saidBy} said: ${asSentence(this.said)}`;
	}

	/** Whose words `said` holds: without an answer it is the code of the network's fault. */
	get saidBy(): 'service' | 'network' {
		return 'service';
	}
}

/**
 * What is known about the request's effect:
 * `notSent` nothing left n8n · `refused` the service answered no · `unknown` it may have taken effect.
 */
export type Outcome = 'notSent' | 'refused' | 'unknown';

/** A parameter or a row that the document rules out; found before anything is sent. */
export class InvalidInput extends ExplainedError {
	override readonly name = 'InvalidInput';
	readonly outcome = 'notSent';
}

/** An open detail of the service that the credential does not hold yet. */
export class MissingOpenDetail extends ExplainedError {
	override readonly name = 'MissingOpenDetail';
	readonly outcome = 'notSent';
}

/** The request did not reach the service: refused connection, unknown host, TLS. */
export class NotSent extends ExplainedError {
	override readonly name = 'NotSent';
	readonly outcome = 'notSent';

	override get saidBy(): 'network' {
		return 'network';
	}
}

/** The request left, and no readable answer came: nobody knows whether it took effect. */
export class OutcomeUnknown extends ExplainedError {
	override readonly name = 'OutcomeUnknown';
	readonly outcome = 'unknown';

	constructor(
		message: string,
		todo: string,
		said?: string,
		readonly status?: number,
	) {
		super(message, todo, said);
	}

	override get saidBy(): 'service' | 'network' {
		return this.status === undefined ? 'network' : 'service';
	}
}

/** The service answered that it will not do this (Errors). */
export class ServiceRefusal extends ExplainedError {
	override readonly name = 'ServiceRefusal';
	readonly outcome = 'refused';

	constructor(
		message: string,
		todo: string,
		said: string,
		readonly status: number,
		readonly refusal: Refusal,
	) {
		super(message, todo, said);
	}
}

/** The parts of an error body by which a refusal is recognized, whatever its HTTP status. */
export type Refusal = {
	/** `error`, or the texts of `errors`. */
	texts: string[];
	/** `details.error_code`. */
	errorCode?: string;
	/** `upstream_body.reason`. */
	upstreamReason?: string;
	body: JsonObject;
};

/** Closes what may be the service's own words, so that more can follow. */
export function asSentence(text: string): string {
	return /[.!?]$/.test(text) ? text : `${text}.`;
}
