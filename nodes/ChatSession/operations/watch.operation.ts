import type { INodeProperties } from 'n8n-workflow';
import { mintWsToken } from '../../core/service/endpoints';
import {
	ExplainedError,
	failedBeforeSending,
	InvalidInput,
	OutcomeUnknown,
} from '../../core/service/errors';
import { TransportFault } from '../../core/service/http';
import { parseSessionId, requireText } from '../../core/chat/parseChatFields';
import { isJsonObject } from '../../core/values/json';
import { sessionField } from '../../host/forms/chatFields';
import type { Fields } from '../../host/forms/fields';
import { concurrencyField, optionsCollection } from '../../host/forms/options';
import { toFault } from '../../host/http/transport';
import { eachChatItem, type Prepare } from '../../host/run/chatItems';
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
	execute: eachChatItem((form) => prepareWatch(form, 'watch'), DEFAULT_CONCURRENCY),
};

export const unwatch: Operation = {
	name: 'Unwatch',
	value: 'unwatch',
	action: 'Stop watching chat session',
	description: 'Remove the session from a Chat Events Trigger',
	subtitle: 'stop watching session',
	fields,
	toolDescription: "Stops watching a chat session. Its events don't start a workflow anymore.",
	execute: eachChatItem((form) => prepareWatch(form, 'unwatch'), DEFAULT_CONCURRENCY),
};

const CHECK_TRIGGER =
	"In n8n, publish the workflow of the Chat Events Trigger with 'Sessions' set to 'Watched', and copy its Production URL, not its Test URL, to 'Trigger URL'. This n8n instance must be allowed to send requests to it.";

function prepareWatch(form: Fields, action: 'watch' | 'unwatch'): ReturnType<Prepare> {
	const sessionId = parseSessionId(form.text('sessionId'));
	const url = requireText(form.text('triggerUrl'), 'Trigger URL');
	if (!isHttpUrl(url)) {
		throw new InvalidInput(
			"'Trigger URL' must be a complete URL that begins with https:// or http://",
			CHECK_TRIGGER,
		);
	}
	const secret = requireText(form.text('triggerSecret'), 'Trigger Secret');
	const body = { action, session_ids: [sessionId] };
	return {
		payload: { url, ...body },
		happened: () => `The chat session is ${action === 'watch' ? 'now' : 'no longer'} watched.`,
		send: async ({ context, account: { client } }) => {
			// The service issues no token for a session that can't be watched, such as a closed one.
			if (action === 'watch') await mintWsToken(client, sessionId).catch(failedBeforeSending);
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
			return asItems({ session_id: sessionId, watched: watchedIn(response) });
		},
	};
}

function isHttpUrl(url: string): boolean {
	return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** @throws ExplainedError unless the trigger confirms the request, which may be sent again in any case */
function watchedIn(response: unknown): boolean {
	const { statusCode, body } = isJsonObject(response) ? response : {};
	const { message, resolution, watched } = isJsonObject(body) ? body : {};
	if (typeof watched === 'boolean') return watched;
	if (typeof message === 'string' && typeof resolution === 'string') {
		const isTransient = statusCode === 503;
		throw new ExplainedError('rejected', message, resolution, { isTransient });
	}
	const said =
		response instanceof TransportFault
			? { originalMessage: response.code }
			: { originalMessage: `HTTP status ${plainText(statusCode)}`, origin: 'response' as const };
	throw new OutcomeUnknown(
		"No Chat Events Trigger confirms the request at 'Trigger URL'",
		`Sending it again is safe. ${CHECK_TRIGGER}`,
		{ ...said, isFinal: true },
	);
}
