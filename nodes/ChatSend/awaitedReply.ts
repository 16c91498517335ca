import type { INodeProperties } from 'n8n-workflow';
import type { AwaitedReply } from '../shared/chat/replyWatch';
import { RESULT_TIMEOUT_MS } from '../shared/chat/timings';
import type { JsonObject } from '../shared/json';
import type { NodeParameters } from '../shared/n8n/nodeParameters';

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

export const replyTimeLimitField: INodeProperties = {
	displayName: 'Time Limit for the Reply',
	name: 'replyTimeLimit',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 3600 },
	default: 120,
	description:
		'Seconds to wait for a reply that comes after the service has taken the message. When they are over, the item comes out with timed_out set and no reply.',
};

export function replyTimeLimitMs(parameters: NodeParameters, index: number): number {
	const seconds = Number(parameters.record('options', index).replyTimeLimit ?? NaN);
	return seconds > 0 ? seconds * 1000 : RESULT_TIMEOUT_MS;
}
