import { response } from '../http/responses';
import type { Route } from '../http/route';
import type { SimulatorState } from '../world';

export function agentRoutes({ state, dialect }: SimulatorState): Route[] {
	return [
		{
			method: 'GET',
			path: '/v1/active_agents',
			handle: ({ query }) => {
				const wanted = query[dialect.agents.filter];
				const agents = [...state.agents.values()]
					.filter((agent) => agent.accountId === state.accountId && agent.active)
					.filter((agent) => wanted === undefined || agent.agentUuid === wanted);
				return response(
					200,
					dialect.agents.body(agents.map((agent) => dialect.agents.record(agent))),
				);
			},
		},
	];
}
