import { InvalidInput } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/modelAdvice';
import type { Fields } from '../shared/n8n/forms/fields';
import type { OperationRun } from '../shared/n8n/run/operations';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { resolveColumns } from './push/columns';
import type { PushOutcome } from './push/pushTypes';
import { PushedNumbers } from './push/pushedNumbers';
import { prepareRows } from './push/prepareRows';
import type { RowSource } from './push/rows';
import { PUSHED_NUMBERS_STORE, readPushSettings } from './pushSettings';
import { runExclusiveOnStore, openNodeStore } from '../shared/n8n/idempotency/nodeStore';

type Forgotten = 'rows' | 'all';

/** What is to be forgotten, where nothing is to be pushed. */
export function readForget(form: Fields): Forgotten | undefined {
	const what = form.collection('options').choice('forgetPushed', undefined);
	return what === undefined || what === 'all' ? what : 'rows';
}

/** Takes numbers out of the memory of *Skip Numbers Pushed Before*; nothing is sent. */
export async function forgetPushedNumbers(
	run: OperationRun,
	source: RowSource,
	what: Forgotten,
): Promise<PushOutcome> {
	const { context } = run;
	if (runsAsTool(context)) {
		throw new InvalidInput(
			'What was pushed before cannot be forgotten by a tool, so nothing was sent',
			onScreenOnly('Take Forget Pushed Numbers out of Options of the tool.'),
		);
	}
	const { campaign, ...settings } = await readPushSettings(run);
	if (settings.dryRun) {
		throw new InvalidInput(
			'Dry Run and Forget Pushed Numbers are both in Options, so nothing was sent and nothing forgotten',
			onScreenOnly('Take one of them out of Options.'),
		);
	}
	const store = openNodeStore(context, PUSHED_NUMBERS_STORE);
	if (what === 'all') {
		await runExclusiveOnStore(context, async () => await store.clear());
		return { received: source.count, pushed: [], rejectedRows: [], forgotten: 'all' };
	}
	const columns = resolveColumns(await source.columns(), settings.columns);
	const options = { ...settings, removeDuplicates: true, isTool: false };
	const { rows, keys, rejectedRows } = await prepareRows(source, columns, options);
	const memory = new PushedNumbers(store, campaign.id, keys);
	const forgotten = await runExclusiveOnStore(context, async () => await memory.forget(rows));
	const unusable = rejectedRows.filter(({ status }) => status === 'rejected');
	return { received: source.count, pushed: [], rejectedRows: unusable, forgotten };
}
