import type { ITriggerFunctions } from 'n8n-workflow';
import { type ExplainedError, isTransient } from '../../shared/api/errors';
import type { OutcomeKeys } from '../../shared/calls/callEnd';
import { pause, settledOrTimeout } from '../../shared/clock';
import { fingerprint, fingerprint64 } from '../../shared/hash';
import type { JsonObject } from '../../shared/json';
import { clock, createAccountClient } from '../../shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../shared/n8n/http/credential';
import { toNodeError } from '../../shared/n8n/run/nodeErrors';
import { CLOSING_MS, triggerKey } from '../../shared/n8n/triggers/activeTriggers';
import { type StartListener, TriggerStarter } from '../../shared/n8n/triggers/executionStarter';
import { Closed, ListReader } from './listReader';
import { ListFinder, listIdOf } from './listsToRead';
import { EntriesSkipped, readingFailed, requiredForReading } from './readingNotices';
import { ReadingStarts } from './readingStarts';
import { ReadState } from './readState';
import { outcomeKeysOf } from '../outcomeKeys';
import type { CompletionSettings, ReadingSettings } from '../settings';

/** Publishing the workflow waits this long for the first reading. Then the reading continues. */
const FIRST_READING_MS = 60_000;

/** After a reading that takes longer than the time between two readings. */
const MIN_PAUSE_MS = 5_000;

/** While a reading starts many executions, the state is stored at these intervals, and with the last one. */
const SAVE_EVERY_MS = 10_000;

/** A state with at most this many outcomes is stored with each execution that the webhook starts. */
const SMALL_STATE = 10_000;

/** Activations after which the state in n8n's database is the newest one, because another process may have changed it. */
const RESTARTS = ['init', 'leadershipChange'];

/** By trigger: the state of this process. n8n stores it only with an execution, so a published change would lose a part. */
const states = new Map<string, ReadState>();

/** Starts the workflow for completed calls by reading the call list at intervals. */
export class CallReader {
	private readonly closing = new AbortController();
	private readonly lists: ListFinder;
	private readonly starts: ReadingStarts;
	private readonly keys: OutcomeKeys;
	private readonly listReader: ListReader;
	/** Kinds of failures that the owner knows. */
	private readonly reported = new Set<string>();
	private savedAt = -Infinity;
	private running: Promise<unknown> = Promise.resolve();

