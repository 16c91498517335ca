import chunk from 'lodash/chunk';
import omit from 'lodash/omit';
import orderBy from 'lodash/orderBy';
import partition from 'lodash/partition';
import pick from 'lodash/pick';
import shuffle from 'lodash/shuffle';
import sumBy from 'lodash/sumBy';
import type { IPollFunctions } from 'n8n-workflow';
import { hasEnded, isBehind, isWanted, outcomeKey, showsEnd } from '../core/calls/callEnd';
import { requireWholeList } from '../core/calls/callList';
import { flatCallRecord } from '../core/calls/callRecord';
import { isUnknownCall, readCallRecord, readIncluded } from '../core/calls/readCall';
import { explained, isTransient, OutcomeUnknown } from '../core/service/errors';
import { readEach } from '../core/service/limits';
import { onScreenOnly } from '../core/service/resolution';
import { whenAborted } from '../core/values/clock';
import { fingerprint, fingerprint64 } from '../core/values/hash';
import type { JsonObject } from '../core/values/json';
import type { Limiter } from '../core/values/keyedMutex';
import { quoted } from '../core/values/values';
import { clock } from '../host/clock';
import { type AccountClient, createAccountClient } from '../host/http/accountClient';
import { CREDENTIAL } from '../host/http/credential';
import { checkSince, type PollTime } from '../host/triggers/poll';
import {
	ALL_CALLS,
	createdAtOf,
	type ListedCall,
	listsToRead,
	type ListToRead,
	readList,
} from './listedCalls';
import { type PollState, restoreState, type Scope, storedState } from './pollState';
import { type PollSettings, readPollSettings } from './properties';
import { testCall } from './testCall';

export const POLL_LIMITS = {
	/** Calls whose records one poll reads. The next poll continues. */
	calls: 1_000,
	/** Calls that are read together. Where a poll ends, the next one continues with the same ones. */
	together: 50,
};

const WEEK_MS = 7 * 24 * 3_600_000;

/** A completed contact list is read again after this time, because it may get calls, such as a redial. */
const REREAD_AFTER_MS = 3_600_000;

/** The share of the time of a poll for the lists. The rest is for the records of their calls. */
const TIME_FOR_LISTS = 0.7;

/** Records that can't be read until a poll stops. */
const MAX_FAILURES = 5;

/**
 * The calls that were completed since the last poll.
 *
 * A poll reads the contact lists of the campaign, and then, oldest first, the record of each call that may have ended and
 * whose outcome isn't among those that it remembers. What the record shows decides: the call starts the workflow, is
 * excluded, or hasn't ended. The outcomes of the first two are remembered. So after downtime, a poll finds what ended in
 * between, by the lists alone.
 *
 * With 'Publication' in 'Start From', the first poll passes nothing. It remembers all calls that have ended, or fails, because
 * the next one can't continue it.
 *
 * When n8n's time for a poll ends, what was read by then starts the workflow and is remembered. The next poll continues
 * with calls that were created later, so that the same ones, such as some that never end, don't take all the time again.
 */
export async function pollCalls(context: IPollFunctions, time: PollTime): Promise<JsonObject[]> {
	const settings = readPollSettings(context);
	const account = await createAccountClient(context);
	requireWholeList(account);
	if (context.getMode() === 'manual') return [await testCall(context, account, settings)];

	const scope = scopeOf(context, account, settings);
	return await checkSince(context, pick(scope, 'subject', 'start'), async (stored) => {
		const state = restoreState(stored, scope);
		const poll = new Poll(account, settings, state, time);
		await poll.run();
		const [failure] = poll.failures;
		return {
			events: orderBy([...poll.completed.values()], createdAtOf),
			state: storedState({ ...state, hasBegun: true }, scope),
			failure: failure && (() => readFailed(failure)),
		};
	});
}

type Failure = { what: string; advice: string; error: unknown };

