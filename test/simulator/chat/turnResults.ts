import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import type { Flight } from './types';

/** The `message_id` of a result: the customer's message or the agent's, as the document doesn't say which. */
export function namedMessage(
	{ socket }: Dialect,
	customers: string | number,
	agents: string | number | null,
): string | number {
	return socket.resultNames === 'agent' && agents !== null ? agents : customers;
}

/** The turn_result payloads of the messages merged into a turn that has ended with the agent's message. */
export function turnResults(
	dialect: Dialect,
	flight: Flight,
	replyId: string | number | null,
): JsonObject[] {
	const { socket } = dialect;
	return flight.merged.flatMap(({ turnId, messageId }) => {
		const target = {
			turn_id: flight.turnId,
			message_id: namedMessage(dialect, messageId, replyId),
			state: 'default',
			merged_into: null,
			error: null,
		};
		const own = { ...target, turn_id: turnId, state: 'merged', merged_into: flight.turnId };
		if (socket.mergedResult === 'target') return [target];
		return socket.mergedResult === 'own' ? [own] : [own, target];
	});
}
