import { InvalidInput } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
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

type Scope = 'rows' | 'all';

/** *Forget Pushed Numbers*. Undefined if the option isn't set. */
export function readForget(form: Fields): Scope | undefined {
	const scope = form.collection('options').choice('forgetPushed', undefined);
	return scope === undefined || scope === 'all' ? scope : 'rows';
}

/** Removes numbers from the store of *Skip Numbers Pushed Before*. Sends nothing. */
export async function forgetPushedNumbers(
	run: OperationRun,
	source: RowSource,
	scope: Scope,
): Promise<PushOutcome> {
	const { context } = run;
	if (runsAsTool(context)) {
		throw new InvalidInput(
			"A tool can't forget pushed numbers, so nothing was sent",
			onScreenOnly("Remove 'Forget Pushed Numbers' from 'Options' of the tool."),
		);
	}
	const { campaign, ...settings } = await readPushSettings(run);
	if (settings.dryRun) {
		throw new InvalidInput(
			"'Dry Run' and 'Forget Pushed Numbers' are both set, so nothing was sent or forgotten",
			onScreenOnly("Remove one of them from 'Options'."),
		);
	}
	const store = openNodeStore(context, PUSHED_NUMBERS_STORE);
	if (scope === 'all') {
		await runExclusiveOnStore(context, async () => await store.clear());
		return { received: source.count, pushed: [], rejectedRows: [], forgotten: 'all' };
	}
	const columns = resolveColumns(await source.columns(), settings.columns);
	const options = { ...settings, removeDuplicates: true, isTool: false };
	const { rows, keys, rejectedRows } = await prepareRows(source, columns, options);
	const pushed = new PushedNumbers(store, campaign.id, keys);
	const forgotten = await runExclusiveOnStore(context, async () => await pushed.forget(rows));
	const unusable = rejectedRows.filter(({ status }) => status === 'rejected');
	return { received: source.count, pushed: [], rejectedRows: unusable, forgotten };
}
