import { findAgents, requireAllAgents } from '../../shared/agents';
import type { ApiClient } from '../../shared/api/client';
import { getActiveAgents } from '../../shared/api/endpoints';
import { asSentence, explained } from '../../shared/api/errors';
import { readWholeList } from '../../shared/api/paging';
import type { ApiMapping } from '../../shared/apiMapping';
import { DND_LIST_KEEPS_CHANGING, dndList } from '../../shared/dnd/dndList';
import { ListedNumbers } from '../../shared/dnd/listedNumbers';
import { forEachWithPauses } from '../../shared/pauses';
import { counted } from '../../shared/values';
import type { PreparedRows } from './prepareRows';

type Account = { client: ApiClient; apiMapping: ApiMapping };
type Rows = Pick<PreparedRows, 'rows' | 'phones'>;

/** What the service would say about the agent and these rows, in sentences, as far as it can be read. Sends nothing. */
export async function checkAgent(
	account: Account,
	agentUuid: string,
	rows: Rows,
): Promise<string[]> {
	const unreadable = (what: string) => (error: unknown) =>
		`${what} couldn't be read: ${asSentence(explained(error).message)}`;
	return await Promise.all([
		activeText(account, agentUuid).catch(unreadable('The list of active agents')),
		skippedText(account, agentUuid, rows).catch(unreadable("The agent's do-not-disturb list")),
	]);
}

async function activeText({ client, apiMapping }: Account, agentUuid: string): Promise<string> {
	const { body } = await getActiveAgents(client);
	const agents = findAgents(body, apiMapping);
	if (agents.some(({ uuid }) => uuid === agentUuid)) return 'The agent is active.';
	requireAllAgents(body, agents);
	return "The agent isn't among the active agents of the account, so it may not call anybody.";
}

/** Nothing is known of the list if the credential doesn't describe it. */
async function skippedText(
	{ client, apiMapping }: Account,
	agentUuid: string,
	{ rows, phones }: Rows,
): Promise<string> {
	const names = ['dndListAgentName', 'dndListPageName'] as const;
	if (names.some((name) => apiMapping.optional(name) === undefined))
		return "The credential doesn't describe the agent's do-not-disturb list, so only a push checks it.";
	const list = dndList(client, { agentUuid, limit: Infinity }, apiMapping);
	const { entries } = await readWholeList(list, DND_LIST_KEEPS_CHANGING);
	const listed = new ListedNumbers(entries);
	let [skipped, unclear] = [0, 0];
	await forEachWithPauses(rows, (row) => {
		try {
			if (listed.entryOf(phones.at(row)) !== undefined) skipped++;
		} catch (error) {
			explained(error);
			unclear++;
		}
	});
	const more =
		unclear > 0 ? ` The list leaves it open for ${unclear.toLocaleString('en-US')} more.` : '';
	return `${skipped.toLocaleString('en-US')} of ${counted(rows.size, 'ready row')} will be skipped because of the agent's do-not-disturb list.${more}`;
}
