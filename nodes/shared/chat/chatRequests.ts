import type { ApiClient } from '../api/client';
import type { Additions } from '../api/endpoints';
import { explained, type ExplainedError, InvalidInput, OutcomeUnknown } from '../api/errors';
import { onScreenOnly, type Explanation } from '../api/resolution';
import type { ApiResponse } from '../api/http';
import { REQUEST_BACKOFF } from '../api/retry';
import type { ApiMapping, MappingName } from '../apiMapping';
import { type PlacedValue, placeValues } from '../apiMapping/placeValues';
import { backoffMs } from '../clock';
import { isJsonObject, type JsonValue, levelsIn, valueAt } from '../json';
import { idText } from './frames';

/** A message for one of the v1 endpoints. The recipient is a session, an agent, or both. */
export type InboundMessage = { sessionId: string; agentUuid: string; message: string };

/** @throws InvalidInput if both the session and the agent are empty */
export function requireRecipient(message: InboundMessage): InboundMessage {
	if (message.sessionId === '' && message.agentUuid === '') {
		throw new InvalidInput('The message has no session and no agent', {
			onScreen:
				"Fill in 'Session ID'. To let the service find or create a session, choose an agent in 'Agent'.",
			forModel: 'Give the ID of the chat session or the ID of the agent.',
		});
	}
	return message;
}

/** The settings in the credential for one value: its name, and whether it goes in the body or query. */
type ValueMapping = { name: MappingName; placement: MappingName };
type MessageMapping = { session: ValueMapping; agent: ValueMapping; message: ValueMapping };

const INBOUND: MessageMapping = {
	session: { name: 'chatInboundSessionName', placement: 'chatInboundSessionPlacement' },
	agent: { name: 'chatInboundAgentName', placement: 'chatInboundAgentPlacement' },
	message: { name: 'chatInboundMessageName', placement: 'chatInboundMessagePlacement' },
};

const ASYNC: MessageMapping = {
	session: { name: 'chatAsyncSessionName', placement: 'chatAsyncSessionPlacement' },
	agent: { name: 'chatAsyncAgentName', placement: 'chatAsyncAgentPlacement' },
	message: { name: 'chatAsyncMessageName', placement: 'chatAsyncMessagePlacement' },
};

export function inboundValues(mapping: ApiMapping, message: InboundMessage): Additions {
	return messageValues(mapping, INBOUND, message);
}

/** Documented in Chat › `POST /v1/chat/inbound/async`. */
const KEY_NAME = 'idempotency_key';

export function asyncValues(
	mapping: ApiMapping,
	message: InboundMessage,
	idempotencyKey: string,
): Additions {
	const key = { placement: 'body', name: KEY_NAME, value: idempotencyKey };
	return messageValues(mapping, ASYNC, message, idempotencyKey === '' ? [] : [key]);
}

function messageValues(
	mapping: ApiMapping,
	names: MessageMapping,
	message: InboundMessage,
	documented: PlacedValue[] = [],
): Additions {
	const values = [
		{ ...names.session, value: message.sessionId },
		{ ...names.agent, value: message.agentUuid },
		{ ...names.message, value: message.message },
	];
	return placeGiven(mapping, values, documented);
}

export function createValues(
	mapping: ApiMapping,
	{ agentUuid, personName }: { agentUuid: string; personName: string },
): Additions {
	return placeGiven(mapping, [
		{ name: 'chatCreateAgentName', placement: 'chatCreateAgentPlacement', value: agentUuid },
		{ name: 'chatCreatePersonName', placement: 'chatCreatePersonPlacement', value: personName },
	]);
}

/** Empty values aren't sent and need no name in the credential. */
function placeGiven(
	mapping: ApiMapping,
	values: Array<ValueMapping & { value: string }>,
	documented: PlacedValue[] = [],
): Additions {
	const given = values.filter(({ value }) => value !== '');
	mapping.require(given.map(({ name }) => name));
	const mapped = given.map(({ name, placement, value }) => ({
		placement: mapping.optional(placement) ?? 'body',
		name: mapping.required(name),
		value,
	}));
	return placeValues([...mapped, ...documented]);
}

