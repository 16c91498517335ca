import sortBy from 'lodash/sortBy';
import pLimit from 'p-limit';
import { READS_AT_ONCE } from '../../shared/api/limits';
import { BoundedMap } from '../../shared/boundedMap';
import { hasEnded, isWanted, type OutcomeKeys } from '../../shared/calls/callEnd';
import { withPhoneKey } from '../../shared/calls/callRecord';
import { isUnknownCall, readCallRecord, readIncluded } from '../../shared/calls/readBack';
import { CallsMayBeMissing, readAllCalls, readCalls } from '../../shared/calls/readCallList';
import { fingerprint64 } from '../../shared/hash';
import type { JsonObject } from '../../shared/json';
import type { Limiter } from '../../shared/keyedMutex';
import { clock, type AccountClient } from '../../shared/n8n/http/accountClient';
import { compactEntry, createdAtOf, ListContent, ListedCall } from './listedCall';
import { queryOf, type ListFinder, type ListToRead } from './listsToRead';
import {
	callsNotRead,
	type EntriesSkipped,
	entriesSkipped,
	noCallId,
	PUBLISH_LATER,
	tooManyOutcomes,
} from './readingNotices';
import type { ReadingStarts } from './readingStarts';
import { MAX_OUTCOMES, type ReadState } from './readState';
import type { CompletionSettings, ReadingSettings } from '../settings';

/** Entries of a list to handle before other work of n8n may continue. */
const ENTRIES_PER_YIELD = 500;

const MAX_FAILED_CALLS = 10_000;

/** The trigger was closed during a reading. */
export class Closed extends Error {}

/** What a reading found out about one list. */
type ListReading = {
	list: ListToRead;
	calls: ListedCall[];
	/** Entries without a usable `call_id`. */
	skipped: number;
	isWhole: boolean;
};

export type ListReaderDeps = {
	settings: CompletionSettings;
	reading: ReadingSettings;
	state: ReadState;
	lists: ListFinder;
	keys: OutcomeKeys;
	starts: ReadingStarts;
	/** Aborts when the trigger is closed. */
	closing: AbortSignal;
};

/** Reads one list of calls, and starts the workflow for those that ended since the last reading. */
export class ListReader {
	/** Calls whose records couldn't be read. */
	private readonly failedCalls = new BoundedMap<true>(MAX_FAILED_CALLS);
	private readonly hasFailed = ({ callId }: ListedCall) => this.failedCalls.has(callId);
	private readonly parallel = pLimit(READS_AT_ONCE);

	constructor(private readonly deps: ListReaderDeps) {}

	/** @returns why some calls couldn't be read */
	async read(account: AccountClient, list: ListToRead): Promise<unknown[]> {
		const { state, reading } = this.deps;
		const isNew = !state.isKnown(list.id);
		const isFirst = isNew && (reading.source.kind === 'lists' || !state.isBegun);
		const remembers = isFirst && reading.from === undefined;
		const listed = await this.callsOf(account, list, remembers);
		if (remembers) {
			await this.rememberEnded(account, listed);
			if (state.since === undefined) return skippedEntries(listed);
		}
		state.openList(list.id, reading.from === undefined ? -Infinity : reading.from - 1);
		return [...skippedEntries(listed), ...(await this.startNew(account, listed))];
	}

	/**
	 * A list must be whole for the first reading, and to be finished. In other cases, the next reading finds what this one
	 * missed.
	 */
	private async callsOf(
		{ client, apiMapping }: AccountClient,
		list: ListToRead,
		isFirst: boolean,
	): Promise<ListReading> {
		const { limiter } = this;
		const request = { query: queryOf(list.id), limiter, compact: compactEntry };
		const needsProof = isFirst || list.isCompleted;
		const proven = needsProof
			? await readAllCalls(client, { ...request, ifChanging: PUBLISH_LATER }, apiMapping).catch(
					(error: unknown) => {
						if (isFirst || !(error instanceof CallsMayBeMissing)) throw error;
						return undefined;
					},
				)
			: undefined;
		const entries =
			proven ?? (await readCalls(client, { ...request, limit: Infinity }, apiMapping)).calls;
		const calls = entries.flatMap((entry) => ListedCall.from(entry) ?? []);
		const skipped = entries.length - calls.length;
		if (skipped > 0 && calls.length === 0) throw noCallId(skipped, apiMapping);
		const campaignId = calls.find((call) => call.campaignId !== undefined)?.campaignId;
		const { lists } = this.deps;
		if (campaignId !== undefined) lists.noteCampaign(list.id, campaignId);
		lists.noteCount(list.id, calls.length);
		return { list, calls, skipped, isWhole: proven !== undefined && skipped === 0 };
	}

	/** The first reading of a list. Calls that have ended never start the workflow. */
	private async rememberEnded(account: AccountClient, { list, calls }: ListReading): Promise<void> {
		const { state, settings, keys } = this.deps;
		const { finished } = settings;
		const ended: bigint[] = [];
		await this.each(calls, async (call) => {
			if (state.since !== undefined && call.createdAt >= state.since) return;
			const listedKey = call.hasEnded(finished) ? call.outcomeKey(keys) : undefined;
			if (listedKey !== undefined) ended.push(fingerprint64(listedKey));
			if (listedKey !== undefined || (call.showsEnds && !call.hasEnded(finished))) return;
			const record = await this.recordOf(account, call.callId).catch(unlessUnknown);
			if (record !== undefined) ended.push(fingerprint64(keys.keyOf(call.callId, record)));
		});
		this.requireRoom(ended.length);
		state.openList(list.id, -Infinity);
		for (const one of ended) state.addSeen(list.id, one);
	}

