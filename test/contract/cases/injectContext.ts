import { fixtures } from '../../simulator';
import { unknownSessionInPath } from '../chat';
import type { ContractCase } from '../contractCase';

const { sessions } = fixtures;
/** The initial entry of each session. */
const FIRST = 'Conversation with Sales India';
const path = (session: string) => `POST /v1/chat/session/${session}/inject_context`;

export const injectContext: ContractCase[] = [
	{
		title: 'appends entries in the order of the items and returns the whole list',
		parameters: { sessionId: sessions.open, context: '={{ $json.entry }}' },
		items: [{ entry: 'Wants a visit' }, { entry: 'On Saturday' }],
		requests: [path(sessions.open), path(sessions.open)],
		output: [
			[FIRST, 'Wants a visit'],
			[FIRST, 'Wants a visit', 'On Saturday'],
		].map((context) => ({ session_id: sessions.open, context })),
	},
	{
		title: 'stops if the session is unknown, whatever the error',
		parameters: { sessionId: sessions.unknown, context: 'Wants a visit' },
		requests: [path(sessions.unknown)],
		rejection: unknownSessionInPath,
	},
	{
		title: 'stops if the session belongs to an agent of another account',
		parameters: { sessionId: sessions.open, context: 'Wants a visit' },
		prepare: ({ sessions: control }) => {
			control.get(sessions.open).agentUuid = fixtures.agents.foreign;
		},
		requests: [path(sessions.open)],
		rejection: 'The service found no agent of this chat session',
	},
];
