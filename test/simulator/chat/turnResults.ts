import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import type { Flight } from './types';

/** The turn_result payloads of the messages merged into a turn that has ended. */
export function turnResults({ socket }: Dialect, flight: Flight): JsonObject[] {
	return flight.merged.flatMap(({ turnId, messageId }) => {
		const target = {
			turn_id: flight.turnId,
			message_id: messageId,
			state: 'default',
			merged_into: null,
			error: null,
		};
		const own = { ...target, turn_id: turnId, state: 'merged', merged_into: flight.turnId };
		if (socket.mergedResult === 'target') return [target];
		return socket.mergedResult === 'own' ? [own] : [own, target];
	});
}
