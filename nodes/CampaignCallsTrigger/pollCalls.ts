import chunk from 'lodash/chunk';
import omit from 'lodash/omit';
import orderBy from 'lodash/orderBy';
import partition from 'lodash/partition';
import pick from 'lodash/pick';
import shuffle from 'lodash/shuffle';
import sumBy from 'lodash/sumBy';
import pLimit from 'p-limit';
import type { IPollFunctions } from 'n8n-workflow';
import { explained, isTransient, OutcomeUnknown } from '../core/service/errors';
import { READS_AT_ONCE } from '../core/service/limits';
import { hasEnded, isBehind, isWanted, outcomeKey, showsEnd } from '../core/calls/callEnd';
import { flatCallRecord } from '../core/calls/callRecord';
import { isUnknownCall, readCallRecord, readIncluded } from '../core/calls/readCall';
import { requireWholeList } from '../core/calls/callList';
import { whenAborted } from '../core/values/clock';
import { fingerprint, fingerprint64 } from '../core/values/hash';
import type { JsonObject } from '../core/values/json';
import { type AccountClient, createAccountClient } from '../host/http/accountClient';
import { clock } from '../host/clock';
import type { Limiter } from '../core/values/keyedMutex';
import { CREDENTIAL } from '../host/http/credential';
import { PollMemory } from '../host/triggers/pollMemory';
import type { PollTime } from '../host/triggers/pollTime';
import {
	ALL_CALLS,
	createdAtOf,
	type ListedCall,
	listsToRead,
	type ListToRead,
	readList,
} from './listedCalls';
import { type PollSettings, readPollSettings } from './pollSettings';
import { testCall } from './testCall';
import { type PollState, restoreState, type Scope, storedState } from './pollState';
import { onScreenOnly } from '../core/service/resolution';
import { quoted } from '../core/values/values';

/** Calls whose records one poll reads. The next poll continues. */
export const POLL_LIMITS = { calls: 1_000 };

const WEEK_MS = 7 * 24 * 3_600_000;

/** A completed contact list is read again after this time, because it may get calls, such as a redial. */
const REREAD_AFTER_MS = 3_600_000;

/** The share of the time of a poll for the lists. The rest is for the records of their calls. */
const TIME_FOR_LISTS = 0.7;

/** Records that can't be read until a poll stops. */
const MAX_FAILURES = 5;

/** Calls that are read together. Where a poll ends, the next one continues with the same ones. */
const CALLS_TOGETHER = 50;

/** The calls that were completed since the last poll. */
export async function pollCalls(context: IPollFunctions, time: PollTime): Promise<JsonObject[]> {
	const settings = readPollSettings(context);
	const account = await createAccountClient(context);
	requireWholeList(account);
	if (context.getMode() === 'manual') return [await testCall(context, account, settings)];

	const scope = scopeOf(context, account, settings);
	const memory = new PollMemory(context, 'polled', pick(scope, 'subject', 'start'));
	return await memory.exclusively(async () => {
		const state = restoreState(memory.state, scope);
		const poll = new Poll(account, settings, state, time);
		await poll.run();
		const hasEvents = poll.completed.size > 0;
		memory.store(storedState({ ...state, hasBegun: true }, scope), hasEvents);
		const [failure] = poll.failures;
		if (!hasEvents && failure !== undefined) throw readFailed(failure);
		return orderBy([...poll.completed.values()], createdAtOf);
	});
}

type Failure = { what: string; advice: string; error: unknown };

/** One reading of the lists. Adds what it has read to the state. */
class Poll {
	/** Completed calls that start the workflow, by outcome. */
	readonly completed = new Map<bigint, JsonObject>();

	/** What couldn't be read. The next poll reads it again. */
	readonly failures: Failure[] = [];

	/** Calls of the lists that may have ended. */
	private readonly candidates: ListedCall[] = [];

	/** For each list, marks it as ended if all its calls have. */
	private readonly endLists: Array<(ended: ReadonlySet<ListedCall>) => void> = [];

	/** Calls that ended before the first reading never start the workflow. */
	private readonly onlyRemembers: boolean;

	private readonly startedAt = clock.now();
	private readonly timeForLists: AbortSignal;
	private listsBegun = 0;

	constructor(
		private readonly account: AccountClient,
		private readonly settings: PollSettings,
		private readonly state: PollState,
		private readonly time: PollTime,
	) {
		const { start = -Infinity } = settings;
		// The first check decides when the last 7 days began.
		if (state.from === -Infinity)
			state.from = start === 'last7Days' ? this.startedAt - WEEK_MS : start;
		this.onlyRemembers = !state.hasBegun && state.from === -Infinity;
		this.timeForLists = time.share(TIME_FOR_LISTS);
	}

