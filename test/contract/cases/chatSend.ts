import { fixtures, type Simulator } from '../../simulator';
import { connectRequests, unknownSession } from '../chat';
import { agent, type ContractCase, withoutEnvelope } from '../contractCase';

const { sessions, agents } = fixtures;
const INBOUND = 'POST /v1/chat/inbound';
const ASYNC = 'POST /v1/chat/inbound/async';
const LEGACY = 'POST /chat_messages/send_message';

const message = (sendingMethod: string, text: string) => ({
	operation: 'sendMessage',
	sendingMethod,
	sessionId: sessions.open,
	message: text,
});

/** The customer's messages in the session, as the service has stored them. */
const customerMessages = (simulator: Simulator, session: string = sessions.open) =>
	simulator.sessions
		.get(session)
		.messages.filter(({ role }) => role === 'user')
		.map(({ content }) => content);

function withInteraction(options: string[]) {
	return (simulator: Simulator) => {
		const interaction = { id: 'interaction_1', options, answered: false };
		simulator.sessions.get(sessions.open).interactions.set(interaction.id, interaction);
	};
}

const bySocket: ContractCase[] = [
	{
		title: 'by WebSocket: sends messages in order and returns the replies',
		parameters: { ...message('socket', '={{ $json.text }}') },
		items: [{ text: 'Hello' }, { text: 'Is it free?' }],
		// Each message has its own connection.
		requests: [...connectRequests(sessions.open), ...connectRequests(sessions.open)],
		output: ['You said: Hello', 'You said: Is it free?'].map((reply) => ({
			session_id: sessions.open,
			state: 'default',
			reply,
			mode: 'ai',
			help_requested: false,
			turn_id: expect.anything(),
		})),
		verify: (simulator) => expect(customerMessages(simulator)).toEqual(['Hello', 'Is it free?']),
	},
	{
		title: 'by WebSocket: returns the turn into which a message was merged',
		parameters: message('socket', 'please merge this'),
		requests: connectRequests(sessions.open),
		output: [
			{
				state: 'merged',
				merged_into: expect.anything(),
				reply: null,
				reply_hint: expect.stringContaining('Chat Events Trigger'),
			},
		],
	},
	{
		title: 'by WebSocket: reactivates a dormant session',
		parameters: { ...message('socket', 'Hello'), sessionId: sessions.dormant },
		requests: connectRequests(sessions.dormant),
		output: [{ session_id: sessions.dormant, state: 'default', reply: 'You said: Hello' }],
		verify: ({ sessions: control }) =>
			expect(control.get(sessions.dormant)).toMatchObject({
				status: 'open',
				events: expect.arrayContaining([
					expect.objectContaining({
						frame: expect.objectContaining({ type: 'session_reactivated' }),
					}),
				]),
			}),
	},
	{
		title: 'by WebSocket: stops if the session is closed',
		parameters: { ...message('socket', 'Hello'), sessionId: sessions.closed },
		requests: connectRequests(sessions.closed).slice(0, 1),
		rejection: 'The chat session is closed',
	},
	{
		title: 'answers an interactive message with an option',
		parameters: {
			operation: 'answerInteraction',
			sessionId: sessions.open,
			interactionId: 'interaction_1',
			optionId: 'yes',
		},
		prepare: withInteraction(['yes', 'no']),
		requests: connectRequests(sessions.open),
		output: [{ session_id: sessions.open, state: 'default', reply: 'You said: yes' }],
		verify: ({ sessions: control }) =>
			expect(control.frames().map(({ text }): unknown => JSON.parse(text))).toEqual([
				{
					type: 'interaction_response',
					interaction_id: 'interaction_1',
					option_id: 'yes',
					message_id: expect.stringMatching(/^n8n-/),
				},
			]),
	},
	{
		title: 'answers an interactive message with free-form input',
		parameters: {
			operation: 'answerInteraction',
			sessionId: sessions.open,
			interactionId: 'interaction_1',
			answerWith: 'response',
			response: 'On Saturday',
		},
		prepare: withInteraction([]),
		requests: connectRequests(sessions.open),
		output: [{ state: 'default', reply: 'You said: On Saturday' }],
	},
];

const byRequest: ContractCase[] = [
	{
		title: 'by request: finds the immediate reply anywhere in the response',
		parameters: message('inbound', 'Hello'),
		requests: [INBOUND],
		output: ({ chat }) => {
			const result = {
				state: 'default',
				reply: 'You said: Hello',
				mode: 'ai',
				help_requested: false,
				turn_id: expect.anything(),
				message_id: expect.anything(),
			};
			return [withoutEnvelope(chat.inboundBody(result))];
		},
		verify: (simulator) => expect(customerMessages(simulator)).toEqual(['Hello']),
	},
	{
		title: 'by request: lets the service find or create the session for an agent',
		parameters: { ...message('inbound', 'Hello'), sessionId: '', ...agent(agents.us) },
		requests: [INBOUND],
		verify: ({ state }) =>
			expect(
				[...state.sessions.values()].filter((one) => one.agentUuid === agents.us),
			).toMatchObject([{ messages: [{ content: 'Hello' }, { role: 'ai' }] }]),
	},
	{
		title: 'by request: stops if the session is unknown, whatever the error',
		parameters: { ...message('inbound', 'Hello'), sessionId: sessions.unknown },
		requests: [INBOUND],
		rejection: unknownSession,
	},
	{
		title: 'by request: stops if the agent belongs to another account, at any HTTP status',
		parameters: { ...message('inbound', 'Hello'), sessionId: '', ...agent(agents.foreign) },
		requests: [INBOUND],
		rejection: 'The account of this API token has no agent with this ID',
	},
	{
		title: 'by later reply: a message with the same key and content is accepted once',
		parameters: {
			...message('async', 'Hello'),
			options: { idempotencyKey: 'key-1' },
		},
		items: [{ n: 1 }, { n: 2 }],
		requests: [ASYNC, ASYNC],
		output: ({ chat }) => {
			const response = withoutEnvelope(chat.asyncBody(expect.anything(), expect.anything()));
			const hint = expect.stringContaining('Chat Delivery Trigger');
			const accepted = { ...response, reply: null, reply_hint: hint };
			return [accepted, accepted];
		},
		verify: (simulator) => expect(customerMessages(simulator)).toEqual(['Hello']),
	},
	{
		title: 'by legacy request: returns the whole response',
		parameters: { ...message('legacy', 'Hello'), ...agent() },
		requests: [LEGACY],
		output: [
			{
				session_id: sessions.open,
				response: 'You said: Hello',
				tool_calls: [],
				tool_results: [],
				current_state: null,
			},
		],
		verify: ({ requests }) =>
			expect(requests[0]?.body).toEqual({
				agent_uuid: agents.full,
				chat_session_id: sessions.open,
				message: 'Hello',
			}),
	},
];

export const chatSend: ContractCase[] = [...bySocket, ...byRequest];
