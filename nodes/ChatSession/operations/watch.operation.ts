import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { mintWsToken } from '../../core/service/endpoints';
import {
	ExplainedError,
	failedBeforeSending,
	InvalidInput,
	NotSent,
	OutcomeUnknown,
} from '../../core/service/errors';
import { TransportFault } from '../../core/service/http';
import { neverSent } from '../../core/service/retry';
import { parseSessionId, requireText } from '../../core/chat/parseChatFields';
import { isJsonObject, type JsonObject } from '../../core/values/json';
import { sessionField } from '../../host/forms/chatFields';
import type { Fields } from '../../host/forms/fields';
import { concurrencyField, optionsCollection } from '../../host/forms/options';
import { toFault } from '../../host/http/transport';
import { forEachChatItem, type Prepare } from '../../host/run/chatItems';
import { asItems } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { plainText } from '../../core/values/values';

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
		required: true,
		description: "The 'Secret' of the Chat Events Trigger",
	},
	optionsCollection(
		concurrencyField(DEFAULT_CONCURRENCY, 'How many requests to send at the same time'),
	),
];

export const watch: Operation = {
	name: 'Watch',
	value: 'watch',
	action: 'Watch chat session',
	description: 'Add the session to a Chat Events Trigger, so that its events start the workflow',
	subtitle: 'watch session',
	fields,
	toolDescription: 'Watches a chat session. From now on, its events start a workflow.',
	execute: sending('watch'),
};

export const unwatch: Operation = {
	name: 'Unwatch',
	value: 'unwatch',
	action: 'Stop watching chat session',
	description: 'Remove the session from a Chat Events Trigger',
	subtitle: 'stop watching session',
	fields,
	toolDescription: "Stops watching a chat session. Its events don't start a workflow anymore.",
	execute: sending('unwatch'),
};

function sending(action: 'watch' | 'unwatch'): Operation['execute'] {
	return async (run) =>
		await forEachChatItem(run, (form) => prepareWatch(form, action), DEFAULT_CONCURRENCY);
}

function prepareWatch(form: Fields, action: 'watch' | 'unwatch'): ReturnType<Prepare> {
	const sessionId = parseSessionId(form.text('sessionId'));
	const url = requireText(form.text('triggerUrl'), 'Trigger URL');
	if (!isHttpUrl(url)) throw new InvalidInput(NOT_A_URL, CHECK_TRIGGER);
	const secret = requireText(form.text('triggerSecret'), 'Trigger Secret');
	const body = { action, session_ids: [sessionId] };
	return {
		payload: { url, ...body },
		happened: () => `The chat session is ${action === 'watch' ? 'now' : 'no longer'} watched.`,
		send: async ({ context, account: { client } }) => {
			// The service issues no token for a session that can't be watched, such as a closed one.
			if (action === 'watch') await mintWsToken(client, sessionId).catch(failedBeforeSending);
			const record = await postToTrigger(context, { url, body, secret });
			return asItems({ session_id: sessionId, ...record });
		},
	};
}

/** n8n has no such webhook, or a proxy accepts no more requests. */
const NOT_PROCESSED = [404, 429];
const NOT_A_URL = "'Trigger URL' must be a complete URL that begins with https:// or http://";
const NO_TRIGGER = "No Chat Events Trigger responds at 'Trigger URL'";
const CHECK_TRIGGER =
	"In n8n, publish the workflow of the Chat Events Trigger with 'Sessions' set to 'Watched', and copy its Production URL, not its Test URL, to 'Trigger URL'. This n8n instance must be allowed to send requests to it.";

async function postToTrigger(
	context: IExecuteFunctions,
	{ url, body, secret }: { url: string; body: JsonObject; secret: string },
): Promise<JsonObject> {
	const response: unknown = await context.helpers
		.httpRequest({
			method: 'POST',
			url,
			body,
			headers: { 'x-watch-secret': secret },
			json: true,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: 30_000,
		})
		.catch(toFault);
	if (response instanceof TransportFault) {
		const originalMessage = response.code;
		if (!neverSent(response)) throw maybeReceived({ originalMessage });
		throw new NotSent(NO_TRIGGER, CHECK_TRIGGER, { originalMessage });
	}
	const { statusCode, body: record } = isJsonObject(response) ? response : {};
	const { message, resolution, watched } = isJsonObject(record) ? record : {};
	if (typeof watched === 'boolean') return { watched };
	if (typeof message === 'string' && typeof resolution === 'string') {
		const isTransient = statusCode === 503;
		throw new ExplainedError('rejected', message, resolution, { isTransient });
	}
	const originalMessage = `HTTP status ${plainText(statusCode)}`;
	if (!NOT_PROCESSED.includes(Number(statusCode)))
		throw maybeReceived({ originalMessage, origin: 'response' });
	// n8n says that no published workflow has this URL. While it starts, and by a proxy, the response has no message.
	const isTransient = statusCode !== 404 || typeof message !== 'string';
	throw new ExplainedError('rejected', NO_TRIGGER, CHECK_TRIGGER, {
		...{ originalMessage, origin: 'response', isTransient },
	});
}

function isHttpUrl(url: string): boolean {
	return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** A proxy may have responded for the trigger, or the connection broke. */
function maybeReceived(facts: ConstructorParameters<typeof OutcomeUnknown>[2]): OutcomeUnknown {
	return new OutcomeUnknown(
		"The response doesn't show whether the Chat Events Trigger received the request",
		`Sending it again is safe. ${CHECK_TRIGGER}`,
		{ ...facts, isFinal: true },
	);
}
