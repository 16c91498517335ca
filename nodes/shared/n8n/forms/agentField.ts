import type { ILoadOptionsFunctions, INodeListSearchResult, INodeProperties } from 'n8n-workflow';
import { findAgents } from '../../agents';
import { getActiveAgents } from '../../api/endpoints';
import { searchEntries } from './listSearch';

/** The agent, selected from the account's active agents or entered by ID. */
export const agentField: INodeProperties = {
	displayName: 'Agent',
	name: 'agentUuid',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	description: 'The AI agent that talks to the person',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Select an agent...',
			typeOptions: { searchListMethod: 'searchAgents', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. agent_5f2c9a',
		},
	],
};

/** Fills the 'Agent' list with the account's active agents that match the typed filter. */
export async function searchAgents(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	return await searchEntries(this, filter, async ({ client, apiMapping }) => {
		const { body } = await getActiveAgents(client);
		return findAgents(body, apiMapping).map(({ uuid, name }) => ({ name, value: uuid }));
	});
}
