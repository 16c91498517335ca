import type { ApiClient } from '../core/service/client';
import { sendInbound, sendInboundAsync } from '../core/shownRequests';
import { type Additions, sendLegacyMessage } from '../core/service/endpoints';
import { documentedRecord, recordOf } from '../core/service/envelope';
import { explained, failedRepeat, InvalidInput, OutcomeUnknown } from '../core/service/errors';
import type { ApiResponse } from '../core/service/http';
import { parseAgentUuid } from '../core/service/parseIds';
import { onScreenOnly } from '../core/service/resolution';
import { REQUEST_BACKOFF } from '../core/service/retry';
import { parseSessionId, requireText } from '../core/chat/parseChatFields';
import { backoffMs } from '../core/values/clock';
import type { JsonObject } from '../core/values/json';
import { type Fields, MAY_BE_BLANK } from '../host/forms/fields';
import { readAdditions } from '../host/forms/options';
import type { Prepare } from '../host/run/chatItems';
import type { RequestDeps } from '../host/ledger/preparedRequest';
import { asItems } from '../host/run/itemLoop';
import { messageTarget, readIdempotencyKey } from './idempotency';
import { requireAccepted, withReplyHint } from './messageState';

/** Documented for `POST /v1/chat/inbound/async`. */
const KEY_NAME = 'idempotency_key';

/** Sends a message and returns the response with the agent's reply. */
export const sendByInbound: Prepare = (form) => {
	const message = readMessage(form);
	return prepare(form, 'inbound', message, '', async ({ account, context }, additions) => {
		const response = await sendInbound(account, valuesOf(message), additions);
		return withReplyHint(context, recordOf(requireAccepted(response)));
	});
};

/** Sends a message without waiting for the reply. */
export const sendByAsync: Prepare = (form) => {
	const message = readMessage(form);
	const key = readIdempotencyKey(form);
	return prepare(form, 'async', message, key, async ({ account, context }, additions) => {
		const documented: JsonObject = key === '' ? {} : { [KEY_NAME]: key };
		const post = async () =>
			await sendInboundAsync(account, valuesOf(message), additions, documented);
		const response = await sendKeyed(account.client, key !== '', post);
		return withReplyHint(context, recordOf(response), true);
	});
};

/** The legacy request. Its response contains the agent's reply as `response`. */
export const sendByLegacy: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId', MAY_BE_BLANK));
	const agentUuid = parseAgentUuid(form.text('agentUuid', MAY_BE_BLANK));
	const message = requireText(form.text('message'), 'Message');
	const body = { agent_uuid: agentUuid, chat_session_id: sessionId, message };
	return prepare(
		form,
		'legacy',
		{ sessionId, agentUuid, message },
		'',
		async ({ account: { client } }, additions) =>
			documentedRecord('session_id', await sendLegacyMessage(client, body, additions)),
	);
};

/**
 * @param way how it's sent. For a model, the same message in another way is another request.
 * @param key empty for none
 */
function prepare(
	form: Fields,
	way: string,
	message: Message,
	key: string,
	request: (deps: RequestDeps, additions: Additions) => Promise<JsonObject>,
): ReturnType<Prepare> {
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { way, message, key, additions },
		target: messageTarget(message),
		idempotencyKey: key === '' ? undefined : key,
		modelMayRepeat: 'afterCompletion',
		happened: () => 'The message was sent.',
		send: async (deps) => asItems(await request(deps, additions)),
	};
}

/** The recipient is a session, an agent, or both. */
type Message = { sessionId: string; agentUuid: string; message: string };

function readMessage(form: Fields): Message {
	const sessionId = form.text('sessionId', MAY_BE_BLANK);
	const agentUuid = form.text('agentUuid', MAY_BE_BLANK);
	const agent = agentUuid === '' ? '' : parseAgentUuid(agentUuid);
	const message = requireText(form.text('message'), 'Message');
	if (sessionId !== '' || agent !== '') return { sessionId, agentUuid: agent, message };
	throw new InvalidInput('The message has no session and no agent', {
		onScreen:
			"Fill in 'Session ID'. To let the service find or create a session, choose an agent in 'Agent'.",
		forModel: 'Give the ID of the chat session or the ID of the agent.',
	});
}

function valuesOf({ sessionId: session, agentUuid: agent, message }: Message) {
	return { session, agent, message };
}

const ATTEMPTS_WITH_KEY = 3;

/**
 * Sends a request, and repeats it if the outcome is unknown and it has a key: "resending the same key and content is safe"
 * (`POST /v1/chat/inbound/async`). Only a success settles the outcome, because a rejection of a later attempt
 * doesn't say what happened to the first.
 */
async function sendKeyed(
	client: ApiClient,
	hasKey: boolean,
	send: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
	if (!hasKey) return requireAccepted(await send());
	for (let attempt = 1; ; attempt++) {
		try {
			return requireAccepted(await send());
		} catch (error) {
			const failure = explained(error);
			const isUnknown = failure instanceof OutcomeUnknown;
			if (!isUnknown && attempt === 1) throw failure;
			if (!isUnknown) throw failedRepeat(failure);
			if (attempt >= ATTEMPTS_WITH_KEY) throw failure.withText({ resolution: SENT_SEVERAL_TIMES });
			await client.clock.sleep(backoffMs(REQUEST_BACKOFF, attempt));
		}
	}
}

const SENT_SEVERAL_TIMES = onScreenOnly(
	'The message was sent several times with the same idempotency key, which is safe. You can run this item again with the same key.',
);
