import omit from 'lodash/omit';
import orderBy from 'lodash/orderBy';
import pick from 'lodash/pick';
import sampleSize from 'lodash/sampleSize';
import shuffle from 'lodash/shuffle';
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
	/** Calls whose records one poll reads. The next ones read the others. */
	calls: 1_000,
};

const WEEK_MS = 7 * 24 * 3_600_000;

/** A completed contact list is read again after this time, because it may get calls, such as redials and callbacks. */
const REREAD_AFTER_MS = 3_600_000;

/** Records that can't be read until a poll stops. */
const MAX_FAILURES = 5;

/**
 * The calls that were completed since the last poll, oldest first.
 *
 * A poll reads each contact list of the campaign, and then the record of each of its calls that may have ended and whose
 * outcome isn't among those that it remembers. What the record shows decides: the call starts the workflow, is excluded, or
 * hasn't ended. The outcomes of the first two are remembered. So after downtime, a poll finds what ended in between, by the
 * lists alone.
 *
 * With 'Publication' in 'Start From', the first poll passes nothing. It remembers all calls that have ended, or fails, because
 * the next one can't continue it.
 *
 * When n8n's time for a poll ends, what was read by then starts the workflow and is remembered. Lists, and the calls of each,
 * are read in any order, so that those that take all the time, or never end, leave out no other for long. n8n keeps nothing
 * of a poll that fails, or with its scheduler also of one without events, so no turn could be remembered.
 */
export async function pollCalls(context: IPollFunctions, time: PollTime): Promise<JsonObject[]> {
	const settings = readPollSettings(context);
	const account = await createAccountClient(context);
	requireWholeList(account);
	if (context.getMode() === 'manual') return [await testCall(context, account, settings)];

	const scope = scopeOf(context, account, settings);
	return await checkSince(context, 'polled', pick(scope, 'subject', 'start'), async (stored) => {
		const state = restoreState(stored, scope);
		const poll = new Poll(account, settings, state, time);
		await poll.run();
		const [failure] = poll.failures;
		return {
			events: orderBy([...poll.completed.values()], createdAtOf),
			state: storedState(state, scope),
			failure: failure && (() => readFailed(failure)),
		};
	});
}

type Failure = { what: string; advice: string; error: unknown };

class Poll {
	/** Completed calls that start the workflow, by outcome. */
	readonly completed = new Map<bigint, JsonObject>();

	/** What couldn't be read. A later poll reads it again. */
	readonly failures: Failure[] = [];

	/** Calls that ended before the first reading never start the workflow. */
	private readonly onlyRemembers: boolean;

	private readonly startedAt = clock.now();
	private callsLeft = POLL_LIMITS.calls;

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
	}

	async run(): Promise<void> {
		const { account, settings, time } = this;
		const lists = await time.within(listsToRead(account.client, settings.campaignId));
		const due = shuffle(lists.filter((list) => this.isDue(list)));
		for (const [at, list] of due.entries()) {
			if (this.mustEnd || this.callsLeft === 0) return;
			await this.checkList(list, at === 0);
			if (this.onlyRemembers) this.requireAll();
		}
	}

	/** Whether the list may have new calls: as far as the campaign status shows it, or because it wasn't read for long. */
	private isDue({ id, completedAs }: ListToRead): boolean {
		const known = this.state.completedLists.get(id);
		if (known === undefined || known.shown !== completedAs) return true;
		return Math.abs(this.startedAt - known.readAt) >= REREAD_AFTER_MS;
	}

	/** @throws if something wasn't read in the first reading, because it would count as new when it is */
	private requireAll(): void {
		const [failure] = this.failures;
		if (failure !== undefined) throw readFailed(failure);
		if (this.isTimeUp) throw this.time.timedOut();
	}

	/** @param isFirst whether it has the whole time of the poll */
	private async checkList({ id, completedAs }: ListToRead, isFirst: boolean): Promise<void> {
		const { account, settings, state, startedAt: readAt } = this;
		// Until all its calls have ended, it's due.
		state.completedLists.delete(id);
		const options = { mustBeWhole: this.onlyRemembers, limiter: this.untilTimeIsUp };
		const reading = readList(account, id, settings.finished, options);
		const read = await this.time.within(reading).catch((error: unknown) => {
			if (id === ALL_CALLS) throw error;
			// Another poll begins with it, and has enough time.
			if (this.isTimeUp && !isFirst) return;
			const advice = explained(error).resolution;
			this.failures.push({ what: `Contact list ${id}`, advice, error });
		});
		if (read === undefined) return;
		const isNew = ({ fingerprint, createdAt }: ListedCall) =>
			this.outcomesWith(fingerprint) === undefined && !(createdAt < state.from);
		const calls = read.listed.filter(isNew);
		const ended = this.onlyRemembers
			? await this.countEnded(calls, async (call) => await this.remember(call))
			: await this.countEnded(this.taken(calls), async (call) => await this.pass(call));
		if (read.isComplete && ended === calls.length && completedAs !== undefined)
			state.completedLists.set(id, { readAt, shown: completedAs });
	}

	/** Requests no further page. */
	private readonly untilTimeIsUp: Limiter = async (request) => {
		if (this.isTimeUp) throw this.time.timedOut();
		return await request();
	};

	/** The remembered outcomes that have this one. */
	private outcomesWith(outcome: bigint): Set<bigint> | undefined {
		const { passed, endedBefore, excluded } = this.state.seen;
		return [passed, endedBefore, excluded].find((outcomes) => outcomes.has(outcome));
	}

	/** As many of the calls that may have ended as the poll still reads. */
	private taken(calls: readonly ListedCall[]): ListedCall[] {
		const mayHaveEnded = calls.filter(({ hasEnded: isEnded }) => isEnded !== false);
		const taken = sampleSize(mayHaveEnded, this.callsLeft);
		this.callsLeft -= taken.length;
		return taken;
	}

	/** What a request returns after that is read by a later poll. */
	private get isTimeUp(): boolean {
		return this.time.end.aborted;
	}

	/** Whether to read nothing more. After some failures, the others would probably fail, too. */
	private get mustEnd(): boolean {
		const failures = this.failures.filter(({ error }) => isTransient(error));
		return this.isTimeUp || failures.length >= MAX_FAILURES;
	}

	/** @param handle returns whether the call has ended */
	private async countEnded(
		calls: readonly ListedCall[],
		handle: (call: ListedCall) => Promise<boolean>,
	): Promise<number> {
		let ended = 0;
		const handleNext = async (call: ListedCall) => {
			if (this.mustEnd) return;
			try {
				if (await handle(call)) ended++;
			} catch (error) {
				if (isUnknownCall(error) || this.isTimeUp) return;
				this.failures.push({ what: `Call ${quoted(call.callId)}`, advice: CALL_NOT_READ, error });
			}
		};
		await Promise.race([readEach(calls, handleNext), whenAborted(this.time.end)]);
		return ended;
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
		if (this.isTimeUp || !hasEnded(record, settings.finished)) return false;
		const outcome = outcomeOf(callId, record);
		let seen = this.outcomesWith(outcome);
		// The record of a redial may lag behind the list. The next poll reads it again.
		if (seen !== undefined && isBehind(record, listed)) return false;
		if (seen === undefined && this.startsWorkflow(call, record)) {
			const more = await readIncluded(account.client, callId, settings.included);
			if (this.isTimeUp) return false;
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
