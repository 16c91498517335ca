import type { INodeProperties } from 'n8n-workflow';
import type { ReplySource } from '../shared/chat/reply';
import type { AwaitedReply } from '../shared/chat/replyWatch';
import { RESULT_TIMEOUT_MS } from '../shared/chat/timings';
import type { JsonObject } from '../shared/json';
import { InvalidInput } from '../shared/api/errors';
import { forEveryone } from '../shared/api/modelAdvice';
import type { Fields } from '../shared/n8n/forms/fields';

/** Why there is no reply, and how to find out. */
const HINTS: { [source in Exclude<ReplySource, 'ack' | 'events'>]: string } = {
	failed:
		"The service took the message, but its turn ended without success: see 'turn_result'. Before you send the message again, read the conversation in the service.",
	uncertain:
		"Nothing proves which message is the reply. 'agent_messages', if present, contains what the agent or an operator said in between, which may be about other messages. To find out which is the reply, read the conversation in the service.",
	too_large:
		'A message was too large to be read (over 8 million characters), and it may be the reply. Read the conversation in the service.',
	none: 'No message of the agent came on the live connection in between. A reply may still follow. To find out, read the conversation in the service.',
};

/** Of a turn whose result came. */
const ENDED_SILENTLY =
	'The turn ended, and no message of the agent came on the live connection in between. To find out what was said, read the conversation in the service.';

/** The fields of a reply that came outside the response to the message. */
export function awaitedReply({ reply, source, spoken, result, end }: AwaitedReply): JsonObject {
	const isProved = source === 'ack' || source === 'events';
	return {
		reply,
		reply_source: source,
		...(!isProved && { reply_hint: hintOf(source, result) }),
		...(spoken.length > 0 && { agent_messages: spoken }),
		turn_result: result?.payload ?? null,
		...(end === 'time' && { timed_out: true }),
		...(end === 'connection' && { connection_lost: true }),
	};
}

function hintOf(source: keyof typeof HINTS, result: AwaitedReply['result']): string {
	return source === 'none' && result !== null ? ENDED_SILENTLY : HINTS[source];
}

const LONGEST_WAIT_SECONDS = 3600;

export const replyTimeLimitField: INodeProperties = {
	displayName: 'Time Limit for Reply (Seconds)',
	name: 'replyTimeLimit',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: LONGEST_WAIT_SECONDS },
	default: 120,
	description:
		'How long to wait for a reply that comes after the service has accepted the message. After that, the item is returned without a reply and with timed_out set to true.',
};

/** @throws InvalidInput for a time that nobody could wait for */
export function replyTimeLimitMs(options: Fields): number {
	const seconds = options.number('replyTimeLimit', RESULT_TIMEOUT_MS / 1000);
	if (seconds > 0 && seconds <= LONGEST_WAIT_SECONDS) return seconds * 1000;
	throw new InvalidInput(
		`'${replyTimeLimitField.displayName}' must be more than 0 and at most ${LONGEST_WAIT_SECONDS} (got ${seconds})`,
		forEveryone('Enter how many seconds to wait for the reply, such as 120.'),
	);
}