	/** Starts the workflow for the calls that ended since the last reading. @returns why some couldn't be read */
	private async startNew(account: AccountClient, listed: ListReading): Promise<unknown[]> {
		const { list, calls, isWhole } = listed;
		const { state, settings, lists, keys } = this.deps;
		const open = state.openList(list.id, -Infinity);
		const failures: unknown[] = [];
		let inProgress = 0;
		let latest = open.after;
		const content = new ListContent();
		const candidates: ListedCall[] = [];
		await this.each(calls, async (call) => {
			const { createdAt } = call;
			latest = Math.max(latest, createdAt);
			if (isWhole) content.add(call);
			if (createdAt <= open.after) return;
			const key = call.outcomeKey(keys);
			if (key !== undefined && state.isSeen(list.id, fingerprint64(key))) return;
			if (call.showsEnds && !call.hasEnded(settings.finished)) inProgress++;
			else candidates.push(call);
		});
		this.requireRoom(candidates.length);
		let failedInRow = 0;
		// Those that failed come last, so that they don't keep the others from starting.
		await this.each(sortBy(candidates, this.hasFailed), async (call) => {
			const onSuccess = (isEnded: boolean) => {
				if (!isEnded) inProgress++;
				failedInRow = 0;
				this.failedCalls.delete(call.callId);
			};
			const onFailure = (error: unknown) => {
				failures.push(error);
				this.failedCalls.set(call.callId, true);
				// The service fails, and the others would fail, too.
				if (!isUnknownCall(error) && ++failedInRow >= READS_AT_ONCE) throw error;
			};
			await this.startIfEnded(account, list.id, call, open.after).then(onSuccess, onFailure);
		});
		const isIdle = inProgress === 0 && failures.length === 0;
		if (isWhole && isIdle && Number.isFinite(latest)) {
			lists.noteEnded(list.id, { content: String(content), latest });
		}
		return failures.length === 0 ? [] : [callsNotRead(failures)];
	}

	/** @returns false if the call is in progress */
	private async startIfEnded(
		account: AccountClient,
		listId: string,
		call: ListedCall,
		after: number,
	): Promise<boolean> {
		const { state, settings, starts, keys } = this.deps;
		const { callId } = call;
		const listedKey = call.outcomeKey(keys);
		if (listedKey !== undefined && call.hasEnded(settings.finished) && starts.isUsed(listedKey)) {
			this.noteUsed(listId, listedKey);
			return true;
		}
		const record = await this.recordOf(account, callId);
		if (record === undefined) return false;
		const key = keys.keyOf(callId, record);
		const found = fingerprint64(key);
		if (state.isSeen(listId, found)) return true;
		const isTooOld = after !== -Infinity && !(createdAtOf(record) > after);
		if (starts.isUsed(key)) {
			this.noteUsed(listId, key);
			return true;
		}
		if (isTooOld || !isWanted(record, settings.filters)) {
			state.addSeen(listId, found);
			return true;
		}
		// Before anything else is awaited, because the list may have the call twice.
		state.addStarted(listId, found);
		const more = await this.limiter(
			async () => await readIncluded(account.client, callId, settings.included),
		).catch((error: unknown) => {
			state.settle(listId, found, false);
			throw error;
		});
		const item = withPhoneKey({ ...record, ...more });
		await starts.add({ listId, fingerprint: found, key, item });
		return true;
	}

	/** The webhook has used the key. If n8n couldn't start the execution, the next reading starts it. */
	private noteUsed(listId: string, key: string): void {
		const { state, starts } = this.deps;
		const found = fingerprint64(key);
		if (starts.isPending(key)) state.addStarted(listId, found);
		else state.addSeen(listId, found);
	}

	/** The record of a call that has ended. Undefined if it's in progress. */
	private async recordOf(
		{ client }: AccountClient,
		callId: string,
	): Promise<JsonObject | undefined> {
		const record = await this.limiter(async () => await readCallRecord(client, callId));
		return hasEnded(record, this.deps.settings.finished) ? record : undefined;
	}

	private requireRoom(count: number): void {
		if (this.deps.state.size + count > MAX_OUTCOMES) throw tooManyOutcomes();
	}

	/** Runs for some calls at the same time. Ends with the first failure. */
	private async each(
		calls: readonly ListedCall[],
		run: (call: ListedCall) => Promise<void>,
	): Promise<void> {
		const queue = calls.entries();
		const failures: unknown[] = [];
		let yielding: Promise<void> | undefined;
		const work = async () => {
			for (const [index, call] of queue) {
				if (this.deps.closing.aborted) failures.push(new Closed());
				if (failures.length > 0) return;
				await run(call).catch((error: unknown) => failures.push(error));
				if (index % ENTRIES_PER_YIELD === ENTRIES_PER_YIELD - 1) yielding = clock.sleep(0);
				// All wait, because the others would continue without the event loop.
				await yielding;
			}
		};
		await Promise.all(Array.from({ length: READS_AT_ONCE }, work));
		if (failures.length > 0) throw failures[0];
	}

	private readonly limiter: Limiter = async (run) =>
		await this.parallel(async () => {
			if (this.deps.closing.aborted) throw new Closed();
			return await run();
		});
}

function skippedEntries({ skipped }: ListReading): EntriesSkipped[] {
	return skipped === 0 ? [] : [entriesSkipped(skipped)];
}

/** A call of the list that the service doesn't know hasn't ended. */
function unlessUnknown(error: unknown): undefined {
	if (!isUnknownCall(error)) throw error;
}
