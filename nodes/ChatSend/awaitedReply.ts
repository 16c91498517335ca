import type { INodeProperties } from 'n8n-workflow';
import type { ReplySource } from '../shared/chat/reply';
import type { AwaitedReply } from '../shared/chat/replyWatch';
import { RESULT_TIMEOUT_MS } from '../shared/chat/timings';
import type { JsonObject } from '../shared/json';
import { InvalidInput } from '../shared/api/errors';
import { forEveryone } from '../shared/api/resolution';
import type { Fields } from '../shared/n8n/forms/fields';

/** Why there is no proved reply, and what to do. */
const HINTS: { [source in Exclude<ReplySource, 'ack' | 'events'>]: string } = {
	failed:
		'The service accepted the message, but its turn failed (see turn_result). Read the conversation in the service before you send the message again.',
	uncertain:
		'Nothing proves which message is the reply. If agent_messages is present, it contains the messages of the agent or an operator in the meantime, which may be about other messages. To find the reply, read the conversation in the service.',
	too_large:
		'A message was too large to read (over 8 million characters), and it may be the reply. Read the conversation in the service.',
	none: 'No message from the agent arrived on the live connection in the meantime, but a reply may still follow. To find it, read the conversation in the service.',
};

/** The turn has a result. */
const ENDED_SILENTLY =
	'The turn ended, but no message from the agent arrived on the live connection in the meantime. To find the reply, read the conversation in the service.';

/** The response to a message, with the reply that arrived outside it. */
export function withAwaitedReply(
	response: JsonObject,
	{ reply, source, agentMessages, result, end }: AwaitedReply,
): JsonObject {
	const isProved = source === 'ack' || source === 'events';
	const inResponse = response.reply ?? '';
	return {
		...response,
		...(inResponse !== '' && inResponse !== reply && { reply_in_response: inResponse }),
		reply,
		reply_source: source,
		...(!isProved && { reply_hint: hintOf(source, result) }),
		...(agentMessages.length > 0 && { agent_messages: agentMessages }),
		turn_result: result?.payload ?? null,
		...(end === 'time' && { timed_out: true }),
		...(end === 'connection' && { connection_lost: true }),
		...(end === 'stopped' && { execution_stopped: true }),
	};
}

function hintOf(source: keyof typeof HINTS, result: AwaitedReply['result']): string {
	return source === 'none' && result !== null ? ENDED_SILENTLY : HINTS[source];
}

const MAX_WAIT_SECONDS = 3600;

export const replyTimeLimitField: INodeProperties = {
	displayName: 'Time Limit for Reply (Seconds)',
	name: 'replyTimeLimit',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: MAX_WAIT_SECONDS },
	default: 120,
	description:
		'How long to wait if the reply comes after the service has accepted the message. In that case, reply_source shows how the reply was found, reply_hint explains why a reply is missing, and agent_messages contains the messages that may be the reply. After this time, the item is returned without a reply and with timed_out set to true.',
};

/** @throws InvalidInput if the limit isn't in range */
export function replyTimeLimitMs(options: Fields): number {
	const seconds = options.number('replyTimeLimit', RESULT_TIMEOUT_MS / 1000);
	if (seconds > 0 && seconds <= MAX_WAIT_SECONDS) return seconds * 1000;
	throw new InvalidInput(
		`'${replyTimeLimitField.displayName}' must be more than 0 and at most ${MAX_WAIT_SECONDS} (got ${seconds})`,
		forEveryone('Give the number of seconds to wait for the reply, such as 120.'),
	);
}
