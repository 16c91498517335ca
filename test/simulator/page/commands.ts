import { switchMode } from '../chat/lifecycle';
import { addMessage } from '../chat/reply';
import type { Session } from '../chat/types';
import { command } from '../control/command';
import type { Route } from '../http/route';
import { isNonEmptyString, type JsonObject } from '../json';
import { SessionControl } from '../socket/sessionControl';
import type { SimulatorState } from '../world';
import { flip } from './switches';

/** What the page does, beside the other control endpoints. */
export function pageCommands(world: SimulatorState): Route[] {
	const sessions = new SessionControl(world);
	const sessionOf = ({ sessionId }: JsonObject) => sessions.get(String(sessionId));
	return [
		command('switch', ({ name }) => flip(world, name)),
		command('writeAsCustomer', async (body) => {
			return await writeAsCustomer(world, sessionOf(body), textOf(body));
		}),
		command('writeAsPerson', (body) => writeAsPerson(world, sessionOf(body), textOf(body))),
	];
}

function textOf({ text }: JsonObject): string {
	if (!isNonEmptyString(text)) throw new Error('text is required');
	return text;
}

/** As in the chat of a website: the agent replies, and the followers get events. */
async function writeAsCustomer(
	{ chat }: SimulatorState,
	session: Session,
	content: string,
): Promise<JsonObject> {
	const incoming = { content, interaction: null, messageId: null, idempotencyKey: null };
	return await chat.send(session, { rail: 'socket', ...incoming }, chat.emitter(session));
}

/** Takes over the chat, if the agent has it. */
function writeAsPerson(world: SimulatorState, session: Session, content: string): void {
	const emit = world.chat.emitter(session);
	switchMode(session, 'support', emit);
	addMessage(world, session, 'ai', content, emit);
}
