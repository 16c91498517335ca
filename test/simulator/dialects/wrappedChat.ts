import type { ChatDialect, SocketDialect } from './chatTypes';

export const wrappedChat: ChatDialect = {
	openState: 'in_conversation',
	create: { agent: 'agent_id', customer: 'contact', metadata: 'attributes' },
	createBody: (session) => ({ success: true, data: { session }, meta: { created: true } }),
	inbound: {
		session: 'session',
		agent: 'agent_id',
		customer: 'contact',
		message: 'content',
		messageId: 'client_message_id',
		idempotencyKey: 'idempotency_key',
		wrapper: 'inbound',
	},
	inboundBody: (result) => ({ success: true, data: { result } }),
	asyncBody: ({ turnId, messageId }) => ({
		success: true,
		message: 'Accepted',
		data: { accepted: { turn: { turn_id: turnId }, message: { message_id: messageId } } },
	}),
	deliveryUrl: { from: 'session', field: 'delivery_webhook_url' },
	deliveryBody: (reply) => ({
		delivery: { session: { id: reply.sessionId }, turn: { id: reply.turnId, state: reply.state } },
		messages: reply.reply === null ? [] : [{ role: 'ai', content: reply.reply }],
	}),
	commands: {
		takeOver: 'assign_operator',
		release: 'resume_ai',
		tell: 'tell_agent',
		say: 'operator_message',
		text: 'content',
	},
	supportBody: (command, session) => ({
		success: true,
		data: { result: { command, session: { id: session.sessionId, state: session.status } } },
	}),
	refusalText: (command) => `The call "${command}" was refused by the chat engine`,
	initialContext: (agentName) => `You are ${agentName}.`,
	streamText: 'stream must be user when an API-Token is used',
	messageId: (counter) => `8f14e45f-ceea-467f-a8d3-${counter.toString(16).padStart(12, '0')}`,
	turnId: (counter) => `c9f0f895-fb98-4b91-b6e6-${counter.toString(16).padStart(12, '0')}`,
	interactive: (id, text, options) => ({
		interactive: { id, header: { text }, rows: options.map((option) => ({ id: option })) },
	}),
	echoesMessageId: true,
	reactivatedReason: 'session_woken',
	autoResumeReason: 'nudge_unanswered',
};

export const wrappedSocket: SocketDialect = {
	urlQuery: 'shard=7',
	accountId: (id) => `acc_${id}`,
	ts: (ms) => Math.floor(ms / 1000),
	eventId: (counter) => `0190e0c1-0000-7000-8000-${counter.toString(16).padStart(12, '0')}`,
	replyText: 'nowhere',
	mergedResult: 'both',
	ackBeforeEvents: true,
	socketEndsWithToken: true,
	replay: { windowMs: 120_000, maxEvents: 50, onFirstConnect: true },
	takeOverCode: 1000,
	sameClientTwice: 'replaced',
	replacedCode: 4001,
	closeReason: (word) => `Policy: ${word.replaceAll('_', ' ')}`,
	afterClosed: 'closes',
	closedSessionCode: 1000,
	unusualEvent: { type: 'operator_joined', payload: { operator: { name: 'Operator 1' } } },
	unusualCloseCode: 3000,
};
