import { fixtures, type Dialect, type Simulator } from '../../simulator';
import { agent, type ContractCase, perDialect } from '../contractCase';

const { sessions, agents } = fixtures;
const sessionId = sessions.open;
const SUPPORT = `POST /v1/chat/session/${sessionId}/support`;

const statusOf = ({ sessions: control }: Simulator) => control.get(sessionId).status;
const newest = ({ state }: Simulator) => [...state.sessions.values()].at(-1);

const tell = ({ chat: { commands } }: Dialect) => ({
	operation: 'supportCommand',
	sessionId,
	command: commands.tell,
	options: { additionalBodyFields: JSON.stringify({ [commands.text]: 'Be brief' }) },
});

const session: ContractCase[] = [
	{
		title: 'creates a session and returns its ID as session_id',
		parameters: { operation: 'create', ...agent(), personName: 'Asha Rao' },
		requests: ['POST /v1/chat/session'],
		output: [{ session_id: expect.stringMatching(/^[0-9a-f-]{36}$/) }],
		verify: (simulator, [item]) =>
			expect(newest(simulator)).toMatchObject({
				sessionId: item?.json.session_id,
				agentUuid: agents.full,
				person: 'Asha Rao',
			}),
	},
	{
		title: 'stops if the agent belongs to another account, at any HTTP status',
		parameters: { operation: 'create', ...agent(agents.foreign) },
		requests: ['POST /v1/chat/session'],
		rejection: 'The account of this API token has no agent with this ID',
	},
	{
		title: 'closes a session',
		parameters: { operation: 'close', sessionId },
		requests: [SUPPORT],
		output: [{ session_id: sessionId }],
		verify: (simulator) => {
			expect(statusOf(simulator)).toBe('closed');
			expect(simulator.requests[0]?.body).toEqual({ command: 'close' });
		},
	},
	{
		title: 'sends any other support command with additional fields',
		parameters: tell,
		requests: [SUPPORT],
		output: [{ session_id: sessionId }],
		verify: ({ sessions: control }) =>
			expect(control.get(sessionId).context.at(-1)).toBe('Be brief'),
	},
	{
		title: 'explains a rejection of the chat engine, at any HTTP status',
		parameters: tell,
		prepare: ({ sessions: control }) => control.setMode(sessionId, 'support'),
		requests: [SUPPORT],
		rejection: 'The chat engine rejected the request',
	},
	{
		title: 'explains that the session is closed',
		parameters: { operation: 'supportCommand', sessionId, command: 'close' },
		prepare: ({ sessions: control }) => control.close(sessionId),
		requests: [SUPPORT],
		rejection: 'The chat session is closed',
	},
];

const legacy: ContractCase[] = [
	{
		title: 'creates a session with a welcome message',
		parameters: {
			operation: 'legacyCreate',
			...agent(),
			personName: 'Asha Rao',
			metadata: '{ "source": "website" }',
		},
		requests: ['POST /chat_sessions'],
		output: [
			{
				session_id: expect.any(String),
				agent_name: 'Sales India',
				started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+$/),
				welcome_message: 'Hello Asha Rao, how can I help?',
			},
		],
		verify: ({ requests }) =>
			expect(requests[0]?.body).toEqual({
				agent_uuid: agents.full,
				metadata: { source: 'website', person_name: 'Asha Rao' },
			}),
	},
];

const inResource = (resource: string) => (contract: ContractCase) => ({
	...contract,
	title: `${resource}: ${contract.title}`,
	parameters: (dialect: Dialect) => ({ resource, ...perDialect(contract.parameters, dialect) }),
});

export const chatSession: ContractCase[] = [
	...session.map(inResource('session')),
	...legacy.map(inResource('legacy')),
];
