import type { Clock } from '../clock';
import { parseJson } from '../json';
import { messageOf } from '../values';
import { ExplainedError, NotSent, type OutcomeUnknown } from './errors';
import { resolutionOf, textsOfFault } from './errorTable';
import {
	BLOCKED_BY_N8N,
	TransportFault,
	type ApiResponse,
	type ServiceRequest,
	type Transport,
} from './http';
import { outcomeUnknown, parseResponse, showsEffect, type ResponseChecks } from './response';
import { isLasting, neverSent, sendWithRetry } from './retry';
import { withoutSecret } from './secrets';

/** Sends all requests to the service: retries them, reads the envelope, and explains errors. */
export class ApiClient {
	/**
	 * @param apiToken hidden in all responses
	 * @param notAfter in milliseconds of the clock's `elapsed()`: no further attempt starts after this
	 * @param stop aborted when the execution is stopped. Ends all waits between attempts.
	 */
	constructor(
		private readonly transport: Transport,
		readonly clock: Clock,
		private readonly random: () => number,
		private readonly apiToken = '',
		private readonly notAfter = Infinity,
		private readonly stop?: AbortSignal,
	) {}

	/**
	 * @param renew the request for a further attempt. If it throws, nothing more is sent.
	 * @throws ServiceRejection if the request was rejected
	 * @throws NotSent if the request didn't reach the service
	 * @throws OutcomeUnknown if it may have taken effect
	 */
	async send(
		request: ServiceRequest,
		checks: ResponseChecks,
		renew: () => ServiceRequest | Promise<ServiceRequest> = () => request,
	): Promise<ApiResponse> {
		let attempts = 0;
		try {
			const response = await sendWithRetry(
				request.method,
				async () => await this.transport(attempts++ === 0 ? request : await renew()),
				{
					clock: this.clock,
					random: this.random,
					notAfter: this.notAfter,
					signal: this.stop,
					tookEffect: ({ text }) => showsEffect(request, parseJson(text), checks.effectFields),
				},
			);
			const redacted = { ...response, text: this.hideApiToken(response.text) };
			const now = this.clock.now();
			return parseResponse(request, redacted, checks, now);
		} catch (error) {
			throw explain(request, error, this.hideApiToken(messageOf(error)));
		}
	}

	private hideApiToken(text: string): string {
		return withoutSecret(text, this.apiToken);
	}
}

/** @param message of the error, without the API token */
function explain(request: ServiceRequest, error: unknown, message: string): Error {
	if (error instanceof ExplainedError) return error;
	if (!(error instanceof TransportFault)) {
		// It may have occurred after the request was sent.
		return outcomeUnknown(request, "The response couldn't be read", { originalMessage: message });
	}
	return faultOf(request, error, message);
}

/** @param message of the fault, without the API token */
function faultOf(
	request: ServiceRequest,
	fault: TransportFault,
	message: string,
): NotSent | OutcomeUnknown {
	const text = textsOfFault(fault);
	if (!neverSent(fault)) {
		return outcomeUnknown(request, text.message, { originalMessage: fault.code });
	}
	const isBlocked = fault.code === BLOCKED_BY_N8N;
	return new NotSent(text.message, resolutionOf(text), {
		originalMessage: isBlocked ? message : fault.code,
		origin: isBlocked ? 'n8n' : 'network',
		isTransient: !isLasting(fault),
	});
}
