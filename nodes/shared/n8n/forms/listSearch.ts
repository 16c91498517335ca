import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { createAccountClient, type AccountClient } from '../http/accountClient';
import { toNodeError } from '../run/nodeErrors';

type ListEntry = { name: string; value: string };

/**
 * Fills the list of a field with the entries whose name or value contains the typed filter, sorted by name.
 *
 * @throws NodeApiError or NodeOperationError if the entries can't be read
 */
export async function searchEntries(
	context: ILoadOptionsFunctions,
	filter: string,
	read: (account: AccountClient) => Promise<ListEntry[]>,
): Promise<INodeListSearchResult> {
	const typed = filter.toLowerCase();
	try {
		const entries = await read(await createAccountClient(context));
		const results = entries
			.filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(typed))
			.sort((a, b) => a.name.localeCompare(b.name));
		return { results };
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}
