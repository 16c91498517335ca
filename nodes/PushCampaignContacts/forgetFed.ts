import { InvalidInput } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/modelAdvice';
import type { Fields } from '../shared/n8n/fields';
import type { OperationRun } from '../shared/n8n/operations';
import { runsAsTool } from '../shared/n8n/toolRun';
import { resolveColumns } from './feed/columns';
import type { PushOutcome } from './feed/feed';
import { PushedNumbers } from './feed/fedMemory';
import { prepareRows } from './feed/prepare';
import type { RowSource } from './feed/rows';
import { PUSHED_NUMBERS_STORE, readPushSettings } from './feedSettings';
import { runExclusiveOnStore, openNodeStore } from '../shared/n8n/nodeStore';

type Forgotten = 'rows' | 'all';

/** What is to be forgotten, where nothing is to be pushed. */
export function readForget(form: Fields): Forgotten | undefined {
	const what = form.collection('options').choice('forgetFed', undefined);
	return what === undefined || what === 'all' ? what : 'rows';
}

/** Takes numbers out of the memory of *Skip Numbers Fed Before*; nothing is sent. */
export async function forgetPushedNumbers(
	run: OperationRun,
	feed: RowSource,
	what: Forgotten,
): Promise<PushOutcome> {
	const { context } = run;
	if (runsAsTool(context)) {
		throw new InvalidInput(
			'What was fed before cannot be forgotten by a tool, so nothing was sent',
			onScreenOnly('Take Forget Numbers Fed Before out of Options of the tool.'),
		);
	}
	const { campaign, ...settings } = await readPushSettings(run);
	if (settings.dryRun) {
		throw new InvalidInput(
			'Dry Run and Forget Numbers Fed Before are both in Options, so nothing was sent and nothing forgotten',
			onScreenOnly('Take one of them out of Options.'),
		);
	}
	const store = openNodeStore(context, PUSHED_NUMBERS_STORE);
	if (what === 'all') {
		await runExclusiveOnStore(context, async () => await store.clear());
		return { received: feed.count, pushed: [], rejectedRows: [], forgotten: 'all' };
	}
	const columns = resolveColumns(await feed.columns(), settings.columns);
	const options = { ...settings, removeDuplicates: true, isTool: false };
	const { rows, keys, rejectedRows } = await prepareRows(feed, columns, options);
	const memory = new PushedNumbers(store, campaign.id, keys);
	const forgotten = await runExclusiveOnStore(context, async () => await memory.forget(rows));
	const unusable = rejectedRows.filter(({ status }) => status === 'rejected');
	return { received: feed.count, pushed: [], rejectedRows: unusable, forgotten };
}
