import { InvalidInput } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/modelAdvice';
import type { Fields } from '../shared/n8n/fields';
import type { OperationRun } from '../shared/n8n/operations';
import { runsAsTool } from '../shared/n8n/toolRun';
import { resolveColumns } from './feed/columns';
import type { FeedOutcome } from './feed/feed';
import { FedMemory } from './feed/fedMemory';
import { prepareFeed } from './feed/prepare';
import type { FeedRows } from './feed/rows';
import { FED_STORE, readFeedSettings } from './feedSettings';
import { exclusiveOnStore, openNodeStore } from '../shared/n8n/nodeStore';

type Forgotten = 'rows' | 'all';

/** What is to be forgotten, where nothing is to be pushed. */
export function readForget(form: Fields): Forgotten | undefined {
	const what = form.collection('options').choice('forgetFed', undefined);
	return what === undefined || what === 'all' ? what : 'rows';
}

/** Takes numbers out of the memory of *Skip Numbers Fed Before*; nothing is sent. */
export async function forgetFed(
	run: OperationRun,
	feed: FeedRows,
	what: Forgotten,
): Promise<FeedOutcome> {
	const { context } = run;
	if (runsAsTool(context)) {
		throw new InvalidInput(
			'What was fed before cannot be forgotten by a tool, so nothing was sent',
			onScreenOnly('Take Forget Numbers Fed Before out of Options of the tool.'),
		);
	}
	const { campaign, ...settings } = await readFeedSettings(run);
	if (settings.dryRun) {
		throw new InvalidInput(
			'Dry Run and Forget Numbers Fed Before are both in Options, so nothing was sent and nothing forgotten',
			onScreenOnly('Take one of them out of Options.'),
		);
	}
	const store = openNodeStore(context, FED_STORE);
	if (what === 'all') {
		await exclusiveOnStore(context, async () => await store.clear());
		return { received: feed.count, pushed: [], unsentRows: [], forgotten: 'all' };
	}
	const columns = resolveColumns(await feed.columns(), settings.columns);
	const options = { ...settings, removeDuplicates: true, forModel: false };
	const { rows, keys, unsentRows } = await prepareFeed(feed, columns, options);
	const memory = new FedMemory(store, campaign.id, keys);
	const forgotten = await exclusiveOnStore(context, async () => await memory.forget(rows));
	const unusable = unsentRows.filter(({ status }) => status === 'rejected');
	return { received: feed.count, pushed: [], unsentRows: unusable, forgotten };
}
