import type { ApiClient } from '../api/client';
import type { Additions } from '../api/endpoints';
import { explained, type ExplainedError, InvalidInput, OutcomeUnknown } from '../api/errors';
import { onScreenOnly, type Explanation } from '../api/resolution';
import type { ApiResponse } from '../api/http';
import { REQUEST_BACKOFF } from '../api/retry';
import type { ApiMapping, MappingName } from '../apiMapping';
import { type PlacedValue, placeValues } from '../apiMapping/placeValues';
import { backoffMs } from '../clock';
import {
	fieldsIn,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	levelsIn,
	valueAt,
} from '../json';
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

/**
 * The IDs of the accepted turn, which its later result names.
 *
 * @param hasKey whether the response can be that of a repeated key
 */
export function acceptedTurn(mapping: ApiMapping, { body }: ApiResponse, hasKey: boolean) {
	const path = mapping.optional('chatAsyncTurnPath');
	const named = path === undefined ? findOnlyId(body, 'turn_id') : idAt(body, path);
	// A response about several turns can contain the reply of another one.
	const hasOneTurn = new Set(idsIn(body, 'turn_id')).size <= 1;
	return {
		// As in an ack, the reply to a merged message comes in the turn that it was merged into.
		turnId: (hasOneTurn ? findOnlyId(body, 'merged_into') : null) ?? named,
		messageId: findOnlyId(body, 'message_id'),
		/** Only if the turn completed inline, or for a repeated key whose turn has ended. */
		reply: hasOneTurn ? replyIn(body, named, hasKey) : null,
	};
}

/** States of a message that the service accepted (Events › Chat WebSocket). */
export const ACCEPTED_STATES = new Set<JsonValue | undefined>(['default', 'accepted', 'merged']);

/** Values to search in the response to a message. */
export const MAX_RESPONSE_VALUES = 10_000;

/**
 * The reply next to the ID of the turn, or else in the outermost object with a state. In other objects, it can be that of
 * an earlier message.
 */
function replyIn(response: JsonValue, turnId: string | null, hasKey: boolean): string | null {
	const objects = [...objectsIn(response)];
	const withId = objects.find(({ object }) => isOfTurn(object, turnId) && hasReply(object));
	const about = withId ?? objects.find(({ object }) => ACCEPTED_STATES.has(object.state));
	if (about === undefined) return null;
	const { object, state } = about;
	const hasEnded = hasKey || state === 'default';
	return hasEnded && hasReply(object) ? object.reply : null;
}

/** The objects in a response, each with its `state` or that of the closest object around it. The outermost is first. */
function* objectsIn(
	response: JsonValue,
): Generator<{ object: JsonObject; state: JsonValue | undefined }> {
	const queue: Array<{ value: JsonValue; around: JsonValue | undefined }> = [
		{ value: response, around: undefined },
	];
	for (const { value, around } of queue) {
		const state = (isJsonObject(value) ? value.state : undefined) ?? around;
		if (isJsonObject(value)) yield { object: value, state };
		if (typeof value !== 'object' || value === null) continue;
		for (const inner of Object.values(value)) {
			if (queue.length < MAX_RESPONSE_VALUES) queue.push({ value: inner, around: state });
		}
	}
}

function isOfTurn(payload: JsonObject, turnId: string | null): boolean {
	const { turn_id: id, merged_into: into } = payload;
	if (idText(id) !== null || idText(into) !== null) return true;
	return turnId !== null && Object.values(payload).some((value) => idText(value) === turnId);
}

function hasReply(payload: JsonObject): payload is JsonObject & { reply: string } {
	return typeof payload.reply === 'string' && payload.reply !== '';
}

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

/** The same, but null if any values differ, because any of them could belong to the message. */
function findOnlyId(response: JsonValue, name: string): string | null {
	return onlyOne(new Set(idsIn(response, name)));
}

function onlyOne(ids: ReadonlySet<string>): string | null {
	const [first = null] = ids;
	return ids.size === 1 ? first : null;
}

function ownId(value: JsonValue, name: string): string | null {
	return isJsonObject(value) && Object.hasOwn(value, name) ? idText(value[name]) : null;
}

function idsIn(response: JsonValue, name: string): string[] {
	return [...fieldsIn(response, name)].map(idText).filter((id) => id !== null);
}

/** The ID at a path from the credential, e.g. `data.turn`. */
function idAt(response: JsonValue, path: string): string | null {
	return idText(valueAt(response, path));
}
