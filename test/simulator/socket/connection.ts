import { asks } from '../chat/scriptedReplies';
import type { Emit } from '../chat/types';
import { delay } from '../clock';
import type { JsonObject } from '../json';
import type { SimulatorState } from '../world';
import { readFrame } from './frames';
import type { Connection } from './types';

/** Handles a text frame of the client, and sends its ack. */
export async function handleFrame(
	world: SimulatorState,
	connection: Connection,
	text: string,
): Promise<void> {
	const { session } = connection;
	await delay(world.settings.latencyMs ?? 0);
	const read = readFrame(text, world.dialect);
	if ('error' in read) {
		const { error, messageId } = read;
		ack(world, connection, { state: 'invalid', error }, messageId);
		return;
	}
	const { incoming } = read;
	const direct = world.chat.emitter(session);
	const held: Array<() => void> = [];
	const later: Emit = (type, payload) => held.push(() => direct(type, payload));
	const emit = world.dialect.socket.ackBeforeEvents ? later : direct;
	const outcome = await world.chat.send(session, incoming, emit);
	if (asks(incoming.content, 'garbage')) sendGarbage(connection);
	if (asks(incoming.content, 'drop')) connection.ws.terminate();
	else if (!asks(incoming.content, 'noAck')) ack(world, connection, outcome, incoming.messageId);
	for (const emitNow of held) emitNow();
}

function ack(
	{ dialect }: SimulatorState,
	connection: Connection,
	outcome: JsonObject,
	messageId: string | null,
): void {
	const { session } = connection;
	// The ack of a rejected frame has the ID of its sender.
	const named = messageId === null || 'message_id' in outcome ? {} : { message_id: messageId };
	transmit(connection, {
		type: 'ws_write_result',
		session_id: session.sessionId,
		account_id: dialect.socket.accountId(session.accountId),
		payload: { ...outcome, ...named },
	});
}

export function transmit(connection: Connection, frame: JsonObject): void {
	if (connection.ws.readyState !== connection.ws.OPEN) return;
	connection.ws.send(JSON.stringify(frame));
}

function sendGarbage({ ws, session }: Connection): void {
	ws.send('this is not JSON');
	ws.send('[]');
	ws.send('{"type":"message_received"}');
	ws.send(
		JSON.stringify({ type: 'ws_write_result', session_id: session.sessionId, payload: null }),
	);
	ws.send(JSON.stringify({ type: 'from_the_future', payload: { deep: [1, { x: null }] } }));
	ws.send(Buffer.from([0, 1, 2, 255]), { binary: true });
}
