import { fixtures, type Simulator } from '../../simulator';
import { connecting, lateReply, unknownSession } from '../chat';
import { agent, type ContractCase } from '../contractCase';

const { sessions, agents } = fixtures;
const INBOUND = 'POST /v1/chat/inbound';
const ASYNC = 'POST /v1/chat/inbound/async';
const LEGACY = 'POST /chat_messages/send_message';

const message = (sendBy: string, text: string) => ({
	operation: 'sendMessage',
	sendBy,
	sessionId: sessions.open,
	message: text,
});

/** What the customer said in the session, as the service holds it. */
const saidIn = (simulator: Simulator, session: string = sessions.open) =>
	simulator.sessions
		.get(session)
		.messages.filter(({ role }) => role === 'user')
		.map(({ content }) => content);

function shows(options: string[]) {
	return (simulator: Simulator) => {
		const shown = { id: 'interaction_1', options, answered: false };
		simulator.sessions.get(sessions.open).interactions.set(shown.id, shown);
	};
}

const bySocket: ContractCase[] = [
	{
		title: 'by WebSocket: sends messages in order and gives the replies',
		parameters: { ...message('socket', '={{ $json.text }}') },
		items: [{ text: 'Hello' }, { text: 'Is it free?' }],
		requests: connecting(sessions.open),
		output: ['You said: Hello', 'You said: Is it free?'].map((reply) => ({
			session_id: sessions.open,
			state: 'default',
			reply,
			mode: 'ai',
			help_requested: false,
			turn_id: expect.anything(),
		})),
		then: (simulator) => expect(saidIn(simulator)).toEqual(['Hello', 'Is it free?']),
	},
	{
		title: 'by WebSocket: waits for the result of a message that was merged',
		parameters: message('socket', 'please merge this'),
		requests: connecting(sessions.open),
		output: (dialect) => [
			{
				state: 'merged',
				merged_into: expect.anything(),
				reply: lateReply(dialect, 'You said: please merge this'),
				turn_result: { state: expect.any(String) },
			},
		],
	},
	{
		title: 'by WebSocket: tries a busy service again, and the message arrives once',
		parameters: message('socket', 'please be busy, once'),
		requests: connecting(sessions.open),
		output: [{ state: 'default', reply: 'You said: please be busy, once' }],
		then: (simulator) => expect(saidIn(simulator)).toEqual(['please be busy, once']),
	},
	{
		title: 'by WebSocket: wakes a dormant session',
		parameters: { ...message('socket', 'Hello'), sessionId: sessions.dormant },
		requests: connecting(sessions.dormant),
		output: [{ session_id: sessions.dormant, state: 'default', reply: 'You said: Hello' }],
		then: ({ sessions: control }) =>
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
		title: 'by WebSocket: is turned down for a closed session',
		parameters: { ...message('socket', 'Hello'), sessionId: sessions.closed },
		requests: connecting(sessions.closed).slice(0, 1),
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
		given: shows(['yes', 'no']),
		requests: connecting(sessions.open),
		output: [{ session_id: sessions.open, state: 'default', reply: 'You said: yes' }],
		then: ({ sessions: control }) =>
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
		given: shows([]),
		requests: connecting(sessions.open),
		output: [{ state: 'default', reply: 'You said: On Saturday' }],
	},
];

const byRequest: ContractCase[] = [
	{
		title: 'by request: gives the immediate reply, wherever the answer holds it',
		parameters: message('inbound', 'Hello'),
		requests: [INBOUND],
		output: ({ name }) => {
			const result = {
				state: 'default',
				reply: 'You said: Hello',
				mode: 'ai',
				help_requested: false,
				turn_id: expect.anything(),
				message_id: expect.anything(),
			};
			return [{ wrapped: { result }, nested: { outcome: { of_turn: result } } }[name] ?? result];
		},
		then: (simulator) => expect(saidIn(simulator)).toEqual(['Hello']),
	},
	{
		title: 'by request: lets the service find or create the session for an agent',
		parameters: { ...message('inbound', 'Hello'), sessionId: '', ...agent(agents.us) },
		requests: [INBOUND],
		then: ({ state }) =>
			expect(
				[...state.sessions.values()].filter((one) => one.agentUuid === agents.us),
			).toMatchObject([{ messages: [{ content: 'Hello' }, { role: 'ai' }] }]),
	},
	{
		title: 'by request: tells of an unknown session in whatever words the service has',
		parameters: { ...message('inbound', 'Hello'), sessionId: sessions.unknown },
		requests: [INBOUND],
		rejection: unknownSession,
	},
	{
		title: 'by request: is turned down for an agent of another account, at any status',
		parameters: { ...message('inbound', 'Hello'), sessionId: '', ...agent(agents.foreign) },
		requests: [INBOUND],
		rejection: 'The service found no such agent',
	},
	{
		title: 'by later reply: the same key and content counts once',
		parameters: {
			...message('async', 'Hello'),
			idempotency: 'own',
			idempotencyKey: 'key-1',
		},
		items: [{ n: 1 }, { n: 2 }],
		requests: [ASYNC, ASYNC],
		output: ({ name }) => {
			const accepted = {
				plain: { state: 'accepted' },
				terse: { turn: expect.any(String) },
				wrapped: { accepted: { turn: { turn_id: expect.any(String) } }, message: 'Accepted' },
				nested: { line: [{ turn_ref: expect.any(String) }] },
			}[name];
			return [accepted, accepted];
		},
		then: (simulator) => expect(saidIn(simulator)).toEqual(['Hello']),
	},
	{
		title: 'by later reply: waits for it on the WebSocket',
		parameters: { ...message('async', 'Hello'), waitForReply: true },
		requests: [...connecting(sessions.open), ASYNC],
		output: (dialect) => [
			{
				session_id: sessions.open,
				reply: lateReply(dialect, 'You said: Hello'),
				turn_result: { state: 'default', merged_into: null, error: null },
			},
		],
	},
	{
		title: 'by legacy request: gives the whole answer',
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
		then: ({ requests }) =>
			expect(requests[0]?.body).toEqual({
				agent_uuid: agents.full,
				chat_session_id: sessions.open,
				message: 'Hello',
			}),
	},
	{
		title: 'by legacy request: lists what the service does not accept',
		parameters: { ...message('legacy', 'Hello'), ...agent(agents.foreign) },
		requests: [LEGACY],
		rejection: 'The service found no such agent',
	},
];

export const chatSend: ContractCase[] = [...bySocket, ...byRequest];
