import type { ILoadOptionsFunctions, INodeListSearchResult, INodeProperties } from 'n8n-workflow';
import { readActiveAgents } from '../../core/agents';
import { recentCampaigns } from '../../core/campaigns/campaign';
import { clock } from '../clock';
import { type AccountClient, createAccountClient } from '../http/accountClient';
import { toListError } from '../http/nodeErrors';

/** A field that is selected from a list, or entered. */
export function locatorField(
	field: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	list: { searchListMethod: string; placeholder: string; hint?: string },
	example: string,
	entered = 'By ID',
): INodeProperties {
	const { searchListMethod, ...texts } = list;
	return {
		...field,
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		required: true,
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				...texts,
				typeOptions: { searchListMethod, searchable: true },
			},
			{ displayName: entered, name: 'id', type: 'string', placeholder: `e.g. ${example}` },
		],
	};
}

export const agentField = locatorField(
	{
		displayName: 'Agent',
		name: 'agentUuid',
		description: 'The AI agent that talks to the person',
	},
	{ searchListMethod: 'searchAgents', placeholder: 'Select an agent...' },
	'agent_5f2c9a',
);

/** Fills the 'Agent' list with the account's active agents that match the typed filter. */
export async function searchAgents(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	return await searchEntries(this, filter, async (account) => {
		const { agents } = await readActiveAgents(account);
		return agents.map(({ uuid, name }) => ({ name, value: uuid }));
	});
}

/** The document has no request that lists campaigns. */
export const campaignField = locatorField(
	{ displayName: 'Campaign', name: 'campaignId' },
	{
		searchListMethod: 'searchCampaigns',
		placeholder: 'Select a campaign...',
		hint: "The list has the campaigns of recent calls. Enter a new campaign with 'By ID'.",
	},
	'42',
);

/** Fills the 'Campaign' list with the campaigns of recent calls that match the typed filter. */
export async function searchCampaigns(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	return await searchEntries(this, filter, async (account) => {
		const campaigns = await recentCampaigns(account, clock);
		// n8n stores the name with the workflow, so it has nothing that changes, such as the status.
		return campaigns.map(({ id, name }) => ({ name: name || `Campaign ${id}`, value: id }));
	});
}

/**
 * The entries whose name or value contains the typed filter, sorted by name.
 *
 * @throws NodeApiError if the entries can't be read
 */
async function searchEntries(
	context: ILoadOptionsFunctions,
	filter: string,
	read: (account: AccountClient) => Promise<ListEntry[]>,
): Promise<INodeListSearchResult> {
	try {
		const entries = await read(await createAccountClient(context));
		return { results: matching(entries, filter).sort((a, b) => a.name.localeCompare(b.name)) };
	} catch (error) {
		throw toListError(context.getNode(), error);
	}
}

export type ListEntry = { name: string; value: string };

export function matching(entries: readonly ListEntry[], filter: string): ListEntry[] {
	const typed = filter.toLowerCase();
	return entries.filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(typed));
}

/**
 * An expression for the subtitle of a node: the entered or selected value of a parameter, or the fallback if it's empty or an
 * expression.
 */
export function enteredOr(name: string, fallback: string): string {
	const raw = `$rawParameter["${name}"]`;
	return `(String(${raw}?.value ?? ${raw} ?? "").replace(/^=.*/s, "") || "${fallback}")`;
}
