import type { Clock } from '../values/clock';
import { parseJson } from '../values/json';
import { messageOf } from '../values/values';
import { ExplainedError, NotSent } from './errors';
import {
	BLOCKED_BY_N8N,
	TransportFault,
	type ApiResponse,
	type ServiceRequest,
	type Transport,
} from './http';
import { findEffect, outcomeUnknown, parseResponse, type ResponseChecks } from './response';
import { isPermanent, neverSent, sendWithRetry } from './retry';
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
					notAfter: this.notAfter,
					signal: this.stop,
					tookEffect: ({ text }) => findEffect(request, parseJson(text)) !== undefined,
				},
			);
			const redacted = { ...response, text: this.hideApiToken(response.text) };
			return parseResponse(request, redacted, checks);
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
	const { code: originalMessage } = error;
	if (!neverSent(error)) return outcomeUnknown(request, 'No response arrived', { originalMessage });
	if (originalMessage === BLOCKED_BY_N8N) {
		return new NotSent(
			'n8n blocked the request',
			'In n8n, requests to this host must be allowed. Ask your n8n administrator.',
			{ originalMessage: message, origin: 'n8n', isTransient: false },
		);
	}
	return new NotSent(
		"The service can't be reached, so the request wasn't sent",
		"In n8n, check 'Base URL' in the credential and the network of the instance. If the certificate is invalid, ask your service provider to fix it.",
		{ originalMessage, isTransient: !isPermanent(error) },
	);
}
