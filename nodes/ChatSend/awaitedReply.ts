import type { INodeProperties } from 'n8n-workflow';
import type { AwaitedReply } from '../shared/chat/replyWatch';
import { RESULT_TIMEOUT_MS } from '../shared/chat/timings';
import type { JsonObject } from '../shared/json';
import { InvalidInput } from '../shared/api/errors';
import type { Fields } from '../shared/n8n/fields';

/** The fields of a reply that came outside the answer to the message. */
export function awaitedReply({ reply, source, result, end }: AwaitedReply): JsonObject {
	return {
		reply,
		reply_source: source,
		turn_result: result?.payload ?? null,
		...(end === 'time' && { timed_out: true }),
		...(end === 'connection' && { connection_lost: true }),
	};
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
		'Enter how many seconds to wait for the reply, such as 120.',
	);
}
