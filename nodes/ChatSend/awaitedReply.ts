import type { AwaitedReply } from '../shared/chat/replyWatch';
import type { JsonObject } from '../shared/json';

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
