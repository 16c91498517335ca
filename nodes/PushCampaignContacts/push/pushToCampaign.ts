import { readerOf, type Reader } from '../../shared/api/resolution';
import { rowsChanged } from './begunPush';
import { BegunRows } from './begunRows';
import type { PreparedRows } from './prepareRows';
import { attemptSettings } from './attemptSettings';
import { PushProgress } from './progress';
import { PushedNumbers, requireRoom } from './pushedNumbers';
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
	const begun =
		options.pushedNumbers === undefined ? begunRowsOptions(options, progress) : undefined;
	const earlier =
		begun && (await BegunRows.open(begun, prepared, contactsPerRequest, source.yieldToEventLoop));
	if (earlier !== undefined) progress.addBegun(earlier, prepared.keys, settings);
	const { campaign, sentNumbers } = options;
	const pushedNumbers =
		options.pushedNumbers && new PushedNumbers(options.pushedNumbers, campaign.id, prepared.keys);
	if (pushedNumbers !== undefined) requireRoom(prepared.rows.size);
	const restored = await progress.restore(
		source,
		prepared,
		settings,
		pushedNumbers && (async (rows) => await pushedNumbers.findKnown(rows)),
	);
	const { rows: unsettled, outcome } = restored;
	const rows = sentNumbers?.leaveOut(unsettled, prepared, outcome) ?? unsettled;
	outcome.enqueue = campaign.enqueue;
	const queue =
		pushedNumbers === undefined
			? new AllRows(rows, reader, earlier)
			: new NewNumbersOnly(
					rows,
					pushedNumbers,
					reader,
					options.isAnotherPush,
					options.markExecution,
				);
	await new PushRunner(prepared, options, settings, progress, outcome, queue).push();
	// Another retry can have begun it at the same moment.
	if (options.isAnotherPush === true || earlier?.isAnotherPush === true) {
		distrustRejections(outcome, reader);
	}
	sentNumbers?.add(outcome, prepared);
	return outcome;
}

/** If another attempt pushed other rows, any row without a known effect may be in the campaign. */
function distrustRejections(outcome: PushOutcome, reader: Reader): void {
	const stopped = rowsChanged();
	const unknown = { status: 'unknown', reason: reasonOf(stopped, reader) } as const;
	outcome.rejectedRows.replace('rejected', unknown);
	outcome.rejectedRows.replace('do_not_disturb', unknown);
	if (outcome.rejectedRows.count('unknown') > 0) outcome.stopped ??= stopped;
}
