import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { ExplainedError, InvalidInput, NotSent, TOO_MANY_REQUESTS } from '../../shared/api/errors';
import { onScreenOnly, type Resolution } from '../../shared/api/resolution';
import { TransportFault, type HttpResponse } from '../../shared/api/http';
import { ATTEMPTS, REQUEST_BACKOFF, retryAfterMs } from '../../shared/api/retry';
import {
	parseSessionId,
	parseWatchSecret,
	SECRET_HEADER,
	watchBody,
	type WatchRequest,
} from '../../shared/chat/parseChatFields';
import { backoffMs, duration, pause } from '../../shared/clock';
import { isJsonObject, type JsonObject } from '../../shared/json';
import { formOf } from '../../shared/modelForms';
import { cancelSignal, canceledError } from '../../shared/n8n/run/cancel';
import { sessionField } from '../../shared/n8n/forms/chatFields';
import { forEachChatItem, type Prepare } from '../../shared/n8n/run/chatItems';
import { clock } from '../../shared/n8n/http/accountClient';
import { type Fields, MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import { asItems } from '../../shared/n8n/run/itemLoop';
import type { Operation } from '../../shared/n8n/run/operations';
import { concurrencyField, developerSettings } from '../../shared/n8n/forms/options';
import { toFault } from '../../shared/n8n/http/transport';

const DEFAULT_CONCURRENCY = 5;

const fields: INodeProperties[] = [
	sessionField,
	{
		displayName: 'Trigger URL',
		name: 'triggerUrl',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://n8n.example.com/webhook/1a2b3c4d/watch',
		description: "The Production URL of a Chat Events Trigger with 'Sessions' set to 'Watched'",
	},
	{
		displayName: 'Trigger Secret',
		name: 'triggerSecret',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		description: "The 'Secret' of the Chat Events Trigger. Leave empty if it has none.",
	},
	developerSettings(
		concurrencyField(DEFAULT_CONCURRENCY, 'How many requests to send at the same time'),
	),
];

export const watch: Operation = {
	name: 'Watch',
	value: 'watch',
	action: 'Watch chat session',
	description: 'Add the session to a Chat Events Trigger, so that its events start the workflow',
	fields,
	toolDescription: 'Watches a chat session. From now on, its events start a workflow.',
	async execute(run) {
		return await forEachChatItem(run, (form) => prepareWatch(form, 'watch'), {
			concurrency: DEFAULT_CONCURRENCY,
			completedText: {
				singular: 'session is already watched',
				plural: 'sessions are already watched',
			},
		});
	},
};

export const unwatch: Operation = {
	name: 'Unwatch',
	value: 'unwatch',
	action: 'Stop watching chat session',
	description: 'Remove the session from a Chat Events Trigger',
	fields,
	toolDescription: "Stops watching a chat session. Its events don't start a workflow anymore.",
	async execute(run) {
		return await forEachChatItem(run, (form) => prepareWatch(form, 'unwatch'), {
			concurrency: DEFAULT_CONCURRENCY,
			completedText: {
				singular: 'session was already removed',
				plural: 'sessions were already removed',
			},
		});
	},
};

function prepareWatch(form: Fields, action: WatchRequest['action']): ReturnType<Prepare> {
	const sessionId = parseSessionId(form.text('sessionId', MAY_BE_BLANK));
	const url = parseTriggerUrl(form.text('triggerUrl', MAY_BE_BLANK));
	const secret = parseWatchSecret(form.secret('triggerSecret') ?? '', 'Trigger Secret');
	const request: WatchRequest = { action, sessionIds: [sessionId] };
	return {
		payload: { url, ...request },
		// Watching twice has the same result, and the trigger may have removed the session in the meantime.
		target: undefined,
		repeat: 'afterCompletion',
		send: async ({ context }) =>
			asItems({
				session_id: sessionId,
				...(await postToTrigger(context, url, secret, request)),
			}),
	};
}

/** @throws InvalidInput if the text isn't an http or https URL */
function parseTriggerUrl(text: string): string {
	const protocol = URL.canParse(text) ? new URL(text).protocol : '';
	if (protocol === 'https:' || protocol === 'http:') return text;
	throw new InvalidInput(
		text === '' ? "'Trigger URL' is empty" : "'Trigger URL' must begin with http:// or https://",
		onScreenOnly(
			"Open the Chat Events Trigger, set 'Sessions' to 'Watched', and copy its Production URL.",
		),
	);
}

/** Rejected by the trigger, by its n8n instance, or by a proxy. */
class WatchRejected extends ExplainedError {
	override readonly name = 'WatchRejected';
	readonly outcome = 'rejected';
	override readonly origin = 'response';

	/** @param isTransient whether the same request may succeed later */
	constructor(
		message: string,
		resolution: Resolution,
		originalMessage?: string,
		override readonly isTransient = false,
	) {
		super(message, resolution, originalMessage);
	}
}

type TriggerResponse = HttpResponse & { body: unknown };

/** A request with an unknown outcome is sent again, because watching twice has the same result. */
async function postToTrigger(
	context: IExecuteFunctions,
	url: string,
	secret: string,
	request: WatchRequest,
): Promise<JsonObject> {
	const signal = cancelSignal(context);
	for (let attempt = 1; ; attempt++) {
		const result = await postOnce(context, url, secret, request).catch(toFault);
		const isLast = attempt >= ATTEMPTS;
		if (result instanceof TransportFault) {
			if (isLast) throw triggerUnreachable(result);
		} else if (result.status < 500 || isLast) {
			return parseTriggerResponse(result);
		}
		if (!(await pause(clock, backoffMs(REQUEST_BACKOFF, attempt), signal)))
			throw canceledError(context);
	}
}

async function postOnce(
	context: IExecuteFunctions,
	url: string,
	secret: string,
	request: WatchRequest,
): Promise<TriggerResponse> {
	const response: unknown = await context.helpers.httpRequest({
		method: 'POST',
		url,
		body: watchBody(request),
		...(secret !== '' && { headers: { [SECRET_HEADER]: secret } }),
		json: true,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		timeout: 30_000,
	});
	const { statusCode, body, headers } = isJsonObject(response) ? response : {};
	return {
		status: typeof statusCode === 'number' ? statusCode : 0,
		headers: isJsonObject(headers) ? headers : {},
		text: '',
		body,
	};
}

/** HTTP statuses of the trigger or of a proxy that ask for a later retry. */
const RETRYABLE_STATUSES = new Set([TOO_MANY_REQUESTS, 502, 503, 504]);

/** Advice for models by HTTP status. For other statuses, a model can do nothing. */
const ADVICE_FOR_MODEL: { [status: number]: string } = {
	400: formOf('Session ID'),
	422: `Use a chat session that isn't closed. ${formOf('Session ID')}`,
};

function parseTriggerResponse(response: TriggerResponse): JsonObject {
	const { status, body } = response;
	if (status === 200 && isJsonObject(body) && Array.isArray(body.watched_sessions)) return body;
	const { message, resolution } = isJsonObject(body) ? body : {};
	const isRetryable = RETRYABLE_STATUSES.has(status);
	if (typeof message === 'string' && typeof resolution === 'string') {
		const forModel = isRetryable ? retryAfterText(response) : (ADVICE_FOR_MODEL[status] ?? '');
		throw new WatchRejected(message, { onScreen: resolution, forModel }, undefined, isRetryable);
	}
	if (isRetryable) {
		const wait = retryAfterText(response);
		throw new WatchRejected(
			"The host of 'Trigger URL' accepts no requests at the moment",
			{ onScreen: wait === '' ? 'Try again later.' : wait, forModel: wait },
			`HTTP status ${status}`,
			isRetryable,
		);
	}
	throw new WatchRejected(
		"No Chat Events Trigger responds at 'Trigger URL'",
		{
			onScreen:
				"Publish the workflow of the Chat Events Trigger with 'Sessions' set to 'Watched'. Then copy its Production URL, not its Test URL, to 'Trigger URL'.",
			forModel: '',
		},
		`HTTP status ${status}`,
	);
}

/** From the Retry-After header. Empty if there is none. */
function retryAfterText(response: TriggerResponse): string {
	const waitMs = retryAfterMs(response, clock.now());
	return waitMs === undefined || waitMs === 0 ? '' : `Try again in ${duration(waitMs)}.`;
}

function triggerUnreachable({ code }: TransportFault): NotSent {
	return new NotSent(
		"n8n can't reach 'Trigger URL'",
		onScreenOnly(
			"Check 'Trigger URL', and check that your n8n instance is allowed to send requests to it.",
		),
		code,
	);
}
