import { closeSession, switchMode } from '../chat/lifecycle';
import { addMessage } from '../chat/reply';
import type { Session } from '../chat/types';
import { response, invalid, type SimulatorResponse } from '../http/responses';
import type { Route } from '../http/route';
import { isNonEmptyString, isObject, type JsonObject } from '../json';
import type { SimulatorState } from '../world';
import { withSession } from './chatSession';

export function chatSupportRoutes(world: SimulatorState): Route[] {
	return [
		{
			method: 'POST',
			path: '/v1/chat/session/:id/support',
			handle: async ({ params, body }) =>
				await withSession(world, params.id, (session) =>
					support(world, session, isObject(body) ? body : {}),
				),
		},
	];
}

function support(world: SimulatorState, session: Session, body: JsonObject): SimulatorResponse {
	const { dialect, chat } = world;
	const { commands } = dialect.chat;
	const { command } = body;
	if (!isNonEmptyString(command)) return invalid(dialect, ['command is required']);
	const known = ['close', commands.takeOver, commands.release, commands.tell, commands.say];
	if (!known.includes(command)) return invalid(dialect, [`command ${command} is not known`]);
	const text = body[commands.text];
	const needsText = command === commands.tell || command === commands.say;
	if (needsText && !isNonEmptyString(text))
		return invalid(dialect, [`${commands.text} is required`]);
	const reason = rejectionReason(world, session, command);
	if (reason !== null) {
		return response(dialect.statuses.relayedRejection, {
			success: false,
			error: dialect.chat.rejectionText(command),
			upstream_body: { state: 'rejected', reason },
		});
	}
	const emit = chat.emitter(session);
	if (command === 'close') closeSession(session, emit);
	if (command === commands.takeOver) switchMode(session, 'support', emit);
	if (command === commands.release) switchMode(session, 'ai', emit);
	if (isNonEmptyString(text) && command === commands.tell) session.context.push(text);
	// The document has two roles only, so operator messages have the role of the AI.
	if (isNonEmptyString(text) && command === commands.say)
		addMessage(world, session, 'ai', text, emit);
	return response(200, dialect.chat.supportBody(command, session));
}

function rejectionReason(
	{ dialect }: SimulatorState,
	session: Session,
	command: string,
): string | null {
	const { commands } = dialect.chat;
	if (session.status === 'closed') return 'session_closed';
	if (command === commands.tell && session.mode === 'support')
		return 'tell_not_allowed_during_takeover';
	if (command === commands.say && session.mode === 'ai') return 'say_needs_takeover';
	return null;
}
