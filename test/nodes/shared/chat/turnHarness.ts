import { type ClientFrame } from '../../../../nodes/shared/chat/frames';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import type { JsonObject } from '../../../../nodes/shared/json';
import { eventFrame, chatConnectionHarness, settle, messageFrame } from './fakes';
import type { FakeSocket } from './fakes';

export const WITH_KEY = messageFrame('hi', { messageId: 'm-1', idempotencyKey: 'k-1' });

/** Starts one turn on a connected session. */
export async function turn(frame: ClientFrame) {
	const use = chatConnectionHarness();
	use.connection.start();
	await use.connect();
	const { clock } = use;
	const whole = sendTurn(use.connection, frame, { clock, random: () => 0.5 });
	await settle();
	return { ...use, whole };
}

let eventCount = 0;
export function happens(socket: FakeSocket, type: string, payload: JsonObject): void {
	eventCount += 1;
	socket.receives(eventFrame(type, `event-${eventCount}`, payload));
}
