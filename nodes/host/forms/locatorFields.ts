import omit from 'lodash/omit';
import startCase from 'lodash/startCase';
import type { ILoadOptionsFunctions, INodeListSearchResult, INodeProperties } from 'n8n-workflow';
import { readActiveAgents } from '../../core/agents';
import { statusKey } from '../../core/calls/callEnd';
import { OUTCOMES } from '../../core/calls/callRecord';
import { recentCampaigns } from '../../core/campaigns/campaign';
import { type AccountClient, createAccountClient } from '../http/accountClient';
import { clock } from '../clock';
import { toListError } from '../http/nodeErrors';

/** A field that is selected from a list, or entered. */
function locatorField(
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

type ListEntry = { name: string; value: string };

function matching(entries: readonly ListEntry[], filter: string): ListEntry[] {
	const typed = filter.toLowerCase();
	return entries.filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(typed));
}

/** A status is selected, or entered, because a service may have any. */
export function statusField(
	field: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	searchListMethod: 'searchStatus' | 'searchStatuses',
): INodeProperties {
	const list = { searchListMethod, placeholder: 'Select a status, or type another...' };
	return omit(locatorField(field, list, 'picked', 'By Name'), 'required');
}

const USUAL = [...OUTCOMES].map(([value, { outcome }]) => ({ name: startCase(outcome), value }));

export const searchStatus = listOf(USUAL);

const SEVERAL = [...USUAL, { name: 'Not Answered or Failed', value: 'not_picked, failed' }];

export const searchStatuses = listOf(SEVERAL);

/**
 * The keys of the statuses that a user may mean: the text itself, because a service may have any status, and for names in
 * the list, such as "Answered or Failed", also their values.
 */
export function statusKeysMeant(text: string): string[] {
	const keys = text.split(/ or /i).map(statusKey);
	const named = USUAL.filter(({ name }) => keys.includes(statusKey(name)));
	return [statusKey(text), ...named.map(({ value }) => statusKey(value))];
}

/** Lists the entries that match the typed filter, and the filter itself, unless it's one of them. */
function listOf(entries: readonly ListEntry[]) {
	return async function (this: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> {
		const typed = filter.trim();
		const key = statusKey(typed);
		const isExact = entries.some(({ name, value }) => [name, value].map(statusKey).includes(key));
		const other = typed === '' || isExact ? [] : [{ name: typed, value: typed }];
		return await Promise.resolve({ results: [...matching(entries, typed), ...other] });
	};
}

/**
 * An expression for the subtitle of a node: the entered or selected value of a parameter, or the fallback if it's empty or an
 * expression.
 */
export function enteredOr(name: string, fallback: string): string {
	const raw = `$rawParameter["${name}"]`;
	return `(String(${raw}?.value ?? ${raw} ?? "").replace(/^=.*/s, "") || "${fallback}")`;
}
