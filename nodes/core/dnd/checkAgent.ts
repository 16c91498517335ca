import { activeAgent, readActiveAgents } from '../agents';
import { asSentence, explained } from '../service/errors';
import { readPages } from '../service/paging';
import type { Account } from '../profile/serviceProfile';
import { forEachWithPauses } from '../values/pauses';
import { counted } from '../values/values';
import { dndList, isListShown } from './dndList';
import { ListedNumbers } from './listedNumbers';

/** The numbers to call, and a word for what they belong to. */
type Numbers = { phones: Iterable<string>; what: string };

/**
 * What the service would say about an agent and the numbers to call, in sentences, as far as it can be read. Sends nothing.
 */
export async function checkAgent(
	account: Account,
	agentUuid: string,
	numbers: Numbers,
): Promise<string[]> {
	const unreadable = (what: string) => (error: unknown) =>
		`${what} couldn't be read: ${asSentence(explained(error).message)}`;
	return await Promise.all([
		activeText(account, agentUuid).catch(unreadable('The list of active agents')),
		skippedText(account, agentUuid, numbers).catch(unreadable("The agent's do-not-disturb list")),
	]);
}

async function activeText(account: Account, agentUuid: string): Promise<string> {
	return activeAgent(await readActiveAgents(account), agentUuid) === undefined
		? "The agent isn't among the active agents of the account, so it may not call anybody."
		: 'The agent is active.';
}

/** Nothing is known of the list if the credential doesn't describe it. */
async function skippedText(
	account: Account,
	agentUuid: string,
	{ phones, what }: Numbers,
): Promise<string> {
	if (!isListShown(account))
		return "The credential doesn't describe the agent's do-not-disturb list, so only the service checks it.";
	const list = dndList(account, { agentUuid, limit: Infinity });
	const listed = new ListedNumbers(await readPages(list, Infinity));
	let [all, skipped, unclear] = [0, 0, 0];
	await forEachWithPauses(phones, (phone) => {
		all++;
		try {
			if (listed.entryOf(phone) !== undefined) skipped++;
		} catch (error) {
			explained(error);
			unclear++;
		}
	});
	const more =
		unclear > 0 ? ` The list leaves it open for ${unclear.toLocaleString('en-US')} more.` : '';
	return `The agent's do-not-disturb list has ${skipped.toLocaleString('en-US')} of ${counted(all, what)}.${more}`;
}
