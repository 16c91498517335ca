import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { findAgents } from '../api/agents';
import { getActiveAgents } from '../api/endpoints';
import { connect } from './connect';
import { toNodeError } from './nodeErrors';

/** Fills the Agent list with the account's active agents, narrowed to what was typed. */
export async function searchAgents(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	const typed = filter.toLowerCase();
	try {
		const { service, apiMapping } = await connect(this);
		const { body } = await getActiveAgents(service);
		const results = findAgents(body, apiMapping)
			.filter(({ uuid, name }) => `${name} ${uuid}`.toLowerCase().includes(typed))
			.sort((a, b) => a.name.localeCompare(b.name))
			.map(({ uuid, name }) => ({ name, value: uuid }));
		return { results };
	} catch (error) {
		throw toNodeError(this.getNode(), error);
	}
}