/** A list as this poll has read it. `calls`: those that aren't remembered. */
type Reading = { list: ListToRead; isComplete: boolean; calls: ListedCall[] };

class Poll {
	/** Completed calls that start the workflow, by outcome. */
	readonly completed = new Map<bigint, JsonObject>();

	/** What couldn't be read. The next poll reads it again. */
	readonly failures: Failure[] = [];

	private readonly readings: Reading[] = [];
	private readonly ended = new Set<ListedCall>();

	/** Calls that ended before the first reading never start the workflow. */
	private readonly onlyRemembers: boolean;

	private readonly startedAt = clock.now();
	private readonly timeForLists: AbortSignal;
	private listsBegun = 0;

	/** @param state to which the poll adds what it has read */
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
		const { account, settings, state, timeForLists } = this;
		const reading = listsToRead(account.client, settings.campaignId);
		const { lists, attempts } = await this.time.within(timeForLists, reading);
		const unlisted = () => attempts - sumBy(lists, ({ id }) => state.lists.get(id)?.calls ?? 0);
		const [due, others] = partition(lists, (list) => this.isDue(list));
		await this.readLists(due);
		// The campaign has calls that no list showed before, such as a redial of a completed list.
		if (unlisted() > state.unlistedAttempts) await this.readLists(others);
		// A list that wasn't read is missing in the count.
		if (this.failures.length === 0 && !timeForLists.aborted) state.unlistedAttempts = unlisted();

