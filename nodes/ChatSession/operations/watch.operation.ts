import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { ExplainedError, InvalidInput, NotSent, TOO_MANY_REQUESTS } from '../../shared/api/errors';
import { onScreenOnly, type Resolution } from '../../shared/api/modelAdvice';
import { TransportFault, type HttpResponse } from '../../shared/api/http';
import { duration } from '../../shared/api/notProcessed';
import { ATTEMPTS, RETRY_BACKOFF, retryAfterMs } from '../../shared/api/retry';
import {
	parseSessionId,
	parseWatchSecret,
	SECRET_HEADER,
	watchBody,
	type WatchRequest,
} from '../../shared/chat/parseChatFields';
import { backoffMs, pause } from '../../shared/clock';
import { isJsonObject, type JsonObject } from '../../shared/json';
import { formOf } from '../../shared/modelForms';
import { cancelSignal, canceledError } from '../../shared/n8n/run/cancel';
import { sessionField } from '../../shared/n8n/forms/chatFields';
import { forEachChatItem, type Prepare } from '../../shared/n8n/run/chatItems';
import { clock } from '../../shared/n8n/http/accountClient';
import { type Fields, MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import { asItems } from '../../shared/n8n/run/itemLoop';
import type { Operation } from '../../shared/n8n/run/operations';
import { concurrencyField, optionsCollection } from '../../shared/n8n/forms/options';
import { toFault } from '../../shared/n8n/http/transport';

const REQUESTS_AT_ONCE = 5;

const fields: INodeProperties[] = [
	sessionField,
	{
		displayName: 'Trigger URL',
		name: 'triggerAddress',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://n8n.example.com/webhook/…/watch',
		description:
			'The Production URL that the Chat Events Trigger shows when its Watched Sessions are on',
	},
	{
		displayName: 'Trigger Secret',
		name: 'triggerSecret',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		description: 'The secret of the Chat Events Trigger. Leave empty if it has none.',
	},
	optionsCollection(
		concurrencyField(REQUESTS_AT_ONCE, 'How many requests to send at the same time'),
	),
];

export const watch: Operation = {
	name: 'Watch',
	value: 'watch',
	action: 'Watch chat session',
	description: 'Add the session to the Chat Events Trigger, which then reports its events',
	fields,
	toolDescription:
		'Begins to watch a chat session: from now on its events start the workflow that is made for them.',
	async execute(run) {
		return await forEachChatItem(run, (form) => ask(form, 'watch'), {
			concurrency: REQUESTS_AT_ONCE,
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
	description: 'Remove the session from the Chat Events Trigger',
	fields,
	toolDescription: 'Ends the watching of a chat session: its events start no workflow any more.',
	async execute(run) {
		return await forEachChatItem(run, (form) => ask(form, 'unwatch'), {
			concurrency: REQUESTS_AT_ONCE,
			completedText: { singular: 'session was already left', plural: 'sessions were already left' },
		});
	},
};

function ask(form: Fields, action: WatchRequest['action']): ReturnType<Prepare> {
	const sessionId = parseSessionId(form.text('sessionId', MAY_BE_BLANK));
	const address = parseTriggerAddress(form.text('triggerAddress', MAY_BE_BLANK));
	const secret = parseWatchSecret(form.secret('triggerSecret') ?? '', 'Trigger Secret');
	const request: WatchRequest = { action, sessionIds: [sessionId] };
	return {
		payload: { address, ...request },
		// Watching twice is watching once, and the trigger may have left the session meanwhile.
		repeatable: true,
		idempotent: true,
		send: async ({ context }) =>
			asItems({
				session_id: sessionId,
				...(await postToTrigger(context, address, secret, request)),
			}),
	};
}

/** @throws InvalidInput unless it is a web address */
function parseTriggerAddress(text: string): string {
	const protocol = URL.canParse(text) ? new URL(text).protocol : '';
	if (protocol === 'https:' || protocol === 'http:') return text;
	throw new InvalidInput(
		text === '' ? 'The Trigger URL is empty' : 'The Trigger URL is not a web address',
		onScreenOnly(
			'Open the Chat Events Trigger, turn on Watched Sessions and copy its Production URL.',
		),
	);
}

/** The trigger, or the n8n in front of it, said no. */
class WatchRejected extends ExplainedError {
	override readonly name = 'WatchRejected';
	readonly outcome = 'rejected';

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

type TriggerAnswer = HttpResponse & { body: unknown };

/** Watching twice is watching once, so a request whose fate is unknown is simply sent again. */
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
			return readTrigger(result);
		}
		if (!(await pause(clock, backoffMs(RETRY_BACKOFF, attempt), signal)))
			throw canceledError(context);
	}
}

async function postOnce(
	context: IExecuteFunctions,
	url: string,
	secret: string,
	request: WatchRequest,
): Promise<TriggerAnswer> {
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

/** Statuses with which the trigger, or whatever is in front of it, asks for the same request later. */
const LATER = new Set([TOO_MANY_REQUESTS, 502, 503, 504]);

/** What a model can do about it; nothing where the trigger has to be set up otherwise. */
const ADVICE_FOR_MODEL: { [status: number]: string } = {
	400: formOf('Session ID'),
	422: `Use a chat session that is open. ${formOf('Session ID')}`,
};

function readTrigger(answer: TriggerAnswer): JsonObject {
	const { status, body } = answer;
	if (status === 200 && isJsonObject(body) && Array.isArray(body.watched_sessions)) return body;
	const { message, resolution } = isJsonObject(body) ? body : {};
	const isLater = LATER.has(status);
	if (typeof message === 'string' && typeof resolution === 'string') {
		const forModel = isLater ? waitIn(answer) : (ADVICE_FOR_MODEL[status] ?? '');
		throw new WatchRejected(message, { onScreen: resolution, forModel }, undefined, isLater);
	}
	if (isLater) {
		const wait = waitIn(answer);
		throw new WatchRejected(
			"The host of the 'Trigger URL' takes no more requests at the moment",
			{ onScreen: wait === '' ? 'Try again later.' : wait, forModel: wait },
			`HTTP status ${status}`,
			isLater,
		);
	}
	throw new WatchRejected(
		'No Chat Events Trigger answers at the Trigger URL',
		{
			onScreen:
				'Publish the workflow of the Chat Events Trigger with Watched Sessions on, and copy its Production URL (not the Test URL) to Trigger URL.',
			forModel: '',
		},
		`HTTP status ${status}`,
	);
}

/** What the response itself asks for; empty if it doesn't. */
function waitIn(answer: TriggerAnswer): string {
	const waitMs = retryAfterMs(answer, clock.now());
	return waitMs === undefined || waitMs === 0
		? ''
		: `It asks to wait ${duration(waitMs)} before you try again.`;
}

function triggerUnreachable({ code }: TransportFault): NotSent {
	return new NotSent(
		'The Trigger URL cannot be reached',
		onScreenOnly('Check Trigger URL, and that this n8n may send requests to that address.'),
		code,
	);
}
