import type { ApiClient } from '../api/client';
import type { Additions } from '../api/endpoints';
import { explained, type ExplainedError, InvalidInput, OutcomeUnknown } from '../api/errors';
import { forEveryone, onScreenOnly } from '../api/modelAdvice';
import type { ApiResponse } from '../api/http';
import { RETRY_BACKOFF } from '../api/retry';
import type { ApiMapping, MappingName } from '../apiMapping';
import { placeValues } from '../apiMapping/placeValues';
import { backoffMs } from '../clock';
import { fieldsIn, type JsonValue, valueAt } from '../json';
import { idText } from './frames';

/** A message for one of the v1 endpoints; a session, an agent, or both say whom it is for. */
export type InboundMessage = { sessionId: string; agentUuid: string; message: string };

/** @throws InvalidInput where neither a session nor an agent is given */
export function requireRecipient(message: InboundMessage): InboundMessage {
	if (message.sessionId === '' && message.agentUuid === '') {
		throw new InvalidInput(
			'Neither a session nor an agent says whom the message is for',
			forEveryone(
				'Fill in Session ID, or choose an agent in Agent to let the service find or create a session.',
			),
		);
	}
	return message;
}

/** What the credential says of one value: its name, and where it goes. */
type Named = { name: MappingName; placement: MappingName };
type Names = { session: Named; agent: Named; message: Named };

const INBOUND: Names = {
	session: { name: 'chatInboundSessionName', placement: 'chatInboundSessionPlacement' },
	agent: { name: 'chatInboundAgentName', placement: 'chatInboundAgentPlacement' },
	message: { name: 'chatInboundMessageName', placement: 'chatInboundMessagePlacement' },
};

const ASYNC: Names = {
	session: { name: 'chatAsyncSessionName', placement: 'chatAsyncSessionPlacement' },
	agent: { name: 'chatAsyncAgentName', placement: 'chatAsyncAgentPlacement' },
	message: { name: 'chatAsyncMessageName', placement: 'chatAsyncMessagePlacement' },
};

export function inboundValues(details: ApiMapping, message: InboundMessage): Additions {
	return messageValues(details, INBOUND, message);
}

export function asyncValues(
	details: ApiMapping,
	message: InboundMessage,
	idempotencyKey: string,
): Additions {
	const values = messageValues(details, ASYNC, message);
	if (idempotencyKey === '') return values;
	return { ...values, body: { ...values.body, idempotency_key: idempotencyKey } };
}

function messageValues(details: ApiMapping, names: Names, message: InboundMessage): Additions {
	return placeGiven(details, [
		{ ...names.session, value: message.sessionId },
		{ ...names.agent, value: message.agentUuid },
		{ ...names.message, value: message.message },
	]);
}

export function createValues(
	details: ApiMapping,
	{ agentUuid, personName }: { agentUuid: string; personName: string },
): Additions {
	return placeGiven(details, [
		{ name: 'chatCreateAgentName', placement: 'chatCreateAgentPlacement', value: agentUuid },
		{ name: 'chatCreatePersonName', placement: 'chatCreatePersonPlacement', value: personName },
	]);
}

/** What is empty is not sent, and needs no name. */
function placeGiven(details: ApiMapping, values: Array<Named & { value: string }>): Additions {
	const given = values.filter(({ value }) => value !== '');
	details.require(given.map(({ name }) => name));
	return placeValues(
		given.map(({ name, placement, value }) => ({
			placement: details.optional(placement) ?? 'body',
			name: details.required(name),
			value,
		})),
	);
}

/** The new session's ID, where the answer's open shape lets it be found. */
export function createdSessionId(details: ApiMapping, { body }: ApiResponse): string | null {
	const path = details.optional('chatCreateSessionPath');
	return path === undefined ? findId(body, 'session_id') : idAt(body, path);
}

/** The accepted turn, by which its later result is recognized. */
export function acceptedTurn(details: ApiMapping, { body }: ApiResponse) {
	const path = details.optional('chatAsyncTurnPath');
	const named = path === undefined ? findOnlyId(body, 'turn_id') : idAt(body, path);
	// A response about several turns can contain the reply of another one.
	const hasOneTurn = new Set(idsIn(body, 'turn_id')).size <= 1;
	return {
		// As in an ack, a merged message is answered in the turn that it was merged into.
		turnId: (hasOneTurn ? findOnlyId(body, 'merged_into') : null) ?? named,
		messageId: findOnlyId(body, 'message_id'),
		/** Of a key that was used before: the turn is over, and its reply at hand. */
		reply: hasOneTurn ? findOnlyId(body, 'reply') : null,
	};
}

const ATTEMPTS_WITH_KEY = 3;

/**
 * "Resending the same key and content is safe": with a key an unknown fate is settled by asking again. Only a success
 * settles it: a rejection of a later attempt says nothing about the first.
 *
 * @param check throws if the response says that the message was not taken
 */
export async function sendKeyed(
	client: ApiClient,
	keyed: boolean,
	send: () => Promise<ApiResponse>,
	check: (answer: ApiResponse) => ApiResponse,
): Promise<ApiResponse> {
	if (!keyed) return check(await send());
	for (let attempt = 1; ; attempt++) {
		try {
			return check(await send());
		} catch (error) {
			const why = explained(error);
			const isLast = !(why instanceof OutcomeUnknown) || attempt >= ATTEMPTS_WITH_KEY;
			if (isLast) throw lastFailure(why, attempt);
			await client.clock.sleep(backoffMs(RETRY_BACKOFF, attempt));
		}
	}
}

function lastFailure(error: ExplainedError, attempt: number): ExplainedError {
	if (error instanceof OutcomeUnknown) return unknownWithKey(error);
	return attempt === 1 ? error : failedLater(error);
}

function unknownWithKey(error: OutcomeUnknown): OutcomeUnknown {
	return error.withText({
		resolution: onScreenOnly(
			'It was sent again with the same idempotency key, which is safe. Running this item once more with the same key is safe as well.',
		),
	});
}

function failedLater({ originalMessage, origin }: ExplainedError): OutcomeUnknown {
	const { message, resolution } = LATER_ATTEMPT_FAILED;
	return new OutcomeUnknown(message, resolution, originalMessage, undefined, origin);
}

/** What is said if an attempt with an unknown outcome is followed by one that is rejected or not sent. */
export const LATER_ATTEMPT_FAILED = {
	message:
		'The service may have taken the message: the outcome of the first attempt is unknown, and a later attempt failed',
	resolution: {
		onScreen:
			'Look for the message in the conversation. If it is not there, send it again with the same idempotency key, which is safe.',
		forModel: 'It may or may not have been taken.',
	},
};

/** A documented field as text, in a response whose shape is open, wherever it is; the outermost one if there are several. */
function findId(response: JsonValue, name: string): string | null {
	const [outermost = null] = idsIn(response, name);
	return outermost;
}

/** The same, but null if there are several: then nothing says which of them is the message's own. */
function findOnlyId(response: JsonValue, name: string): string | null {
	const found = new Set(idsIn(response, name));
	return found.size === 1 ? findId(response, name) : null;
}

function idsIn(response: JsonValue, name: string): string[] {
	return [...fieldsIn(response, name)].map(idText).filter((id) => id !== null);
}

/** The ID at the place that the credential names, e.g. `data.turn`. */
function idAt(answer: JsonValue, path: string): string | null {
	return idText(valueAt(answer, path));
}
