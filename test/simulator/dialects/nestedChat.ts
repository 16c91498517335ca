import type { ChatDialect, SocketDialect } from './chatTypes';
import { plainChat, plainSocket } from './plainChat';

export const nestedChat: ChatDialect = {
	...plainChat,
	openState: 'talking',
	create: { agent: 'with.bot', person: 'caller.label', metadata: 'caller.facts' },
	inbound: {
		session: 'to.session_ref',
		agent: 'with.bot',
		person: 'caller.label',
		message: 'said.text',
		messageId: 'said.ref',
	},
	async: {
		session: 'to.talk_ref',
		agent: 'to.bot',
		person: 'caller.title',
		message: 'said.parts.0.text',
		messageId: 'said.key_ref',
	},
	inQuery: ['with.bot', 'to.talk_ref'],
	createBody: ({ session_id: ref, status }) => ({
		success: true,
		data: { talks: [{ ref, status }] },
	}),
	inboundBody: (result) => ({ success: true, data: { outcome: { of_turn: result } } }),
	asyncBody: ({ turnId, messageId }) => ({
		success: true,
		data: { line: [{ turn_ref: turnId, message_id: messageId }] },
	}),
	deliveryUrl: { from: 'message', field: 'answer_to' },
	deliveryBody: (reply) => ({
		about: { talk: reply.sessionId },
		retort: { to_turn: reply.turnId, text: reply.reply, how: reply.state },
	}),
	commands: {
		takeOver: 'human_in',
		release: 'human_out',
		tell: 'brief',
		say: 'speak',
		text: 'words',
	},
	supportBody: (command, session) => ({
		success: true,
		data: { carried_out: command, now: { in_mode: session.mode } },
	}),
	unknownSession: 'No such talk',
	closedText: 'This talk is over',
	interactive: (id, text, options) => ({ ask: { id, text, picks: options } }),
	reactivatedReason: 'came_back',
	autoResumeReason: 'nobody_there',
};

export const nestedSocket: SocketDialect = {
	...plainSocket,
	resultNames: 'customer',
	eventId: (counter) => `n-${counter}`,
	unusualEvent: { type: 'mood_changed', payload: { mood: { now: 'calm' } } },
	unusualCloseCode: 4100,
};
