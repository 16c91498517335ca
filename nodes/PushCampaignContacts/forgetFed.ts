import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput } from '../shared/api/errors';
import type { NodeParameters } from '../shared/n8n/nodeParameters';
import { runsAsTool } from '../shared/n8n/toolRun';
import { isUnset } from '../shared/values';
import { resolveColumns } from './feed/columns';
import type { FeedOutcome } from './feed/feed';
import { FedMemory } from './feed/fedMemory';
import { prepareFeed } from './feed/prepare';
import type { FeedRows } from './feed/rows';
import { FED_STORE, readFeedSettings } from './feedSettings';
import { exclusiveOnStore, openNodeStore } from '../shared/n8n/nodeStore';

type Forgotten = 'rows' | 'all';

/** What is to be forgotten, where nothing is to be pushed. */
export function readForget(parameters: NodeParameters): Forgotten | undefined {
	const { forgetFed } = parameters.record('options', 0);
	if (isUnset(forgetFed)) return undefined;
	if (forgetFed === 'rows' || forgetFed === 'all') return forgetFed;
	throw new InvalidInput(
		'Forget Numbers Fed Before holds a value that it does not have, so nothing was sent',
		'Choose one of its values, or take it out of Options.',
	);
}

/** Takes numbers out of the memory of *Skip Numbers Fed Before*; nothing is sent. */
export async function forgetFed(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	feed: FeedRows,
	what: Forgotten,
): Promise<FeedOutcome> {
	if (runsAsTool(context)) {
		throw new InvalidInput(
			'What was fed before cannot be forgotten by a tool, so nothing was sent',
			'Take Forget Numbers Fed Before out of Options of the tool.',
		);
	}
	const { campaign, ...settings } = await readFeedSettings(context, parameters);
	if (settings.dryRun) {
		throw new InvalidInput(
			'Dry Run and Forget Numbers Fed Before are both in Options, so nothing was sent and nothing forgotten',
			'Take one of them out of Options.',
		);
	}
	const store = openNodeStore(context, FED_STORE);
	if (what === 'all') {
		await exclusiveOnStore(context, async () => await store.clear());
		return { received: feed.count, pushed: [], unsentRows: [], forgotten: 'all' };
	}
	const columns = resolveColumns(await feed.columns(), settings.columns);
	const options = { ...settings, removeDuplicates: true };
	const { rows, keys, unsentRows } = await prepareFeed(feed, columns, options);
	const memory = new FedMemory(store, campaign.id, keys);
	const forgotten = await exclusiveOnStore(context, async () => await memory.forget(rows));
	const unusable = unsentRows.filter(({ status }) => status === 'rejected');
	return { received: feed.count, pushed: [], unsentRows: unusable, forgotten };
}
