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
	displayName: 'Time Limit for Reply (Seconds)',
	name: 'replyTimeLimit',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 3600 },
	default: 120,
	description:
		'How long to wait for a reply that comes after the service has accepted the message. After that, the item is returned without a reply and with timed_out set to true.',
};

export function replyTimeLimitMs(parameters: NodeParameters, index: number): number {
	const seconds = Number(parameters.record('options', index).replyTimeLimit ?? NaN);
	return seconds > 0 ? seconds * 1000 : RESULT_TIMEOUT_MS;
}
