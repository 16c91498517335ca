import type { JsonObject } from './types';

/**
 * Everything that goes wrong is told in two sentences: what happened, and what to do.
 * `message` is the first, `todo` the second; `serviceSaid` keeps the service's own words.
 */
export abstract class ExplainedError extends Error {
	abstract readonly outcome: Outcome;

	constructor(
		message: string,
		readonly todo: string,
		readonly serviceSaid?: string,
	) {
		super(message);
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
}

/** The request left, and no readable answer came: nobody knows whether it took effect. */
export class OutcomeUnknown extends ExplainedError {
	override readonly name = 'OutcomeUnknown';
	readonly outcome = 'unknown';

	constructor(
		message: string,
		todo: string,
		serviceSaid?: string,
		readonly status?: number,
	) {
		super(message, todo, serviceSaid);
	}
}

/** The service answered that it will not do this (Errors). */
export class ServiceRefusal extends ExplainedError {
	override readonly name = 'ServiceRefusal';
	readonly outcome = 'refused';

	constructor(
		message: string,
		todo: string,
		serviceSaid: string,
		readonly status: number,
		readonly refusal: Refusal,
	) {
		super(message, todo, serviceSaid);
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
