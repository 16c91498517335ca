import { findEffect, outcomeUnknown, parseResponse, type ResponseChecks } from './response';
import { onScreenOnly } from './resolution';
import { ExplainedError, NotSent } from './errors';
import { withoutSecret } from './secrets';
import type { Clock } from '../clock';
import { parseJson } from '../json';
import {
	BLOCKED_BY_N8N,
	CANCELED,
	TransportFault,
	type ApiResponse,
	type ServiceRequest,
	type Transport,
} from './http';
import { isCertificateFault, neverSent, sendWithRetry } from './retry';
import { messageOf } from '../values';

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
					tookEffect: ({ status, text }) => {
						const parsed = { status, body: parseJson(text) };
						return findEffect(request, parsed, checks.effectFields) !== undefined;
					},
				},
			);
			const redacted = { ...response, text: this.hideApiToken(response.text) };
			const now = this.clock.now();
			return { ...parseResponse(request, redacted, checks, now), url: response.url };
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
		return outcomeUnknown(request, { message: "The response couldn't be read" }, message);
	}
	const { code } = error;
	if (code === BLOCKED_BY_N8N) {
		return new NotSent(
			'n8n blocked the request',
			onScreenOnly("Ask your n8n administrator to allow requests to the host in 'Base URL'."),
			{ originalMessage: message, isTransient: false, origin: 'n8n' },
		);
	}
	if (isCertificateFault(code)) {
		return new NotSent(
			"The service's certificate couldn't be verified, so the request wasn't sent",
			onScreenOnly(
				"Check 'Base URL' in the credential. If it's correct, ask your service provider to fix the certificate.",
			),
			{ originalMessage: code, isTransient: false },
		);
	}
	if (neverSent(error)) {
		return new NotSent(
			"The service can't be reached, so the request wasn't sent",
			onScreenOnly(
				"Check 'Base URL' in the credential and the network of your n8n instance, then try again.",
			),
			{ originalMessage: code },
		);
	}
	if (code === CANCELED) {
		return outcomeUnknown(request, {
			message: 'n8n canceled the request before a response arrived',
		});
	}
	const isSlow = code === 'ECONNABORTED' || code === 'ETIMEDOUT';
	const what = isSlow
		? 'The service took too long to respond'
		: 'The connection broke before a response arrived';
	return outcomeUnknown(request, { message: what }, code);
}
