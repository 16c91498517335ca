import sortBy from 'lodash/sortBy';
import type { ITriggerFunctions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { isTransient } from '../../shared/api/errors';
import { READS_AT_ONCE } from '../../shared/api/limits';
import { hasEnded, isWanted, outcomeKey } from '../../shared/calls/callEnd';
import { withPhoneKey } from '../../shared/calls/callRecord';
import { isUnknownCall, readCallRecord, readIncluded } from '../../shared/calls/readBack';
import { CallsMayBeMissing, readAllCalls, readCalls } from '../../shared/calls/readCallList';
import { BoundedMap } from '../../shared/boundedMap';
import { pause, settledOrTimeout } from '../../shared/clock';
import { fingerprint, fingerprint64 } from '../../shared/hash';
import type { JsonObject } from '../../shared/json';
import type { Limiter } from '../../shared/keyedMutex';
import {
	clock,
	createAccountClient,
	type AccountClient,
} from '../../shared/n8n/http/accountClient';
import { asItems } from '../../shared/n8n/run/itemLoop';
import { toNodeError } from '../../shared/n8n/run/nodeErrors';
import { CLOSING_MS, triggerKey } from '../../shared/n8n/triggers/activeTriggers';
import { type StartListener, TriggerStarter } from '../../shared/n8n/triggers/executionStarter';
import { contentOf, createdAtOf, ListedCall } from './listedCall';
import { ListFinder, listIdOf, queryOf, type ListToRead } from './listsToRead';
import { MAX_OUTCOMES, ReadState } from './readState';
import {
	callsNotRead,
	noCallId,
	notStarted,
	PUBLISH_LATER,
	readingFailed,
	requiredForReading,
	tooManyOutcomes,
} from './readingNotices';
import type { CompletionSettings, ReadingSettings } from '../settings';

/** Publishing the workflow waits this long for the first reading. Then the reading continues. */
const FIRST_READING_MS = 60_000;

/** While a reading starts many executions, the state is stored at these intervals, and with the last one. */
const SAVE_EVERY_MS = 10_000;

/** A state with at most this many outcomes is stored with each execution that the webhook starts. */
const SMALL_STATE = 10_000;

/** Entries of a list to handle before other work of n8n may continue. */
const ENTRIES_PER_YIELD = 1_000;

const MAX_FAILED_CALLS = 10_000;

/** Activations after which the state in n8n's database is the newest one, because another process may have changed it. */
const RESTARTS = ['init', 'leadershipChange'];

/** By trigger: the state of this process. n8n stores it only with an execution, so a published change would lose a part. */
const states = new Map<string, ReadState>();

/** The trigger was closed during a reading. */
class Closed extends Error {}

type Start = { listId: string; fingerprint: bigint; key: string; item: JsonObject };

/** What a reading found out about one list. */
type ListReading = { list: ListToRead; calls: ListedCall[]; isWhole: boolean };

/** Starts the workflow for completed calls by reading the call list at intervals. */
export class CallReader {
	private readonly closing = new AbortController();
	private readonly starter: TriggerStarter;
	private readonly lists: ListFinder;
	/** Messages that the owner got since the last reading without failures. */
	private readonly reported = new Set<string>();
	/** The last start of a reading, which stores the state. */
	private held: Start | undefined;
	private savedAt = -Infinity;
	private running: Promise<unknown> = Promise.resolve();
	/** Outcomes that n8n couldn't start, until they're reported. */
	private readonly failedStarts: unknown[] = [];
	/** Calls whose records couldn't be read. */
	private readonly failedCalls = new BoundedMap<true>(MAX_FAILED_CALLS);
	private readonly hasFailed = ({ callId }: ListedCall) => this.failedCalls.has(callId);
	private readonly parallel = pLimit(READS_AT_ONCE);

	private constructor(
		private readonly context: ITriggerFunctions,
		private readonly settings: CompletionSettings,
		private readonly reading: ReadingSettings,
		private readonly state: ReadState,
		/** Whether the workflow was published before, but its first reading isn't stored. */
		private readonly isLate: boolean,
	) {
		this.starter = new TriggerStarter(context);
		this.lists = new ListFinder(reading.source, state);
	}

	/**
	 * Runs in `trigger()`. n8n stores the state when `trigger()` returns, and later only with an execution.
	 *
	 * @throws NodeOperationError if the API mapping lacks a field, or the calls can't be read for the first time
	 */
	static async open(
		context: ITriggerFunctions,
		settings: CompletionSettings,
		reading: ReadingSettings,
	): Promise<CallReader> {
		try {
			const { apiMapping, baseUrl } = await createAccountClient(context);
			apiMapping.require(requiredForReading(apiMapping));
			const subject = subjectOf(baseUrl, reading);
			const key = triggerKey(context);
			const kept = RESTARTS.includes(context.getActivationMode()) ? undefined : states.get(key);
			const stored = context.getWorkflowStaticData('global')[storageKey(context)];
			const now = clock.now();
			const restored = kept?.subject === subject ? kept : ReadState.restore(stored, subject, now);
			const state = restored ?? new ReadState(subject, now);
			const isLate = restored !== undefined && !restored.isBegun;
			const reader = new CallReader(context, settings, reading, state, isLate);
			await reader.begin();
			states.set(key, state);
			return reader;
		} catch (error) {
			throw toNodeError(context.getNode(), error);
		}
	}

	/** Ends the reading. Executions that were started keep running. */
	async close(): Promise<void> {
		this.closing.abort();
		await settledOrTimeout(clock, CLOSING_MS, this.running);
	}

	/** The webhook starts the workflow for an outcome, so a reading doesn't. */
	onWebhook(callId: string, record: JsonObject): StartListener {
		const listId = listIdOf(record, this.reading.source);
		const found = fingerprint64(outcomeKey(callId, record));
		this.state.addStarted(listId, found);
		return {
			beforeEmit: () => this.save(this.state.size <= SMALL_STATE),
			onEnd: (isStarted) => this.state.settle(listId, found, isStarted),
		};
	}

	/** The first reading only remembers the calls that had ended, so publishing waits for it. */
	private async begin(): Promise<void> {
		const { source } = this.reading;
		const isKnown =
			source.kind === 'lists'
				? source.listIds.every((id) => this.state.isKnown(id))
				: this.state.isBegun;
		const first = this.readAll();
		let failures: unknown[] | undefined;
		if (!isKnown && this.reading.from === undefined) {
			const done = first.then((all) => (failures = all));
			await settledOrTimeout(clock, FIRST_READING_MS, done);
			const [failure] = failures ?? [];
			if (failure !== undefined) throw toNodeError(this.context.getNode(), failure);
		}
		this.save(true);
		this.running = this.loop(first);
	}

	private async loop(first: Promise<unknown[]>): Promise<void> {
		const { signal } = this.closing;
		for (let reading = first; ; reading = this.readAll()) {
			this.report(await reading);
			if (!(await pause(clock, this.reading.everyMs, signal))) return;
		}
	}

	/** Reads all lists once. @returns why some calls couldn't be read */
	private async readAll(): Promise<unknown[]> {
		const failures: unknown[] = [];
		try {
			const account = await createAccountClient(this.context);
			const lists = await this.unlessClosed(async () => await this.lists.find(account.client));
			for (const list of lists) {
				try {
					failures.push(...(await this.readList(account, list)));
				} catch (error) {
					failures.push(error);
					if (isTransient(error)) break;
				}
				if (this.closing.signal.aborted) break;
			}
			if (failures.length === 0) this.lists.compareCounts();
		} catch (error) {
			failures.push(error);
		}
		if (failures.length === 0) this.state.isBegun = true;
		const last = this.held;
		this.held = undefined;
		await this.start(last, true);
		this.save(true);
		failures.push(...this.failedStarts.splice(0));
		return failures.filter((error) => !(error instanceof Closed));
	}

	private async readList(account: AccountClient, list: ListToRead): Promise<unknown[]> {
		const { state, reading } = this;
		const isNew = !state.isKnown(list.id);
		const isFirst = isNew && (reading.source.kind === 'lists' || !state.isBegun);
		const remembers = isFirst && reading.from === undefined;
		const listed = await this.callsOf(account, list, remembers);
		if (remembers) {
			await this.rememberEnded(account, listed);
			if (!this.isLate) return [];
		}
		state.openList(list.id, reading.from === undefined ? -Infinity : reading.from - 1);
		return await this.startNew(account, listed);
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
		const request = { query: queryOf(list.id), limiter: this.limiter };
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
		const isWhole = proven !== undefined;
		const calls = entries.flatMap((entry) => ListedCall.from(entry) ?? []);
		if (calls.length < entries.length) throw noCallId(entries.length - calls.length, apiMapping);
		const campaignId = calls.find((call) => call.campaignId !== undefined)?.campaignId;
		if (campaignId !== undefined) this.lists.noteCampaign(list.id, campaignId);
		this.lists.noteCount(list.id, calls.length);
		return { list, calls, isWhole };
	}

	/** The first reading of a list. Calls that have ended never start the workflow. */
	private async rememberEnded(account: AccountClient, { list, calls }: ListReading): Promise<void> {
		const { finished } = this.settings;
		const ended: bigint[] = [];
		await this.each(calls, async (call) => {
			// If n8n restarted before the first reading was stored, calls may have been created and ended since.
			if (this.isLate && call.createdAt >= this.state.since) return;
			const listedKey = call.hasEnded(finished) ? call.outcomeKey : undefined;
			if (listedKey !== undefined) ended.push(fingerprint64(listedKey));
			if (listedKey !== undefined || (call.showsEnds && !call.hasEnded(finished))) return;
			const record = await this.recordOf(account, call.callId).catch(unlessUnknown);
			if (record !== undefined) ended.push(fingerprint64(outcomeKey(call.callId, record)));
		});
		this.requireRoom(ended.length);
		this.state.openList(list.id, -Infinity);
		for (const one of ended) this.state.addSeen(list.id, one);
	}

	/** Starts the workflow for the calls that ended since the last reading. @returns why some couldn't be read */
	private async startNew(account: AccountClient, listed: ListReading): Promise<unknown[]> {
		const { list, calls, isWhole } = listed;
		const { state, settings } = this;
		const open = state.openList(list.id, -Infinity);
		const failures: unknown[] = [];
		let inProgress = 0;
		const candidates: ListedCall[] = [];
		await this.each(calls, async (call) => {
			const key = call.outcomeKey;
			if (call.createdAt <= open.after) return;
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
		const content = contentOf(calls);
		const isSame = isWhole && open.content === content;
		if (isWhole) open.content = content;
		const latest = calls.reduce((max, { createdAt }) => Math.max(max, createdAt), open.after);
		const isIdle = inProgress === 0 && failures.length === 0 && !state.hasStarted(list.id);
		if (list.isCompleted && isSame && isIdle && Number.isFinite(latest)) {
			state.finish(list.id, { queues: list.queues, latest, count: calls.length });
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
		const { state, settings, starter } = this;
		const { callId, outcomeKey: listedKey } = call;
		if (listedKey !== undefined && call.hasEnded(settings.finished) && starter.isUsed(listedKey)) {
			state.addSeen(listId, fingerprint64(listedKey));
			return true;
		}
		const record = await this.recordOf(account, callId);
		if (record === undefined) return false;
		const key = outcomeKey(callId, record);
		const found = fingerprint64(key);
		if (state.isSeen(listId, found)) return true;
		const isTooOld = after !== -Infinity && !(createdAtOf(record) > after);
		if (isTooOld || starter.isUsed(key) || !isWanted(record, settings.filters)) {
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
		await this.hold({ listId, fingerprint: found, key, item });
		return true;
	}

	/** The record of a call that has ended. Undefined if it's in progress. */
	private async recordOf(
		{ client }: AccountClient,
		callId: string,
	): Promise<JsonObject | undefined> {
		const record = await this.limiter(async () => await readCallRecord(client, callId));
		return hasEnded(record, this.settings.finished) ? record : undefined;
	}

	/** Starts the execution that was held before, so that the last one of a reading is known. */
	private async hold(start: Start): Promise<void> {
		const before = this.held;
		this.held = start;
		await this.start(before, false);
	}

	/** Waits until n8n has the execution, so that the executions of a reading don't fill the memory. */
	private async start(start: Start | undefined, isLast: boolean): Promise<void> {
		if (start === undefined) return;
		const { listId, fingerprint: found, key, item } = start;
		await this.starter.start(asItems(item), key, {
			beforeEmit: () => this.save(isLast),
			onEnd: (isStarted) => {
				this.state.settle(listId, found, isStarted);
				if (!isStarted) this.failedStarts.push(notStarted(item));
			},
		});
	}

	/** Puts the state where n8n stores it with the next execution. */
	private save(isDue: boolean): void {
		const now = clock.elapsed();
		if (!isDue && now - this.savedAt < SAVE_EVERY_MS) return;
		this.savedAt = now;
		const data = this.context.getWorkflowStaticData('global');
		data[storageKey(this.context)] = this.state.toStored(clock.now());
	}

	/** Notifies the owner once of each kind of failure, until a reading has none. */
	private report(failures: readonly unknown[]): void {
		if (failures.length === 0) this.reported.clear();
		for (const failure of failures) {
			const error = readingFailed(failure);
			// Without its numbers, such as how many calls it's about.
			const kind = error.message.replaceAll(/\d/g, '');
			if (this.reported.has(kind)) continue;
			this.reported.add(kind);
			this.context.saveFailedExecution(toNodeError(this.context.getNode(), error));
		}
	}

	private requireRoom(count: number): void {
		if (this.state.size + count > MAX_OUTCOMES) throw tooManyOutcomes();
	}

	/** Runs for some calls at the same time. Ends with the first failure. */
	private async each(
		calls: readonly ListedCall[],
		run: (call: ListedCall) => Promise<void>,
	): Promise<void> {
		const queue = calls.entries();
		const failures: unknown[] = [];
		const work = async () => {
			for (const [index, call] of queue) {
				if (this.closing.signal.aborted) failures.push(new Closed());
				if (failures.length > 0) return;
				await run(call).catch((error: unknown) => failures.push(error));
				if (index % ENTRIES_PER_YIELD === ENTRIES_PER_YIELD - 1) await clock.sleep(0);
			}
		};
		await Promise.all(Array.from({ length: READS_AT_ONCE }, work));
		if (failures.length > 0) throw failures[0];
	}

	private readonly limiter: Limiter = async (run) =>
		await this.parallel(async () => await this.unlessClosed(run));

	private async unlessClosed<T>(run: () => Promise<T>): Promise<T> {
		if (this.closing.signal.aborted) throw new Closed();
		return await run();
	}
}

/** A call of the list that the service doesn't know hasn't ended. */
function unlessUnknown(error: unknown): undefined {
	if (!isUnknownCall(error)) throw error;
}

/** What is read. Another subject starts with an empty state. */
function subjectOf(baseUrl: string, { source, from }: ReadingSettings): string {
	const { kind } = source;
	const campaignId = kind === 'campaign' ? source.campaignId : null;
	return fingerprint([baseUrl, kind, campaignId, from ?? null]);
}

/** By node ID, so that a renamed node keeps its state. */
function storageKey(context: ITriggerFunctions): string {
	return `readCalls:${context.getNode().id}`;
}
