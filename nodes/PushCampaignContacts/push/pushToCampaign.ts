import { readerOf } from '../../shared/api/resolution';
import { BegunRows, rowsChanged } from './begunRows';
import type { PreparedRows } from './prepareRows';
import { attemptSettings } from './attemptSettings';
import { PushProgress } from './progress';
import { PushedNumbers } from './pushedNumbers';
import { begunRowsOptions, type PushOptions } from './pushOptions';
import { PushRunner } from './pushRunner';
import { reasonOf, type PushOutcome } from './pushTypes';
import { AllRows, NewNumbersOnly } from './rowQueue';
import type { RowSource } from './rows';

/**
 * Sends the prepared rows in requests of limited size, one after another. Stops at the first request that didn't certainly
 * succeed. The outcome reports what happened to a request, so this doesn't throw for it. Rows that `progress` has from
 * earlier attempts aren't sent again.
 */
export async function pushToCampaign(
	source: RowSource,
	prepared: PreparedRows,
	options: PushOptions,
	progress = new PushProgress(),
): Promise<PushOutcome> {
	const settings = attemptSettings(options);
	const reader = readerOf(settings.isTool);
	const { contactsPerRequest } = options;
	const begun = options.numberList === undefined ? begunRowsOptions(options, progress) : undefined;
	const earlier =
		begun && (await BegunRows.open(begun, prepared, contactsPerRequest, source.yieldToEventLoop));
	if (earlier !== undefined) progress.addBegun(earlier, prepared.keys, settings);
	const isAnotherPush = options.isAnotherPush === true || earlier?.isAnotherPush === true;
	const restored = await progress.restore(source, prepared, settings);
	const { rows: unsettled, outcome, isComplete } = restored;
	if (isAnotherPush) {
		const reason = reasonOf(rowsChanged(), reader);
		for (const status of ['rejected', 'do_not_disturb'] as const) {
			outcome.rejectedRows.replace(status, { status: 'unknown', reason });
		}
	}
	const { numberList, campaign, sentNumbers } = options;
	// If earlier requests had other rows, only the numbers show what they sent.
	const isOnce = settings.removeDuplicates || settings.isTool || !isComplete;
	const rows = isOnce
		? (sentNumbers?.leaveOut(unsettled, prepared, outcome) ?? unsettled)
		: unsettled;
	outcome.enqueue = campaign.enqueue;
	if (outcome.rejectedRows.count('unknown') > 0 && isAnotherPush) outcome.stopped ??= rowsChanged();
	const queue =
		numberList === undefined
			? new AllRows(rows, reader, earlier)
			: new NewNumbersOnly(
					rows,
					new PushedNumbers(numberList, prepared.keys),
					reader,
					isAnotherPush,
					options.markExecution,
				);
	await new PushRunner(prepared, options, settings, progress, outcome, queue).push();
	sentNumbers?.add(outcome, prepared);
	return outcome;
}
