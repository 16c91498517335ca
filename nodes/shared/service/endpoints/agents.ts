import { holdsSomething } from '../core/evidence';
import type { Answer } from '../core/http';
import type { Service } from '../core/service';
import { withAdditions, type Additions } from './request';

/** `GET /v1/active_agents`: agents that are active and able to take calls. */
export async function getActiveAgents(
	service: Service,
	additions: Additions = {},
): Promise<Answer> {
	const request = withAdditions({ method: 'GET', path: '/v1/active_agents' }, additions);
	return await service.send(request, holdsSomething);
}
