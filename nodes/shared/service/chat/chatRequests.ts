import { findField, idAt } from './chatAnswer';
import { InvalidInput, OutcomeUnknown } from '../core/explained';
import type { Answer } from '../core/http';
import type { OpenDetailName, OpenDetails } from '../openDetails';
import { backOffMs } from '../core/retry';
import type { Service } from '../core/service';
import type { JsonObject } from '../types';

/** A message for one of the v1 endpoints; a session, an agent, or both say whom it is for. */
export type InboundMessage = { sessionId: string; agentUuid: string; message: string };

/** @throws InvalidInput where neither a session nor an agent is given */
export function requireRecipient(message: InboundMessage): InboundMessage {
	if (message.sessionId === '' && message.agentUuid === '') {
		throw new InvalidInput(
			'Neither a session nor an agent says whom the message is for',
			'Fill in Session ID, or choose an agent in Agent to let the service find or create a session.',
		);
	}
	return message;
}

type Names = { session: OpenDetailName; agent: OpenDetailName; message: OpenDetailName };

const INBOUND: Names = {
	session: 'chatInboundSessionName',
	agent: 'chatInboundAgentName',
	message: 'chatInboundMessageName',
};

const ASYNC: Names = {
	session: 'chatAsyncSessionName',
	agent: 'chatAsyncAgentName',
	message: 'chatAsyncMessageName',
};

export function inboundBody(details: OpenDetails, message: InboundMessage): JsonObject {
	return messageBody(details, INBOUND, message);
}

export function asyncBody(
	details: OpenDetails,
	message: InboundMessage,
	idempotencyKey: string,
): JsonObject {
	return {
		...messageBody(details, ASYNC, message),
		...(idempotencyKey !== '' && { idempotency_key: idempotencyKey }),
	};
}

function messageBody(details: OpenDetails, names: Names, message: InboundMessage): JsonObject {
	const { sessionId, agentUuid, message: text } = message;
	return {
		...(sessionId !== '' && { [details.required(names.session)]: sessionId }),
		...(agentUuid !== '' && { [details.required(names.agent)]: agentUuid }),
		[details.required(names.message)]: text,
	};
}

export function createBody(
	details: OpenDetails,
	{ agentUuid, personName }: { agentUuid: string; personName: string },
): JsonObject {
	return {
		...(agentUuid !== '' && { [details.required('chatCreateAgentName')]: agentUuid }),
		...(personName !== '' && { [details.required('chatCreatePersonName')]: personName }),
	};
}

/** The new session's ID, where the answer's open shape lets it be found. */
export function createdSessionId(details: OpenDetails, { body }: Answer): string | null {
	const path = details.optional('chatCreateSessionPath');
	return path === undefined ? findField(body, 'session_id') : idAt(body, path);
}

/** The accepted turn, by which its later result is recognized. */
export function acceptedTurn(details: OpenDetails, { body }: Answer) {
	const path = details.optional('chatAsyncTurnPath');
	return {
		turnId: path === undefined ? findField(body, 'turn_id') : idAt(body, path),
		messageId: findField(body, 'message_id'),
	};
}

const ATTEMPTS_WITH_KEY = 3;

/** "Resending the same key and content is safe": with a key an unknown fate is settled by asking again. */
export async function sendKeyed(
	service: Service,
	keyed: boolean,
	send: () => Promise<Answer>,
): Promise<Answer> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await send();
		} catch (error) {
			const isUnknown = keyed && error instanceof OutcomeUnknown;
			if (!isUnknown || attempt >= ATTEMPTS_WITH_KEY) {
				throw isUnknown ? unknownWithKey(error) : error;
			}
			await service.clock.sleep(backOffMs(attempt, Math.random));
		}
	}
}

function unknownWithKey(error: OutcomeUnknown): OutcomeUnknown {
	return error.told({
		todo: 'It was sent again with the same idempotency key, which is safe. Running this item once more with the same key is safe as well.',
	});
}
