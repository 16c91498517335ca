import { type ClientFrame, messageFrame } from '../../../../nodes/shared/chat/frames';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import type { TurnOutcome } from '../../../../nodes/shared/chat/turn';
import type { JsonObject } from '../../../../nodes/shared/json';
import { eventFrame, chatConnectionHarness, settle } from './fakes';
import type { FakeSocket } from './fakes';

export const WITH_KEY = messageFrame('hi', { messageId: 'm-1', idempotencyKey: 'k-1' });

/** Starts one turn on a connected session. `outcome` is null while the turn is in progress. */
export async function turn(frame: ClientFrame) {
	const use = chatConnectionHarness();
	use.connection.start();
	await use.connect();
	let outcome: TurnOutcome | null = null;
	const { clock } = use;
	const whole = sendTurn(use.connection, frame, { clock, random: () => 0.5 });
	void whole.then((ended) => {
		outcome = ended;
	});
	await settle();
	return { ...use, outcome: () => outcome, whole };
}

export const ai = (content: string, id: number | string = 1) => ({
	id,
	type: 'message',
	role: 'ai',
	content,
	created_at: '2026-01-01T00:00:09Z',
});

/** A customer's message as an event. */
export const user = (content: string, id: number | string = 'u-1') => ({
	...ai(content, id),
	role: 'user',
});

let eventCount = 0;
export function happens(socket: FakeSocket, type: string, payload: JsonObject): void {
	eventCount += 1;
	socket.receives(eventFrame(type, `event-${eventCount}`, payload));
}
