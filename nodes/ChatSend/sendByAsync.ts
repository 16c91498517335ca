import type { INodeExecutionData } from 'n8n-workflow';
import { readAdditions } from '../shared/n8n/forms/options';
import type { ChatDeps, Prepare } from '../shared/n8n/run/chatItems';
import { clock, type AccountClient } from '../shared/n8n/http/accountClient';
import { asItems } from '../shared/n8n/run/itemLoop';
import { parseSessionId } from '../shared/chat/parseChatFields';
import { type AsyncLink, sendAsyncTurn } from '../shared/chat/asyncTurn';
import { asyncValues, sendKeyed } from '../shared/chat/chatRequests';
import type { NotReady } from '../shared/chat/ackWaiter';
import { type Additions, sendInboundAsync } from '../shared/api/endpoints';
import { idText } from '../shared/chat/frames';
import { valuesIn } from '../shared/json';
import { givenAs } from '../shared/modelForms';
import { recordOf } from '../shared/api/envelope';
import { InvalidInput, NotSent } from '../shared/api/errors';
import type { ApiMapping } from '../shared/apiMapping';
import type { ApiResponse } from '../shared/api/http';
import { capInTools } from '../shared/n8n/tools/toolDeadline';
import { replyTimeLimitMs, withAwaitedReply } from './awaitedReply';
import { idempotencyKey, messageTarget } from './idempotency';
import { requireAccepted } from './messageState';
import { readInbound } from './sendByRequest';
import { EXECUTION_STOPPED } from './turnFault';

/** Sends a message without waiting for the reply, or waits for it on the session's WebSocket (Wait for Reply). */
export const sendByAsync: Prepare = (form) => {
	const message = readInbound(form);
	const key = idempotencyKey(form, message, [message.message]);
	const additions = readAdditions(form.collection('developerSettings'));
	const timeoutMs = replyTimeLimitMs(form.collection('options'));
	const send = async ({ client, apiMapping }: AccountClient) => {
		const values = asyncValues(apiMapping, message, key);
		const post = async () => await sendInboundAsync(client, values, additions);
		return await sendKeyed(client, key !== '', post, requireAccepted);
	};
	const request = {
		payload: { message, key, additions },
		target: messageTarget(message),
		idempotencyKey: key === '' ? undefined : key,
		repeatable: true,
	};
	if (!form.switch('waitForReply', false)) {
		return {
			...request,
			send: async ({ account }) => asItems(recordOf(await send(account))),
		};
	}
	if (message.sessionId === '') {
		throw new InvalidInput(
			"'Wait for Reply' needs 'Session ID'",
			givenAs('Session ID', "Enter the ID of the chat session, or turn off 'Wait for Reply'."),
		);
	}
	const wait: ReplyWait = {
		sessionId: parseSessionId(message.sessionId),
		givenIds: givenIds(additions),
		hasKey: key !== '',
		disconnectOther: form.switch('disconnectOther', false),
		timeoutMs,
	};
	return {
		...request,
		send: async (deps) => await sendAndWait(deps, wait, async () => await send(deps.account)),
	};
};

type ReplyWait = {
	sessionId: string;
	givenIds: string[];
	hasKey: boolean;
	disconnectOther: boolean;
	timeoutMs: number;
};

/** Values of the additional fields, because one of them may be an ID of the message. */
function givenIds({ body = {}, query = {} }: Additions): string[] {
	const values = [...valuesIn(body, MAX_GIVEN_VALUES), ...Object.values(query)];
	return values.map((value) => idText(value)).filter((id) => id !== null);
}

const MAX_GIVEN_VALUES = 10_000;

const turnNotNamed = (apiMapping: ApiMapping) =>
	`The service accepted the message, but its response doesn't name the turn, so the node couldn't find the reply. ${apiMapping.resolution('chatAsyncTurnPath')}`;

function notReady(readiness: NotReady): Error {
	if (readiness.kind === 'ended') return readiness.ending;
	return new NotSent(EXECUTION_STOPPED.message, EXECUTION_STOPPED.resolution);
}

async function sendAndWait(
	{ context, account, sockets }: ChatDeps,
	{ sessionId, givenIds, hasKey, disconnectOther, timeoutMs }: ReplyWait,
	send: () => Promise<ApiResponse>,
): Promise<INodeExecutionData[]> {
	const { apiMapping } = account;
	const options = {
		clock,
		apiMapping,
		givenIds,
		hasKey,
		timeoutMs: capInTools(context, timeoutMs),
	};
	const sendOn = async (socket: AsyncLink) => await sendAsyncTurn(socket, send, options);
	const outcome = await sockets.use(account, sessionId, disconnectOther, sendOn);
	if (outcome.kind === 'not_sent') throw notReady(outcome.readiness);
	const { response, isNamed, reply } = outcome;
	if (!isNamed) context.addExecutionHints({ message: turnNotNamed(apiMapping) });
	return asItems({
		session_id: sessionId,
		...withAwaitedReply(recordOf(response), reply),
		...(!isNamed && { turn_not_named: true }),
	});
}
