import type { JsonObject } from '../json';
import type { SimulatorState } from '../world';
import { closeSession, goDormant, switchMode } from './lifecycle';
import { asks } from './scriptedReplies';
import type { Emit, Session } from './types';

export interface Reply {
	text: string | null;
	/** ID of the agent's message. Null if there was none. */
	messageId: string | number | null;
	helpRequested: boolean;
}

/** Adds a message to the session and emits its event. */
export function addMessage(
	world: SimulatorState,
	session: Session,
	role: 'user' | 'ai',
	content: string,
	emit: Emit,
	beside: JsonObject = {},
): string | number {
	const id = world.dialect.chat.messageId(world.chat.nextNumber());
	const createdAt = new Date(world.clock.now()).toISOString();
	session.messages.push({ id, role, content, createdAt });
	emit('message_received', {
		id,
		type: 'message',
		role,
		content,
		created_at: createdAt,
		...beside,
	});
	return id;
}

/** The agent's reply to the content, with all its effects. */
export function respond(
	world: SimulatorState,
	session: Session,
	content: string,
	emit: Emit,
): Reply {
	const helpRequested = asks(content, 'human');
	// A human operator doesn't reply immediately.
	if (session.mode === 'support') return { text: null, messageId: null, helpRequested: false };
	const text = replyText(content);
	const messageId =
		text === null
			? null
			: addMessage(
					world,
					session,
					'ai',
					text,
					emit,
					interactivePart(world, session, content, text),
				);
	if (helpRequested) switchMode(session, 'support', emit);
	if (asks(content, 'dormant')) goDormant(session, emit);
	if (asks(content, 'close')) closeSession(session, emit);
	return { text, messageId, helpRequested };
}

function replyText(content: string): string | null {
	if (asks(content, 'silent')) return null;
	if (asks(content, 'buttons') || asks(content, 'form')) return 'Please choose';
	return `You said: ${content}`;
}

function interactivePart(
	world: SimulatorState,
	session: Session,
	content: string,
	text: string,
): JsonObject {
	const buttons = asks(content, 'buttons');
	if (!buttons && !asks(content, 'form')) return {};
	const id = `interaction_${world.chat.nextNumber()}`;
	const options = buttons ? ['yes', 'no'] : [];
	session.interactions.set(id, { id, options, answered: false });
	return world.dialect.chat.interactive(id, text, options);
}
