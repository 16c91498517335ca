import { outcomeUnknown, parseResponse, type ResponseChecks } from './envelope';
import { onScreenOnly } from './modelAdvice';
import { shownEffect } from './effect';
import type { SuccessCheck } from './successChecks';
import { ExplainedError, NotSent } from './errors';
import { Secrets } from './secrets';
import { anyOf, type Clock } from '../clock';
import { parseJson } from '../json';
import {
	BLOCKED_BY_N8N,
	TransportFault,
	type ApiResponse,
	type ServiceRequest,
	type Transport,
	type HttpResponse,
} from './http';
import { ReadPace } from './readPace';
import { isCertificateFault, neverSent, sendWithRetry } from './retry';

/** All requests to the service go through it: sends, retries by the rule, reads the envelope, explains. */
export class ApiClient {
	private readonly secrets: Secrets;
	private readonly pace: ReadPace;

	/**
	 * @param apiToken hidden in whatever comes back, as it must be shown nowhere
	 * @param notAfter in milliseconds of the clock's `elapsed()`: from then on nothing is tried again
	 * @param stop aborted when the execution is stopped: nothing then waits any longer for a service that wants no more
	 */
	constructor(
		private readonly transport: Transport,
		readonly clock: Clock,
		private readonly random: () => number,
		apiToken?: string,
		private readonly notAfter = Infinity,
		private readonly stop?: AbortSignal,
	) {
		this.pace = new ReadPace(clock);
		this.secrets = new Secrets(apiToken);
	}

	/**
	 * @param evidence what proves in the answer that the service did it
	 * @param effectFields what only a request with an effect fills in the response: see {@link shownEffect}
	 * @param renew the request as it must be by the time of a further attempt; if it throws, nothing more is sent
	 * @param isSecret the answer holds a token or a signed address: no part of it stands in a message
	 * @throws ServiceRejection the service said no
	 * @throws NotSent nothing reached the service
	 * @throws OutcomeUnknown it may have taken effect
	 */
	async send(
		request: ServiceRequest,
		evidence: SuccessCheck,
		{
			effectFields = [],
			isSecret = false,
			renew = () => request,
		}: {
			effectFields?: readonly string[];
			isSecret?: boolean;
			renew?: () => ServiceRequest;
		} = {},
	): Promise<ApiResponse> {
		const isRead = request.method === 'GET';
		let attempts = 0;
		try {
			const answer = await sendWithRetry(
				request.method,
				async () => await this.transport(attempts++ === 0 ? request : renew()),
				{
					clock: this.clock,
					random: this.random,
					notAfter: this.notAfter,
					signal: anyOf(request.signal, this.stop),
					pace: isRead ? this.pace : undefined,
					isFinal: ({ status, text }) => {
						const response = { status, body: parseJson(text) };
						return shownEffect(request, response, effectFields) !== undefined;
					},
				},
			);
			return this.read(request, answer, { evidence, isSecret, effectFields });
		} catch (error) {
			throw this.explain(request, error);
		}
	}

	private explain(request: ServiceRequest, error: unknown): Error {
		if (error instanceof ExplainedError) return error;
		if (error instanceof TransportFault) return this.explainFault(request, error);
		// Whatever was not foreseen may have happened after the request left.
		const originalMessage = this.secrets.hide(
			error instanceof Error ? error.message : String(error),
		);
		return outcomeUnknown(request, { happened: 'The answer could not be read' }, originalMessage);
	}

	private read(
		request: ServiceRequest,
		answer: HttpResponse,
		reading: Omit<ResponseChecks, 'now'> & { isSecret: boolean },
	): ApiResponse {
		const { isSecret } = reading;
		const shown = { ...answer, text: this.secrets.hide(answer.text, isSecret) };
		const read = parseResponse(request, shown, { ...reading, now: this.clock.now() });
		if (isSecret) this.secrets.remember(read.body);
		return { ...read, url: answer.url };
	}

	private explainFault(request: ServiceRequest, fault: TransportFault): Error {
		const { code } = fault;
		if (code === BLOCKED_BY_N8N) {
			return new NotSent(
				'n8n did not let the request out',
				{
					onScreen: 'Ask whoever runs your n8n to allow requests to the service’s address.',
					forModel: '',
				},
				this.secrets.hide(fault.message),
				false,
				'n8n',
			);
		}
		if (isCertificateFault(code)) {
			return new NotSent(
				'The service’s certificate could not be verified, so the request was not sent',
				{
					onScreen:
						'Check Base URL in the credential. If it is right, ask whoever runs the service to renew its certificate.',
					forModel: '',
				},
				code,
				false,
			);
		}
		if (neverSent(fault)) {
			return new NotSent(
				'The service cannot be reached, so the request was not sent',
				onScreenOnly(
					'Check Base URL in the credential and the network of your n8n, then try again.',
				),
				code,
			);
		}
		const isSlow = code === 'ECONNABORTED' || code === 'ETIMEDOUT';
		const happened = isSlow
			? 'The service took too long to answer'
			: 'The connection broke before an answer came';
		return outcomeUnknown(request, { happened }, code);
	}
}
