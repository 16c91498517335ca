import orderBy from 'lodash/orderBy';
import shuffle from 'lodash/shuffle';
import type { IPollFunctions } from 'n8n-workflow';
import pLimit from 'p-limit';
import { hasEnded, isBehind, isWanted } from '../core/calls/callEnd';
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
import { callOutput } from '../host/forms/outputFields';
import { type AccountClient, createAccountClient } from '../host/http/accountClient';
import { CREDENTIAL } from '../host/http/credential';
import { checkSince, endOfCheck, notComplete } from './check';
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
};

const WEEK_MS = 7 * 24 * 3_600_000;

/** Records that can't be read until a poll stops, because the others would probably fail, too. */
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
export async function pollCalls(context: IPollFunctions): Promise<JsonObject[]> {
	const end = endOfCheck(context);
	const account = await createAccountClient(context);
	const settings = readPollSettings(context, account);
	requireWholeList(account);
	if (context.getMode() === 'manual') return [await testCall(context, account, settings)];

	const scope = scopeOf(context, account, settings);
	return await checkSince(context, scope, async (stored) => {
		const poll = new Poll(account, settings, restoreState(stored, scope), end);
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

	private readonly parallel = pLimit(READS_AT_ONCE);

	/** @param state to which the poll adds what it has read */
	constructor(
		private readonly account: AccountClient,
		private readonly settings: PollSettings,
		readonly state: PollState,
		private readonly end: AbortSignal,
	) {}

	async run(): Promise<void> {
		const { settings, state } = this;
		const { start } = settings;
		const isFirst = !state.hasBegun;
		// The first poll decides when the last 7 days began.
		if (isFirst && start !== undefined)
			state.from = start === 'last7Days' ? clock.now() - WEEK_MS : start;
		const listed = await this.inTime(this.readLists(isFirst));
		const isNew = ({ outcome, createdAt }: ListedCall) =>
			!this.isKnown(outcome) && !(createdAt < state.from);
		const calls = listed.filter(isNew);
		if (isFirst && start === undefined) await this.rememberAll(calls);
		else await this.passOldest(calls.filter(({ hasEnded }) => hasEnded !== false));
	}

	private async readLists(isFirst: boolean): Promise<ListedCall[]> {
		const { account, settings } = this;
		/** Requests no further page when the time is up. */
		const limiter: Limiter = async (request) =>
			await this.parallel(async () => {
				this.end.throwIfAborted();
				return await request();
			});
		const mustBeWhole = isFirst && settings.start === undefined;
		const options = { limit: Infinity, mustBeWhole, limiter };
		const lists = await contactLists(account.client, settings.campaignId);
		const readings = await readEach(lists, async (listId) => {
			const reading = readList(account, listId, settings.finished, options);
			return await reading.catch((error: unknown) => {
				if (listId === ALL_CALLS) throw error;
				const advice = explained(error).resolution;
				const failure = { what: `Contact list ${listId}`, advice, error };
				// In the first reading, its calls would count as new when it can be read.
				if (isFirst) throw readFailed(failure);
				this.failures.push(failure);
				return [];
			});
		});
		return readings.flat();
	}

	private async inTime<T>(running: Promise<T>): Promise<T> {
		const over = whenAborted(this.end).then(() => {
			throw notComplete();
		});
		return await Promise.race([running, over]);
	}

	private isKnown(outcome: string): boolean {
		const { passed, ignored } = this.state.seen;
		return passed.has(outcome) || ignored.has(outcome);
	}

	/** @throws if there's no time for all calls, or one can't be read, because it would count as new when it can */
	private async rememberAll(calls: readonly ListedCall[]): Promise<void> {
		await this.each(calls, async (call) => {
			if (call.hasEnded === false) return;
			const { callId, outcome, shown } = call;
			const isShown = call.hasEnded === true;
			const record = isShown ? shown : await readCallRecord(this.account.client, callId);
			if (!isShown && !hasEnded(record, this.settings.finished)) return;
			this.state.seen.ignored.add(outcome).add(outcomeOf(callId, record));
		});
		if (this.isTimeUp()) throw notComplete();
		const [failure] = this.failures;
		if (failure !== undefined) throw readFailed(failure);
	}

	/** Passes the oldest calls of all lists. Calls that don't end or can't be read don't keep the others out for long. */
	private async passOldest(calls: readonly ListedCall[]): Promise<void> {
		const { state } = this;
		const wasReached = ({ createdAt }: ListedCall) => createdAt <= state.reachedAt;
		// Shuffled, because of those without a time, the same few could stop each poll.
		const inOrder = orderBy(shuffle(calls), [wasReached, 'createdAt']);
		const taken = inOrder.splice(0, POLL_LIMITS.calls);
		await this.each(taken, async (call) => {
			state.reachedAt = call.createdAt || 0;
			await this.pass(call);
		});
		if (inOrder.length === 0 && !this.isOver()) state.reachedAt = 0;
	}

	/** What a request returns after that is read by the next poll. */
	private isTimeUp(): boolean {
		return this.end.aborted;
	}

	/** Whether the next poll reads the rest. */
	private isOver(): boolean {
		const failed = this.failures.filter(({ error }) => isTransient(error));
		return this.isTimeUp() || failed.length >= MAX_FAILURES;
	}

	private async each(
		calls: readonly ListedCall[],
		handle: (call: ListedCall) => Promise<void>,
	): Promise<void> {
		const handleNext = async (call: ListedCall) => {
			if (this.isOver()) return;
			await handle(call).catch((error: unknown) => {
				if (isUnknownCall(error) || this.isTimeUp()) return;
				this.failures.push({ what: `Call ${quoted(call.callId)}`, advice: CALL_NOT_READ, error });
			});
		};
		await Promise.race([readEach(calls, handleNext), whenAborted(this.end)]);
	}

	private async pass(call: ListedCall): Promise<void> {
		const { account, completed, state } = this;
		const { finished, filters, included, optOutKey, output } = this.settings;
		const { passed, ignored } = state.seen;
		const record = await readCallRecord(account.client, call.callId);
		if (this.isTimeUp() || !hasEnded(record, finished)) return;
		const outcome = outcomeOf(call.callId, record);
		// The record of a redial may lag behind the list. The next poll reads it again.
		if (this.isKnown(outcome) && isBehind(record, call.shown)) return;
		// A call whose creation time can't be read may be in time, so it isn't lost.
		const isExcluded = createdAtOf(record) < state.from || !isWanted(record, filters, optOutKey);
		if (!this.isKnown(outcome) && !isExcluded) {
			const more = await readIncluded(account.client, call.callId, included);
			if (this.isTimeUp()) return;
			const json = callOutput(output, record, more, optOutKey);
			completed.set(outcome, { createdAt: createdAtOf(record), json });
			passed.add(outcome);
		}
		const seen = passed.has(outcome) ? passed : ignored;
		seen.add(call.outcome).add(outcome);
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
