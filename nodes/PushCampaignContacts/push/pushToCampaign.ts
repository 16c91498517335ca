import { explained, type ExplainedError } from '../../shared/api/errors';
import { readerOf, type Reader } from '../../shared/api/resolution';
import { shortFingerprint } from '../../shared/hash';
import { ChunkSender, type SendDeps } from './chunkSender';
import { requireRoom } from './numbersPushedBefore';
import type { NumbersOfExecution } from './numbersOfExecution';
import { reasonOf, type PushOutcome } from './outcome';
import type { PreparedRows } from './prepareRows';
import { type PushRecord, restoreChunk, rowsChanged } from './pushRecord';
import type { RowSource } from './rows';
import { RowSet } from './rowSet';

/** What a push needs besides its rows. */
export type PushDeps = SendDeps & {
	/** At most 10,000, the documented limit. */
	contactsPerRequest: number;
	/** What earlier attempts did. Changed in place. */
	record: PushRecord;
	/** Numbers that other runs of the node pushed in this execution. */
	numbersOfExecution?: NumbersOfExecution | undefined;
};

/** Why the push stopped, and what that says about each row that it didn't reach. */
type Stop = { error: ExplainedError; status: 'unknown' | 'not_sent'; reason: string };

/**
 * Sends the prepared rows in chunks, one after another, usually one request each. Stops at the first request that didn't
 * certainly succeed. What an earlier attempt sent, or may have sent, isn't sent again. The outcome reports what happened
 * to each row, so this doesn't throw for it.
 */
export async function pushToCampaign(
	source: RowSource,
	prepared: PreparedRows,
	deps: PushDeps,
): Promise<PushOutcome> {
	const { campaign, contactsPerRequest, record, isTool, numbersOfExecution } = deps;
	const { rows, phones, notPushed } = prepared;
	const { keyAt, keyNumberAt } = phones;
	const reader = readerOf(isTool);
	const { enqueue } = campaign;
	const outcome: PushOutcome = { received: source.count, pushed: [], notPushed, enqueue };
	if (deps.numbersPushedBefore !== undefined) requireRoom(rows.size);
	if (isTool) numbersOfExecution?.requireRoom(rows.size);

	/** Identifies the rows, and how they are split. */
	const push = shortFingerprint(
		[`${campaign.id} ${contactsPerRequest}`, await phones.fingerprintOf(rows)],
		16,
	);
	const sender = new ChunkSender(push, prepared, deps, outcome);
	const isChanged = Object.keys(record).some((key) => !key.startsWith(push));
	let stop = isChanged ? allUnknown(rowsChanged(), reader) : undefined;
	// A push without rows is noted, too, so that a retry in which it has rows is recognized.
	const chunks = rows.size === 0 ? [[]] : rows.lists(contactsPerRequest);
	let index = -1;
	for (const [all, next] of withNext(chunks)) {
		const key = `${push} ${++index}`;
		const records = record[key] ?? [];
		// What earlier attempts recorded.
		let rest = restoreChunk(records, all, keyAt, outcome, reader);
		if (rest.length === 0 && all.length > 0) continue;
		if (stop?.status !== 'unknown') {
			rest = numbersOfExecution?.leaveOut(rest, keyNumberAt, notPushed) ?? rest;
		}
		if (stop === undefined) {
			record[key] = records;
			try {
				const sent = await sender.send({ index, rows: all, next, records }, rest);
				({ rest } = sent);
				stop = sent.stopped && othersNotSent(sent.stopped, reader);
			} catch (error) {
				const known = explained(error);
				stop = (known.outcome === 'unknown' ? allUnknown : othersNotSent)(known, reader);
			} finally {
				if (records.length === 0) Reflect.deleteProperty(record, key);
			}
		}
		if (stop !== undefined) notPushed.addAll(RowSet.of(rest), stop.status, stop.reason);
	}
	if (stop !== undefined) outcome.stopped ??= stop.error;
	numbersOfExecution?.add(outcome, keyNumberAt);
	return outcome;
}

/** Which rows an earlier attempt pushed isn't known, so any row may be in the campaign. */
function allUnknown(error: ExplainedError, reader: Reader): Stop {
	return { error, status: 'unknown', reason: reasonOf(error, reader) };
}

/** The push didn't reach the other rows. */
function othersNotSent(error: ExplainedError, reader: Reader): Stop {
	const reason =
		error.outcome === 'unknown'
			? `The push stopped at an earlier request, before it reached this row: ${error.message}. You can push this row again.`
			: reasonOf(error, reader);
	return { error, status: 'not_sent', reason };
}

/** Each element, and the one after it. */
function* withNext<T>(list: Iterable<T>): Generator<[T, T | undefined]> {
	let current: T | undefined;
	for (const next of list) {
		if (current !== undefined) yield [current, next];
		current = next;
	}
	if (current !== undefined) yield [current, undefined];
}
