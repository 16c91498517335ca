import range from 'lodash/range';
import { explained, type ExplainedError, OutcomeUnknown } from '../../shared/api/errors';
import { readerOf, type Reader } from '../../shared/api/resolution';
import type { DeduplicationStore } from '../../shared/deduplicationStore';
import { shortFingerprint } from '../../shared/hash';
import { ChunkSender, type SendOptions } from './chunkSender';
import type { PreparedRows } from './prepareRows';
import { NumbersPushedBefore, requireRoom } from './numbersPushedBefore';
import { NOTED_EARLIER, type PushRecord, restoreChunk } from './pushRecord';
import { reasonOf, type PushOutcome, type RangeNotPushed, type RowStatus } from './outcome';
import type { RowSource } from './rows';
import { RowSet } from './rowSet';
import { optionsFingerprint, type NumbersOfExecution } from './numbersOfExecution';

/** `remove`: for a chunk that had no effect, so that a retry may send it. */
type Note = { state: 'new' | 'same' | 'unclear'; remove: () => Promise<void> };

export type PushOptions = SendOptions & {
	/** At most 10,000, the documented limit. */
	contactsPerRequest: number;
	/** What earlier attempts did. Changed in place. */
	record: PushRecord;
	/**
	 * Notes a chunk in n8n's database before it's sent.
	 *
	 * @param part the chunk, and how many requests of it are recorded. A retry notes only what isn't recorded.
	 * @param push identifies the rows of the push, and how they are split
	 * @returns whether an earlier attempt noted it, or another one in its place
	 */
	note?: ((part: [chunk: number, recorded: number], push: string) => Promise<Note>) | undefined;
	/** Numbers that other runs of the node pushed in this execution. */
	numbersOfExecution?: NumbersOfExecution | undefined;
	/** For *Skip Numbers Pushed Before*: the numbers that earlier executions pushed. */
	numbersPushedBefore?: DeduplicationStore | undefined;
};

/** Rows with these statuses are certainly not in the campaign. */
const WITHOUT_EFFECT = new Set<RowStatus>(['rejected', 'do_not_disturb']);

/**
 * Sends the prepared rows in chunks, one after another, usually one request each. Stops at the first request that didn't
 * certainly succeed. What an earlier attempt sent, or may have sent, isn't sent again. The outcome reports what happened
 * to each row, so this doesn't throw for it.
 */
export async function pushToCampaign(
	source: RowSource,
	prepared: PreparedRows,
	options: PushOptions,
): Promise<PushOutcome> {
	const { campaign, contactsPerRequest, record, isTool, note, numbersOfExecution } = options;
	const { rows, phones, notPushed } = prepared;
	const { keyAt, keyNumberAt } = phones;
	const reader = readerOf(isTool);
	const outcome: PushOutcome = {
		received: source.count,
		pushed: [],
		notPushed,
		enqueue: campaign.enqueue,
	};
	const pushedBefore =
		options.numbersPushedBefore &&
		new NumbersPushedBefore(options.numbersPushedBefore, campaign.id, keyAt, isTool);
	if (pushedBefore !== undefined) requireRoom(rows.size);
	const sender = new ChunkSender(prepared, options, outcome);
	const push = await fingerprintOf(prepared, options);

	// Each list of contacts from a model is another push.
	const isChanged = !isTool && Object.keys(record).some((key) => !key.startsWith(push));
	let stopped = isChanged ? rowsChanged() : undefined;
	// If the rows of an earlier attempt aren't these, any row may have been sent.
	let areOthersUnknown = isChanged;
	// A push without rows is noted, too, so that a retry in which it has rows is recognized.
	const chunks = rows.size === 0 ? [[]] : rows.lists(contactsPerRequest);
	let index = -1;
	for (const all of chunks) {
		const key = `${push} ${++index}`;
		const records = record[key] ?? [];
		// What earlier attempts recorded.
		let open = restoreChunk(records, all, keyAt, outcome, reader);
		if (open.length === 0 && all.length > 0) continue;
		// What other runs of the node pushed in this execution.
		if (!areOthersUnknown)
			open = numbersOfExecution?.leaveOut(open, keyNumberAt, notPushed) ?? open;
		try {
			if (stopped === undefined) {
				const noted = await note?.([index, records.length], push);
				if (noted?.state === 'unclear' && all.length > 0) throw rowsChanged();
				if (noted?.state === 'same') {
					// An earlier attempt may have sent it, but recorded nothing.
					notPushed.addAll(RowSet.of(open), 'unknown', NOTED_EARLIER[reader]);
					continue;
				}
				// What earlier executions pushed.
				open = (await pushedBefore?.reserve(open, notPushed)) ?? open;
				if (open.length === 0) continue;
				record[key] = records;
				const recorded = records.length;
				const before = notPushed.added.length;
				({ stopped, rest: open } = await sender.send(open, all, records));
				if (records.length === 0) Reflect.deleteProperty(record, key);
				if (records.length === recorded) await noted?.remove();
				await pushedBefore?.release([...withoutEffect(notPushed.added.slice(before)), ...open]);
			}
		} catch (error) {
			stopped = explained(error);
			areOthersUnknown = stopped.outcome === 'unknown';
		}
		if (stopped === undefined) continue;
		if (areOthersUnknown) notPushed.addAll(RowSet.of(open), 'unknown', reasonOf(stopped, reader));
		else notPushed.addAll(RowSet.of(open), 'not_sent', whyNotSent(stopped, reader));
	}
	if (stopped !== undefined) outcome.stopped ??= stopped;
	const areRemembered = numbersOfExecution?.add(outcome, keyNumberAt) === true;
	// A model may send the contacts again that the service didn't take. The others are known by their numbers.
	const hasOthers = [...WITHOUT_EFFECT].some((status) => notPushed.count(status) > 0);
	if (isTool && stopped === undefined && areRemembered && hasOthers) {
		for (const key of Object.keys(record))
			if (key.startsWith(push)) Reflect.deleteProperty(record, key);
	}
	return outcome;
}

/** Identifies the rows of a push, and how they are split. For a model, also what else is sent. */
async function fingerprintOf(
	{ rows, phones }: PreparedRows,
	{ campaign, additions, contactsPerRequest, isTool }: PushOptions,
): Promise<string> {
	const numbers = await phones.fingerprintOf(rows);
	const options = isTool ? optionsFingerprint(campaign, additions) : '';
	return shortFingerprint([`${campaign.id} ${contactsPerRequest}`, numbers, options], 16);
}

function withoutEffect(results: readonly RangeNotPushed[]): number[] {
	const ranges = results.filter(({ status }) => WITHOUT_EFFECT.has(status));
	return ranges.flatMap(({ first, last }) => range(first, last + 1));
}

/** The reason of a row that the push didn't reach. */
function whyNotSent(stopped: ExplainedError, reader: Reader): string {
	return stopped.outcome === 'unknown'
		? `The push stopped at an earlier request, before it reached this row: ${stopped.message}. You can push this row again.`
		: reasonOf(stopped, reader);
}

/** No row is sent, because any of them may be in the campaign. */
function rowsChanged(): ExplainedError {
	return new OutcomeUnknown(
		"The rows or the options changed since an earlier attempt of this execution, so the node can't know which rows it pushed",
		{
			onScreen:
				"No row was sent again. Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists). Then push the missing rows in a new execution.",
			forModel: 'No row was sent again.',
		},
		{ origin: 'n8n' },
	);
}