	async run(): Promise<void> {
		const { account, settings, state } = this;
		const reading = listsToRead(account.client, settings.campaignId);
		const { lists, attempts } = await this.time.within(this.timeForLists, reading);
		const [due, others] = partition(lists, (list) => this.isDue(list));
		await this.readLists(due);
		// The campaign has calls that no list showed before, such as a redial of a completed list.
		if (attempts - this.listedCalls(lists) > state.unlistedAttempts) await this.readLists(others);
		// A list that wasn't read is missing in the count.
		if (this.hasReadLists) state.unlistedAttempts = attempts - this.listedCalls(lists);
		await this.passOldest();
	}

	/** How many records or lists couldn't be read, and may be readable later. */
	private get transientFailures(): number {
		return this.failures.filter(({ error }) => isTransient(error)).length;
	}

	private get hasReadLists(): boolean {
		return this.failures.length === 0 && !this.timeForLists.aborted;
	}

	/** Whether the list may have new calls: as far as its queues show it, or because it wasn't read for long. */
	private isDue({ id, completedQueues }: ListToRead): boolean {
		const known = this.state.lists.get(id);
		if (known?.endedQueues === undefined || known.endedQueues !== completedQueues) return true;
		return Math.abs(this.startedAt - known.readAt) >= REREAD_AFTER_MS;
	}

	/** How many calls the lists had when they were read last. */
	private listedCalls(lists: readonly ListToRead[]): number {
		return sumBy(lists, ({ id }) => this.state.lists.get(id)?.calls ?? 0);
	}

	/**
	 * In any order, so that a slow list, or too many for one poll, leave out none for long. n8n keeps nothing of a poll that
	 * fails, or with its scheduler also of one without events, so no turn could be remembered.
	 *
	 * @throws OutcomeUnknown if there's no time for all lists of a first reading, because the next poll can't continue it
	 */
	private async readLists(lists: readonly ListToRead[]): Promise<void> {
		for (const list of shuffle(lists)) {
			if (!this.timeForLists.aborted) await this.read(list);
			else if (this.onlyRemembers) throw this.time.timedOut();
		}
	}

	private async read(list: ListToRead): Promise<void> {
		const { state, settings, account, onlyRemembers } = this;
		const known = state.lists.get(list.id);
		// Until it's known that it has ended, each poll reads it.
		if (known !== undefined) state.lists.set(list.id, omit(known, 'endedQueues'));
		const options = { limit: Infinity, mustBeWhole: onlyRemembers, limiter: this.untilTimeIsUp };
		const isFirst = this.listsBegun++ === 0;
		const reading = readList(account, list.id, settings.finished, options);
		const inTime = this.time.within(this.timeForLists, reading);
		const read = await inTime.catch((error: unknown) => {
			if (list.id === ALL_CALLS) throw error;
			const advice = explained(error).resolution;
			const failure = { what: `Contact list ${list.id}`, advice, error };
			// In the first reading, its calls would count as new when it can be read.
			if (!state.hasBegun) throw readFailed(failure);
			// Another poll begins with it, and has enough time.
			if (this.timeForLists.aborted && !isFirst) return;
			this.failures.push(failure);
		});
		if (read === undefined) return;
		const { listed, isComplete } = read;
		const { startedAt: readAt } = this;
		state.lists.set(list.id, { readAt, calls: listed.length });
		const { passed, endedBefore, excluded } = state.seen;
		const isNew = ({ fingerprint, createdAt }: ListedCall) =>
			![passed, endedBefore, excluded].some((seen) => seen.has(fingerprint)) &&
			!(createdAt < state.from);
		const calls = listed.filter(isNew);
		const endIfEnded = (ended: ReadonlySet<ListedCall>) => {
			const haveAllEnded = isComplete && calls.every((call) => ended.has(call));
			const { completedQueues: endedQueues } = list;
			if (haveAllEnded && endedQueues !== undefined)
				state.lists.set(list.id, { readAt, calls: listed.length, endedQueues });
		};
		if (onlyRemembers) {
			endIfEnded(await this.each(calls, async (call) => await this.remember(call)));
			if (this.isOver()) throw this.time.timedOut();
			const [failure] = this.failures;
			if (failure !== undefined) throw readFailed(failure);
		} else {
			for (const call of calls) if (call.hasEnded !== false) this.candidates.push(call);
			this.endLists.push(endIfEnded);
		}
	}

	/** Requests no further page. */
	private readonly untilTimeIsUp: Limiter = async (request) => {
		if (this.timeForLists.aborted) throw this.time.timedOut();
		return await request();
	};

	/** Passes the oldest calls of all lists. Calls that don't end or can't be read don't keep the others out for long. */
	private async passOldest(): Promise<void> {
		const { state, candidates } = this;
		const wasReached = ({ createdAt }: ListedCall) => createdAt <= state.reachedAt;
		// Shuffled, so that the same few unreadable calls don't stop each poll.
		const inOrder = orderBy(shuffle(candidates), [wasReached, 'createdAt']);
		const taken = inOrder.splice(0, POLL_LIMITS.calls);
		const ended = new Set<ListedCall>();
		let last: ListedCall | undefined;
		for (const together of chunk(taken, CALLS_TOGETHER)) {
			const pass = async (call: ListedCall) => await this.pass(call);
			for (const call of await this.each(shuffle(together), pass)) ended.add(call);
			if (this.time.end.aborted) break;
			last = together.at(-1);
		}
		for (const endIfEnded of this.endLists) endIfEnded(ended);
		// The next poll begins with the same calls.
		if (this.transientFailures > 0) return;
		const isDone = inOrder.length === 0 && !this.time.end.aborted;
		state.reachedAt = isDone ? -Infinity : (last?.createdAt ?? state.reachedAt);
	}