	private constructor(
		private readonly context: ITriggerFunctions,
		settings: CompletionSettings,
		private readonly reading: ReadingSettings,
		private readonly state: ReadState,
	) {
		const lists = new ListFinder(reading.source, state);
		const save = (isDue: boolean) => this.save(isDue);
		const starts = new ReadingStarts(new TriggerStarter(context), state, save);
		const closing = this.closing.signal;
		this.lists = lists;
		this.starts = starts;
		const keys = (this.keys = outcomeKeysOf(context));
		this.listReader = new ListReader({ settings, reading, state, lists, keys, starts, closing });
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
		const data = context.getWorkflowStaticData('global');
		const stored = data[storageKey(context)];
		try {
			const { apiMapping, baseUrl } = await createAccountClient(context);
			apiMapping.require(requiredForReading(apiMapping));
			const subject = subjectOf(context, baseUrl, reading);
			const key = triggerKey(context);
			const kept = RESTARTS.includes(context.getActivationMode()) ? undefined : states.get(key);
			const restored =
				kept?.subject === subject ? kept : ReadState.restore(stored, subject, clock.now());
			const state = restored ?? new ReadState(subject);
			const reader = new CallReader(context, settings, reading, state);
			await reader.begin();
			states.set(key, state);
			return reader;
		} catch (error) {
			// n8n stores static data even if publishing fails.
			data[storageKey(context)] = stored;
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
		const found = fingerprint64(this.keys.keyOf(callId, record));
		this.state.addStarted(listId, found);
		return {
			beforeEmit: () => this.save(this.state.size <= SMALL_STATE),
			onEnd: (isStarted) => this.state.settle(listId, found, isStarted),
		};
	}

	/** The first reading only remembers the calls that had ended, so publishing waits for it. */
	private async begin(): Promise<void> {
		const { state } = this;
		const { source } = this.reading;
		const isKnown =
			source.kind === 'lists' ? source.listIds.every((id) => state.isKnown(id)) : state.isBegun;
		if (!isKnown && state.isBegun) state.beginAgain();
		const first = this.readAll();
		let failures: unknown[] | undefined;
		if (!isKnown && this.reading.from === undefined) {
			const done = first.then((all) => (failures = all));
			await settledOrTimeout(clock, FIRST_READING_MS, done);
			const failure = failures?.find((one) => !(one instanceof EntriesSkipped));
			if (failure !== undefined) throw toNodeError(this.context.getNode(), failure);
		}
		state.since ??= clock.now();
		this.save(true);
		this.running = this.loop(first);
	}

	private async loop(first: Promise<unknown[]>): Promise<void> {
		const { signal } = this.closing;
		for (let reading = first; ; reading = this.readAll()) {
			const next = clock.elapsed() + this.reading.everyMs;
			this.report(await reading);
			const rest = Math.max(MIN_PAUSE_MS, next - clock.elapsed());
			if (!(await pause(clock, rest, signal))) return;
		}
	}

	/** Reads all lists once. @returns why some calls couldn't be read, and which entries were skipped */
	private async readAll(): Promise<unknown[]> {
		const failures: unknown[] = [];
		try {
			const account = await createAccountClient(this.context);
			const lists = this.isClosed ? [] : await this.lists.find(account.client);
			for (const list of lists) {
				try {
					failures.push(...(await this.listReader.read(account, list)));
				} catch (error) {
					failures.push(error);
					if (isTransient(error)) break;
				}
				if (this.isClosed) break;
			}
			if (!this.isClosed) this.lists.finish(clock.elapsed());
		} catch (error) {
			failures.push(error);
		}
		if (hasSucceeded(failures) && !this.isClosed) this.state.isBegun = true;
		failures.push(...(await this.starts.end()));
		this.save(true);
		return failures.filter((error) => !(error instanceof Closed));
	}

	private get isClosed(): boolean {
		return this.closing.signal.aborted;
	}

	/** Puts the state where n8n stores it with the next execution. */
	private save(isDue: boolean): void {
		const now = clock.elapsed();
		if (!isDue && now - this.savedAt < SAVE_EVERY_MS) return;
		this.savedAt = now;
		const data = this.context.getWorkflowStaticData('global');
		data[storageKey(this.context)] = this.state.toStored(clock.now());
	}

	/** Notifies the owner once of each kind of failure, until a reading succeeds without it. */
	private report(failures: readonly unknown[]): void {
		const { reported } = this;
		const isFirst = !this.state.isBegun && this.reading.from === undefined;
		const errors = failures.map((failure) => readingFailed(failure, isFirst));
		const byKind = new Map(errors.map((error) => [kindOf(error), error]));
		if (hasSucceeded(failures)) {
			for (const kind of reported) if (!byKind.has(kind)) reported.delete(kind);
		}
		for (const [kind, error] of byKind) {
			if (reported.has(kind)) continue;
			reported.add(kind);
			this.context.saveFailedExecution(toNodeError(this.context.getNode(), error));
		}
	}
}

/** Whether a reading has read all calls that have an ID. */
function hasSucceeded(failures: readonly unknown[]): boolean {
	return failures.every((failure) => failure instanceof EntriesSkipped);
}

/** The message without its numbers, such as how many calls it's about. */
function kindOf({ message }: ExplainedError): string {
	return message.replaceAll(/\d/g, '');
}

/**
 * What is read. Another subject starts with an empty state. A campaign or contact list belongs to one account. With
 * another credential, all calls may be those of another account, and its earlier calls must not start the workflow.
 */
function subjectOf(
	context: ITriggerFunctions,
	baseUrl: string,
	{ source, from }: ReadingSettings,
): string {
	const { kind } = source;
	const campaignId = kind === 'campaign' ? source.campaignId : null;
	const isOfCredential = kind === 'all' && from === undefined;
	const credential = isOfCredential
		? (context.getNode().credentials?.[CREDENTIAL]?.id ?? null)
		: null;
	return fingerprint([baseUrl, kind, campaignId, from ?? null, credential]);
}

/** By node ID, so that a renamed node keeps its state. */
function storageKey(context: ITriggerFunctions): string {
	return `readCalls:${context.getNode().id}`;
}
