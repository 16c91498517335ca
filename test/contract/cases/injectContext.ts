import { fixtures } from '../../simulator';
import { unknownSession } from '../chat';
import type { ContractCase } from '../contractCase';

const { sessions } = fixtures;
const path = (session: string) => `POST /v1/chat/session/${session}/inject_context`;

export const injectContext: ContractCase[] = [
	{
		title: 'stops if the session is unknown, whatever the error',
		parameters: { sessionId: sessions.unknown, context: 'Wants a visit' },
		requests: [path(sessions.unknown)],
		rejection: unknownSession,
	},
	{
		title: 'stops if the session belongs to an agent of another account',
		parameters: { sessionId: sessions.open, context: 'Wants a visit' },
		prepare: ({ sessions: control }) => {
			control.get(sessions.open).agentUuid = fixtures.agents.foreign;
		},
		requests: [path(sessions.open)],
		rejection: 'The account of this API token has no agent with this ID',
	},
];