	/** @returns the calls that have ended */
	private async each(
		calls: readonly ListedCall[],
		handle: (call: ListedCall) => Promise<boolean>,
	): Promise<Set<ListedCall>> {
		const parallel = pLimit(READS_AT_ONCE);
		const ended = new Set<ListedCall>();
		const { end } = this.time;
		const handleNext = async (call: ListedCall) => {
			// The others would probably fail, too.
			if (this.transientFailures >= MAX_FAILURES || this.isOver()) return;
			try {
				if (await handle(call)) ended.add(call);
			} catch (error) {
				if (isUnknownCall(error) || this.isOver()) return;
				this.failures.push({ what: `Call ${quoted(call.callId)}`, advice: CALL_NOT_READ, error });
			}
		};
		const handling = Promise.all(calls.map(async (call) => await parallel(handleNext, call)));
		if (this.onlyRemembers) await this.time.within(end, handling);
		else await Promise.race([handling, whenAborted(end)]);
		return ended;
	}

	/** What a request returns after that is read by the next poll. */
	private isOver(): boolean {
		return this.time.end.aborted;
	}

	private async remember(call: ListedCall): Promise<boolean> {
		const { callId, fingerprint } = call;
		const { endedBefore, notEndedBefore } = this.state.seen;
		if (call.hasEnded !== undefined) {
			(call.hasEnded ? endedBefore : notEndedBefore).add(fingerprint);
			return call.hasEnded;
		}
		const record = await readCallRecord(this.account.client, callId);
		const isEnded = hasEnded(record, this.settings.finished);
		if (isEnded) endedBefore.add(fingerprint).add(outcomeOf(callId, record));
		else notEndedBefore.add(listedOutcomeOf(call, record));
		return isEnded;
	}

	private async pass(call: ListedCall): Promise<boolean> {
		const { callId, fingerprint, outcome: listed } = call;
		const { account, settings, completed } = this;
		const { passed, endedBefore, excluded } = this.state.seen;
		const record = await readCallRecord(account.client, callId);
		if (this.isOver() || !hasEnded(record, settings.finished)) return false;
		const outcome = outcomeOf(callId, record);
		let seen = [passed, endedBefore, excluded].find((outcomes) => outcomes.has(outcome));
		// The record of a redial may lag behind the list. The next poll reads it again.
		if (seen !== undefined && isBehind(record, listed)) return false;
		if (seen === undefined && this.startsWorkflow(call, record)) {
			const more = await readIncluded(account.client, callId, settings.included);
			if (this.isOver()) return false;
			const { key } = settings.filters.optOut;
			completed.set(outcome, flatCallRecord({ ...record, ...more }, key));
			seen = passed;
		}
		(seen ?? excluded).add(fingerprint).add(outcome);
		return true;
	}

	private startsWorkflow(call: ListedCall, record: JsonObject): boolean {
		const { from, seen } = this.state;
		// A call whose creation time can't be read may be in time, so it isn't lost.
		if (createdAtOf(record) < from || !isWanted(record, this.settings.filters)) return false;
		return showsEnd(record) || !seen.notEndedBefore.has(listedOutcomeOf(call, record));
	}
}

const CALL_NOT_READ =
	"The next check reads it again. If the call can never be read and keeps the workflow from being published, choose 'Date' in 'Start From', with a later time than its creation.";

/** Names what can't be read, because the user didn't enter it. */
function readFailed({ what, advice, error }: Failure): OutcomeUnknown {
	const cause = explained(error);
	const { message, originalMessage, origin, status } = cause;
	const facts = { originalMessage, origin, status, cause };
	return new OutcomeUnknown(`${what} can't be read. ${message}`, onScreenOnly(advice), facts);
}

function outcomeOf(callId: string, record: JsonObject): bigint {
	return fingerprint64(outcomeKey(callId, record));
}

/** The outcome of a record, as far as the list shows it, and its status. */
function listedOutcomeOf({ callId, outcome }: ListedCall, record: JsonObject): bigint {
	return outcomeOf(callId, pick(record, 'status', ...Object.keys(outcome)));
}

function scopeOf(
	context: IPollFunctions,
	{ baseUrl }: AccountClient,
	{ campaignId, start, filters, finished }: PollSettings,
): Scope {
	const credential = context.getNode().credentials?.[CREDENTIAL]?.id ?? null;
	const statuses = [filters.status, finished].map((keys) => [...keys]);
	return {
		subject: fingerprint([baseUrl, credential, campaignId ?? null]),
		start: fingerprint([start ?? null]),
		settings: fingerprint([omit(filters, 'status'), statuses]),
	};
}
