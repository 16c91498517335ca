import { response, type Handler } from '../http/route';

export const listAgents: Handler = ({ state, dialect: { agents } }, { query }) => {
	const wanted = query[agents.filter];
	const found = [...state.agents.values()].filter(
		({ accountId, active, agentUuid }) =>
			accountId === state.accountId && active && (wanted ?? agentUuid) === agentUuid,
	);
	return response(200, agents.list.body(found));
};