/** The ID of the new session, or null if it isn't found. The shape of the response isn't documented. */
export function createdSessionId(mapping: ApiMapping, { body }: ApiResponse): string | null {
	const path = mapping.optional('chatCreateSessionPath');
	return path === undefined ? findId(body, 'session_id') : idAt(body, path);
}

/** States of a message that the service accepted (Events › Chat WebSocket). */
export const ACCEPTED_STATES = new Set<JsonValue | undefined>(['default', 'accepted', 'merged']);

/** Values to search in the response to a message. */
export const MAX_RESPONSE_VALUES = 10_000;

const ATTEMPTS_WITH_KEY = 3;

/**
 * Sends a request, and repeats it if the outcome is unknown and it has a key: "resending the same key and content is safe"
 * (Chat › `POST /v1/chat/inbound/async`). Only a success settles the outcome, because a rejection of a later attempt
 * doesn't say what happened to the first.
 *
 * @param check throws if the response says that the message wasn't accepted
 */
export async function sendKeyed(
	client: ApiClient,
	hasKey: boolean,
	send: () => Promise<ApiResponse>,
	check: (response: ApiResponse) => ApiResponse,
): Promise<ApiResponse> {
	if (!hasKey) return check(await send());
	for (let attempt = 1; ; attempt++) {
		try {
			return check(await send());
		} catch (error) {
			const failure = explained(error);
			const isLast = !(failure instanceof OutcomeUnknown) || attempt >= ATTEMPTS_WITH_KEY;
			if (isLast) throw finalError(failure, attempt);
			await client.clock.sleep(backoffMs(REQUEST_BACKOFF, attempt));
		}
	}
}

function finalError(error: ExplainedError, attempt: number): ExplainedError {
	if (error instanceof OutcomeUnknown) return unknownWithKey(error);
	return attempt === 1 ? error : failedOnLaterAttempt(error);
}

function unknownWithKey(error: OutcomeUnknown): OutcomeUnknown {
	return error.withText({
		resolution: onScreenOnly(
			'The message was sent several times with the same idempotency key, which is safe. You can run this item again with the same key.',
		),
	});
}

function failedOnLaterAttempt({ originalMessage, origin }: ExplainedError): OutcomeUnknown {
	const { message, resolution } = LATER_ATTEMPT_FAILED;
	return new OutcomeUnknown(message, resolution, originalMessage, undefined, origin);
}

/** An attempt with an unknown outcome, followed by one that was rejected or not sent. */
export const LATER_ATTEMPT_FAILED: Explanation = {
	message:
		'The service may have accepted the message, because the outcome of an earlier attempt is unknown and a later attempt failed',
	resolution: {
		onScreen:
			'Check the conversation in the service. If the message is missing, send it again with the same idempotency key, which is safe.',
		forModel: 'The service may or may not have accepted it.',
	},
};

/**
 * A documented field as text, at any depth, because the shape of the response isn't documented. The outermost one wins. Null
 * if the outermost ones differ, because any of them could be about something else.
 */
function findId(response: JsonValue, name: string): string | null {
	for (const level of levelsIn(response, MAX_RESPONSE_VALUES)) {
		const ids = new Set(level.flatMap((value) => ownId(value, name) ?? []));
		if (ids.size > 0) return onlyOne(ids);
	}
	return null;
}

function onlyOne(ids: ReadonlySet<string>): string | null {
	const [first = null] = ids;
	return ids.size === 1 ? first : null;
}

function ownId(value: JsonValue, name: string): string | null {
	return isJsonObject(value) && Object.hasOwn(value, name) ? idText(value[name]) : null;
}

/** The ID at a path from the credential, e.g. `data.turn`. */
function idAt(response: JsonValue, path: string): string | null {
	return idText(valueAt(response, path));
}