		if (this.onlyRemembers) await this.rememberAll();
		else await this.passOldest();
		for (const { list, isComplete, calls } of this.readings) {
			const { completedQueues: endedQueues } = list;
			const known = state.lists.get(list.id);
			const haveAllEnded = isComplete && calls.every((call) => this.ended.has(call));
			if (haveAllEnded && known !== undefined && endedQueues !== undefined)
				state.lists.set(list.id, { ...known, endedQueues });
		}
	}

	/** Whether the list may have new calls: as far as its queues show it, or because it wasn't read for long. */
	private isDue({ id, completedQueues }: ListToRead): boolean {
		const known = this.state.lists.get(id);
		if (known?.endedQueues === undefined || known.endedQueues !== completedQueues) return true;
		return Math.abs(this.startedAt - known.readAt) >= REREAD_AFTER_MS;
	}

	/**
	 * In any order, so that a slow list, or too many for one poll, leave out none for long. n8n keeps nothing of a poll that
	 * fails, or with its scheduler also of one without events, so no turn could be remembered.
	 *
	 * @throws OutcomeUnknown if there's no time for all lists of a first reading, because the next poll can't continue it
	 */
	private async readLists(lists: readonly ListToRead[]): Promise<void> {
		for (const list of shuffle(lists)) {
			if (!this.timeForLists.aborted) await this.readOne(list);
			else if (this.onlyRemembers) throw this.time.timedOut();
		}
	}

	private async readOne(list: ListToRead): Promise<void> {
		const { account, settings, state, startedAt: readAt } = this;
		const known = state.lists.get(list.id);
		// Until it's read, it's due.
		if (known !== undefined) state.lists.set(list.id, omit(known, 'endedQueues'));
		const isFirst = this.listsBegun++ === 0;
		const limiter = this.untilTimeIsUp;
		const options = { limit: Infinity, mustBeWhole: this.onlyRemembers, limiter };
		const reading = readList(account, list.id, settings.finished, options);
		const inTime = this.time.within(this.timeForLists, reading);
		const read = await inTime.catch((error: unknown) => {
			if (list.id === ALL_CALLS) throw error;
			const advice = explained(error).resolutionOnScreen;
			const failure = { what: `Contact list ${list.id}`, advice, error };
			// In the first reading, its calls would count as new when it can be read.
			if (!state.hasBegun) throw readFailed(failure);
			// Another poll begins with it, and has enough time.
			if (this.timeForLists.aborted && !isFirst) return;
			this.failures.push(failure);
		});
		if (read === undefined) return;
		const { listed, isComplete } = read;
		state.lists.set(list.id, { readAt, calls: listed.length });
		const isNew = ({ fingerprint, createdAt }: ListedCall) =>
			this.outcomesWith(fingerprint) === undefined && !(createdAt < state.from);
		this.readings.push({ list, isComplete, calls: listed.filter(isNew) });
	}

	/** Requests no further page. */
	private readonly untilTimeIsUp: Limiter = async (request) => {
		if (this.timeForLists.aborted) throw this.time.timedOut();
		return await request();
	};

	/** The remembered outcomes that have this one. */
	private outcomesWith(outcome: bigint): Set<bigint> | undefined {
		const { passed, endedBefore, excluded } = this.state.seen;
		return [passed, endedBefore, excluded].find((outcomes) => outcomes.has(outcome));
	}

	/** @throws if there's no time for all calls, or one can't be read, because it would count as new when it can */
	private async rememberAll(): Promise<void> {
		for (const { calls } of this.readings) {
			await this.each(calls, async (call) => await this.remember(call));
			if (this.isOver()) throw this.time.timedOut();
			const [failure] = this.failures;
			if (failure !== undefined) throw readFailed(failure);
		}
	}

	/** Passes the oldest calls of all lists. Calls that don't end or can't be read don't keep the others out for long. */
	private async passOldest(): Promise<void> {
		const { state } = this;
		const mayHaveEnded = this.readings.flatMap(({ calls }) =>
			calls.filter((call) => call.hasEnded !== false),
		);
		const wasReached = ({ createdAt }: ListedCall) => createdAt <= state.reachedAt;
		// Shuffled, so that the same few unreadable calls don't stop each poll.
		const inOrder = orderBy(shuffle(mayHaveEnded), [wasReached, 'createdAt']);
		const taken = inOrder.splice(0, POLL_LIMITS.calls);
		let last: ListedCall | undefined;
		for (const together of chunk(taken, POLL_LIMITS.together)) {
			await this.each(shuffle(together), async (call) => await this.pass(call));
			if (this.isOver()) break;
			last = together.at(-1);
		}
		// The next poll begins with the same calls.
		if (this.transientFailures > 0) return;
		const isDone = inOrder.length === 0 && !this.isOver();
		state.reachedAt = isDone ? -Infinity : (last?.createdAt ?? state.reachedAt);
	}

	/** How many records or lists couldn't be read, and may be readable later. */
	private get transientFailures(): number {
		return this.failures.filter(({ error }) => isTransient(error)).length;
	}

	/** What a request returns after that is read by the next poll. */
	private isOver(): boolean {
		return this.time.end.aborted;
	}

	/** @param handle returns whether the call has ended */
	private async each(
		calls: readonly ListedCall[],
		handle: (call: ListedCall) => Promise<boolean>,
	): Promise<void> {
		const handleNext = async (call: ListedCall) => {
			// The others would probably fail, too.
			if (this.transientFailures >= MAX_FAILURES || this.isOver()) return;
			try {
				if (await handle(call)) this.ended.add(call);
			} catch (error) {
				if (isUnknownCall(error) || this.isOver()) return;
				this.failures.push({ what: `Call ${quoted(call.callId)}`, advice: CALL_NOT_READ, error });
			}
		};
		await Promise.race([readEach(calls, handleNext), whenAborted(this.time.end)]);
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
		const { passed, excluded } = this.state.seen;
		const record = await readCallRecord(account.client, callId);
		if (this.isOver() || !hasEnded(record, settings.finished)) return false;
		const outcome = outcomeOf(callId, record);
		let seen = this.outcomesWith(outcome);
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
	"The next check reads it again, and fails if it finds no other call. If the call can never be read, choose 'Date' in 'Start From', with a later time than its creation. Then calls that were created earlier don't start the workflow.";

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
