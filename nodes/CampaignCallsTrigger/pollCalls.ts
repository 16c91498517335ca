import chunk from 'lodash/chunk';
import orderBy from 'lodash/orderBy';
import pick from 'lodash/pick';
import shuffle from 'lodash/shuffle';
import type { IPollFunctions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { hasEnded, isBehind, isWanted, showsEnd } from '../core/calls/callEnd';
import { requireWholeList } from '../core/calls/callList';
import { isUnknownCall, readCallRecord, readIncluded } from '../core/calls/readCall';
import { explained, isTransient, OutcomeUnknown } from '../core/service/errors';
import { readEach, READS_AT_ONCE } from '../core/service/limits';
import { whenAborted } from '../core/values/clock';
import { fingerprint } from '../core/values/hash';
import type { JsonObject } from '../core/values/json';
import type { Limiter } from '../core/values/keyedMutex';
import { quoted } from '../core/values/values';
import { clock } from '../host/clock';
import { callOutput } from '../host/forms/callOutput';
import { type AccountClient, createAccountClient } from '../host/http/accountClient';
import { CREDENTIAL } from '../host/http/credential';
import { checkSince, type PollTime } from '../host/triggers/poll';
import {
	ALL_CALLS,
	contactLists,
	createdAtOf,
	type ListedCall,
	outcomeOf,
	readList,
} from './listedCalls';
import { type PollState, restoreState, type Scope, storedState } from './pollState';
import { type PollSettings, readPollSettings } from './properties';
import { testCall } from './testCall';

export const POLL_LIMITS = {
	/** Calls whose records one poll reads. The next poll continues. */
	calls: 500,
	/** Calls that are read together. Where a poll ends, the next one continues with the same ones. */
	together: 50,
};

const WEEK_MS = 7 * 24 * 3_600_000;

/** Records that can't be read until a poll stops. */
const MAX_FAILURES = 5;

/**
 * The calls that were completed since the last poll.
 *
 * A poll reads the contact lists of the campaign, and then, oldest first, the record of each call that may have ended and
 * whose outcome isn't among those that it remembers. What the record shows decides: the call starts the workflow, is
 * excluded by the filters, or hasn't ended. The outcomes of the first two are remembered. So after downtime, a poll finds what
 * ended in between, by the lists alone.
 *
 * With 'When Published' in 'Start From', the first poll passes nothing. It remembers all calls that have ended, or fails, because
 * the next one can't continue it.
 *
 * When n8n's time for a poll ends, what was read by then starts the workflow and is remembered. The next poll continues
 * with calls that were created later, so that the same ones, such as some that never end, don't take all the time again.
 */
export async function pollCalls(context: IPollFunctions, time: PollTime): Promise<JsonObject[]> {
	const account = await createAccountClient(context);
	const settings = readPollSettings(context, account);
	requireWholeList(account);
	if (context.getMode() === 'manual') return [await testCall(context, account, settings)];

	const scope = scopeOf(context, account, settings);
	return await checkSince(context, scope, async (stored) => {
		const poll = new Poll(account, settings, restoreState(stored, scope), time);
		await poll.run();
		const [failure] = poll.failures;
		return {
			events: orderBy([...poll.completed.values()], 'createdAt').map(({ json }) => json),
			state: storedState(poll.state, scope),
			failure: failure && (() => readFailed(failure)),
		};
	});
}

type Failure = { what: string; advice: string; error: unknown };

class Poll {
	/** Completed calls that start the workflow, by outcome. */
	readonly completed = new Map<string, { createdAt: number; json: JsonObject }>();

	/** What couldn't be read. The next poll reads it again. */
	readonly failures: Failure[] = [];

	/** Calls that ended before the first poll never start the workflow. */
	private readonly onlyRemembers: boolean;

	/** @param state to which the poll adds what it has read */
	constructor(
		private readonly account: AccountClient,
		private readonly settings: PollSettings,
		readonly state: PollState,
		private readonly time: PollTime,
	) {
		const { start } = settings;
		this.onlyRemembers = !state.hasBegun && start === undefined;
		// The first poll decides when the last 7 days began.
		if (!state.hasBegun && start !== undefined)
			state.from = start === 'last7Days' ? clock.now() - WEEK_MS : start;
	}

	async run(): Promise<void> {
		const { account, settings, state, time } = this;
		const lists = await time.within(contactLists(account.client, settings.campaignId));
		const readings = readEach(lists, async (listId) => await this.readList(listId));
		const listed = (await time.within(readings)).flat();
		const isNew = ({ outcome, createdAt }: ListedCall) =>
			this.outcomesWith(outcome) === undefined && !(createdAt < state.from);
		const calls = listed.filter(isNew);
		if (this.onlyRemembers) await this.rememberAll(calls);
		else await this.passOldest(calls.filter(({ hasEnded }) => hasEnded !== false));
	}

	private async readList(listId: string): Promise<ListedCall[]> {
		const { account, settings, onlyRemembers: mustBeWhole, limiter } = this;
		const options = { limit: Infinity, mustBeWhole, limiter };
		return await readList(account, listId, settings.finished, options).catch((error: unknown) => {
			if (listId === ALL_CALLS) throw error;
			const advice = explained(error).resolution;
			const failure = { what: `Contact list ${listId}`, advice, error };
			// In the first reading, its calls would count as new when it can be read.
			if (!this.state.hasBegun) throw readFailed(failure);
			this.failures.push(failure);
			return [];
		});
	}

	private readonly parallel = pLimit(READS_AT_ONCE);

	/** Requests no further page when the time is up. */
	private readonly limiter: Limiter = async (request) =>
		await this.parallel(async () => {
			if (this.isOver()) throw this.time.timedOut();
			return await request();
		});

	/** The remembered outcomes that have this one. */
	private outcomesWith(outcome: string): Set<string> | undefined {
		const { passed, ignored } = this.state.seen;
		return [passed, ignored].find((outcomes) => outcomes.has(outcome));
	}

	/** @throws if there's no time for all calls, or one can't be read, because it would count as new when it can */
	private async rememberAll(calls: readonly ListedCall[]): Promise<void> {
		await this.each(calls, async (call) => await this.remember(call));
		if (this.isOver()) throw this.time.timedOut();
		const [failure] = this.failures;
		if (failure !== undefined) throw readFailed(failure);
	}

	/** Passes the oldest calls of all lists. Calls that don't end or can't be read don't keep the others out for long. */
	private async passOldest(calls: readonly ListedCall[]): Promise<void> {
		const { state } = this;
		const wasReached = ({ createdAt }: ListedCall) => createdAt <= state.reachedAt;
		// Shuffled, so that the same few unreadable calls don't stop each poll.
		const inOrder = orderBy(shuffle(calls), [wasReached, 'createdAt']);
		const taken = inOrder.splice(0, POLL_LIMITS.calls);
		for (const together of chunk(taken, POLL_LIMITS.together)) {
			await this.each(shuffle(together), async (call) => await this.pass(call));
			// The next poll begins with the same calls.
			if (this.isOver() || this.hasFailed()) return;
			state.reachedAt = together.at(-1)?.createdAt ?? 0;
		}
		if (inOrder.length === 0) state.reachedAt = 0;
	}

	/** Whether so many records couldn't be read that the others would probably fail, too. */
	private hasFailed(): boolean {
		return this.failures.filter(({ error }) => isTransient(error)).length >= MAX_FAILURES;
	}

	/** What a request returns after that is read by the next poll. */
	private isOver(): boolean {
		return this.time.end.aborted;
	}

	private async each(
		calls: readonly ListedCall[],
		handle: (call: ListedCall) => Promise<void>,
	): Promise<void> {
		const handleNext = async (call: ListedCall) => {
			if (this.hasFailed() || this.isOver()) return;
			await handle(call).catch((error: unknown) => {
				if (isUnknownCall(error) || this.isOver()) return;
				this.failures.push({ what: `Call ${quoted(call.callId)}`, advice: CALL_NOT_READ, error });
			});
		};
		await Promise.race([readEach(calls, handleNext), whenAborted(this.time.end)]);
	}

	private async remember(call: ListedCall): Promise<void> {
		const { callId, shown, outcome } = call;
		const { ignored, notEndedBefore } = this.state.seen;
		const isShown = call.hasEnded !== undefined;
		const record = isShown ? shown : await readCallRecord(this.account.client, callId);
		const isEnded = call.hasEnded ?? hasEnded(record, this.settings.finished);
		if (isEnded) ignored.add(outcome).add(outcomeOf(callId, record));
		else notEndedBefore.add(shownOutcomeOf(call, record));
	}

	private async pass(call: ListedCall): Promise<void> {
		const { account, settings, completed } = this;
		const { passed, ignored } = this.state.seen;
		const record = await readCallRecord(account.client, call.callId);
		if (this.isOver() || !hasEnded(record, settings.finished)) return;
		const outcome = outcomeOf(call.callId, record);
		let seen = this.outcomesWith(outcome);
		// The record of a redial may lag behind the list. The next poll reads it again.
		if (seen !== undefined && isBehind(record, call.shown)) return;
		if (seen === undefined && this.startsWorkflow(call, record)) {
			const more = await readIncluded(account.client, call.callId, settings.included);
			if (this.isOver()) return;
			const json = callOutput(settings.output, record, more, settings.optOutKey);
			completed.set(outcome, { createdAt: createdAtOf(record), json });
			seen = passed;
		}
		(seen ?? ignored).add(call.outcome).add(outcome);
	}

	private startsWorkflow(call: ListedCall, record: JsonObject): boolean {
		const { from, seen } = this.state;
		const { filters, optOutKey } = this.settings;
		// A call whose creation time can't be read may be in time, so it isn't lost.
		if (createdAtOf(record) < from || !isWanted(record, filters, optOutKey)) return false;
		return showsEnd(record) || !seen.notEndedBefore.has(shownOutcomeOf(call, record));
	}
}

const CALL_NOT_READ =
	"The next check reads it again, and fails if it finds no other call. If the call can never be read, choose 'Date' in 'Start From', with a later time than its creation. Then calls that were created earlier don't start the workflow.";

/** Names what can't be read, because the user didn't enter it. */
function readFailed({ what, advice, error }: Failure): OutcomeUnknown {
	const cause = explained(error);
	const { message, originalMessage, origin, status } = cause;
	const facts = { originalMessage, origin, status, cause };
	return new OutcomeUnknown(`${what} can't be read. ${message}`, advice, facts);
}

/** The outcome of a record, as far as the list shows it, and its status. */
function shownOutcomeOf({ callId, shown }: ListedCall, record: JsonObject): string {
	return outcomeOf(callId, pick(record, 'status', ...Object.keys(shown)));
}

function scopeOf(
	context: IPollFunctions,
	{ baseUrl }: AccountClient,
	{ campaignId, start }: PollSettings,
): Scope {
	const credential = context.getNode().credentials?.[CREDENTIAL]?.id ?? null;
	return {
		subject: fingerprint([baseUrl, credential, campaignId ?? null]),
		start: fingerprint([start ?? null]),
	};
}
