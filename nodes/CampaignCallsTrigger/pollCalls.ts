import orderBy from 'lodash/orderBy';
import shuffle from 'lodash/shuffle';
import pLimit from 'p-limit';
import { type IPollFunctions, NodeOperationError } from 'n8n-workflow';
import { explained, isTransient, OutcomeUnknown } from '../shared/api/errors';
import { READS_AT_ONCE } from '../shared/api/limits';
import { hasEnded, isBehind, isWanted, outcomeKey } from '../shared/calls/callEnd';
import { flatCallRecord } from '../shared/calls/callRecord';
import { isUnknownCall, readCallRecord, readIncluded } from '../shared/calls/readCall';
import { requiredForList } from '../shared/calls/callList';
import { fingerprint, fingerprint64 } from '../shared/hash';
import type { JsonObject } from '../shared/json';
import { type AccountClient, clock, createAccountClient } from '../shared/n8n/http/accountClient';
import { CREDENTIAL } from '../shared/n8n/http/credential';
import {
	ALL_CALLS,
	createdAtOf,
	type ListedCall,
	listsToRead,
	type ListToRead,
	readList,
} from './listedCalls';
import { type PollSettings, readPollSettings } from './pollSettings';
import { type PollState, restoreState, storedState, type Subject } from './pollState';
import { onScreenOnly } from '../shared/api/resolution';
import { quoted } from '../shared/values';

/** Calls whose records one poll reads. The next poll continues. */
export const POLL_LIMITS = { calls: 1_000 };

/** All contact lists are read after this time, because a completed one may get calls, such as a redial. */
const ALL_LISTS_EVERY_MS = 3_600_000;

/** Records that can't be read until a poll stops. */
const MAX_FAILURES = 5;

/** Calls of each list to look at in a test in the editor. */
const MAX_TEST_CALLS = 100;

/** The calls that were completed since the last poll. */
export async function pollCalls(context: IPollFunctions): Promise<JsonObject[]> {
	const settings = readPollSettings(context);
	const account = await createAccountClient(context);
	const { apiMapping, client } = account;
	apiMapping.require(requiredForList({ limit: Infinity, pageSize: undefined }, apiMapping));
	if (context.getMode() === 'manual') return [await testCall(context, account, settings)];

	// n8n stores it at publication, and then with each execution.
	const data = context.getWorkflowStaticData('node');
	const { polled } = data;
	const subject = subjectOf(context, account, settings);
	const state = restoreState(polled, subject);
	const now = clock.now();
	const { lists, attempts } = await listsToRead(client, settings.campaignId);
	const readsAll = Math.abs(now - state.allReadAt) >= ALL_LISTS_EVERY_MS;
	const poll = new Poll(account, settings, state);
	let unlistedAttempts = attempts;
	const skipped: Array<{ list: ListToRead; calls: number }> = [];
	for (const list of lists) {
		const ended = state.lists.get(list.id);
		// As far as its queues show it, such a list has no new calls.
		if (!readsAll && ended !== undefined && ended.queues === list.completedQueues) {
			skipped.push({ list, calls: ended.calls });
			unlistedAttempts -= ended.calls;
		} else unlistedAttempts -= await poll.read(list);
	}
	// The campaign has calls that no list showed before, such as a redial of a completed list.
	if (unlistedAttempts > state.unlistedAttempts) {
		for (const { list, calls } of skipped) unlistedAttempts += calls - (await poll.read(list));
	}
	// A list that couldn't be read is missing in the count.
	if (poll.failures.length > 0) ({ unlistedAttempts } = state);
	await poll.passOldest();

	// Another poll has ended in between, because n8n doesn't wait for a slow one. The next one finds these calls again.
	if (data.polled !== polled) return [];
	const allReadAt = readsAll ? now : state.allReadAt;
	data.polled = storedState({ ...state, allReadAt, unlistedAttempts }, subject);
	const [failure] = poll.failures;
	if (poll.completed.size === 0 && failure !== undefined) throw readFailed(failure);
	return orderBy([...poll.completed.values()], createdAtOf);
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

	constructor(
		private readonly account: AccountClient,
		private readonly settings: PollSettings,
		private readonly state: PollState,
	) {}

	/** How many records or lists couldn't be read, and may be readable later. */
	private get transientFailures(): number {
		return this.failures.filter(({ error }) => isTransient(error)).length;
	}

	/** @returns how many calls the list has */
	async read(list: ListToRead): Promise<number> {
		const { state, settings, account } = this;
		const { from = -Infinity, finished } = settings;
		const isBegun = state.allReadAt > -Infinity;
		// Calls that have ended before the first reading never start the workflow.
		const onlyRemembers = !isBegun && settings.from === undefined;
		state.lists.delete(list.id);
		const options = { limit: Infinity, mustBeWhole: onlyRemembers };
		const reading = await readList(account, list.id, finished, options).catch((error: unknown) => {
			if (list.id === ALL_CALLS) throw error;
			const advice = explained(error).resolution;
			const failure = { what: `Contact list ${list.id}`, advice, error };
			// In the first reading, its calls would count as new when it can be read.
			if (!isBegun) throw readFailed(failure);
			this.failures.push(failure);
		});
		if (reading === undefined) return 0;
		const { listed, isComplete } = reading;
		const isNew = ({ fingerprint, createdAt }: ListedCall) =>
			!state.seen.has(fingerprint) && !(createdAt < from);
		const calls = listed.filter(isNew);
		const candidates = calls.filter((call) => call.hasEnded !== false);
		const endIfEnded = (ended: ReadonlySet<ListedCall>) => {
			const haveAllEnded = isComplete && calls.every((call) => ended.has(call));
			const { completedQueues: queues } = list;
			if (haveAllEnded && queues !== undefined) {
				state.lists.set(list.id, { queues, calls: listed.length });
			}
		};
		if (onlyRemembers) {
			endIfEnded(await this.each(candidates, async (call) => await this.remember(call)));
			const [failure] = this.failures;
			if (failure !== undefined) throw readFailed(failure);
		} else {
			for (const call of candidates) this.candidates.push(call);
			this.endLists.push(endIfEnded);
		}
		return listed.length;
	}

	/** Passes the oldest calls of all lists. Calls that don't end or can't be read don't keep the others out for long. */
	async passOldest(): Promise<void> {
		const { state, candidates } = this;
		const wasReached = ({ createdAt }: ListedCall) => createdAt <= state.reachedAt;
		// Shuffled, so that the same few unreadable calls don't stop each poll.
		const inOrder = orderBy(shuffle(candidates), [wasReached, 'createdAt']);
		const taken = inOrder.splice(0, POLL_LIMITS.calls);
		const ended = await this.each(shuffle(taken), async (call) => await this.pass(call));
		for (const endIfEnded of this.endLists) endIfEnded(ended);
		// The next poll begins with the same calls.
		if (this.transientFailures > 0) return;
		const last = inOrder.length === 0 ? undefined : taken.at(-1);
		state.reachedAt = last?.createdAt ?? -Infinity;
	}

	/** @returns the calls that have ended */
	private async each(
		calls: readonly ListedCall[],
		handle: (call: ListedCall) => Promise<boolean>,
	): Promise<Set<ListedCall>> {
		const parallel = pLimit(READS_AT_ONCE);
		const ended = new Set<ListedCall>();
		const handleNext = async (call: ListedCall) => {
			// The others would probably fail, too.
			if (this.transientFailures >= MAX_FAILURES) return;
			try {
				if (await handle(call)) ended.add(call);
			} catch (error) {
				if (isUnknownCall(error)) return;
				this.failures.push({ what: `Call ${quoted(call.callId)}`, advice: CALL_NOT_READ, error });
			}
		};
		await Promise.all(calls.map(async (call) => await parallel(handleNext, call)));
		return ended;
	}

	private async remember({ callId, fingerprint, hasEnded: isEnded }: ListedCall): Promise<boolean> {
		if (isEnded !== true) {
			const record = await readCallRecord(this.account.client, callId);
			if (!hasEnded(record, this.settings.finished)) return false;
			this.state.seen.add(outcomeOf(callId, record));
		}
		this.state.seen.add(fingerprint);
		return true;
	}

	private async pass({ callId, fingerprint, outcome: listed }: ListedCall): Promise<boolean> {
		const { account, settings, completed } = this;
		const { seen } = this.state;
		const record = await readCallRecord(account.client, callId);
		if (!hasEnded(record, settings.finished)) return false;
		const outcome = outcomeOf(callId, record);
		// The record of a redial may lag behind the list. The next poll reads it again.
		if (seen.has(outcome) && isBehind(record, listed)) return false;
		// A call whose creation time can't be read may be in time, so it isn't lost.
		const isInTime = !(createdAtOf(record) < (settings.from ?? -Infinity));
		if (!seen.has(outcome) && isInTime && isWanted(record, settings.filters)) {
			const more = await readIncluded(account.client, callId, settings.included);
			completed.set(outcome, flatCallRecord({ ...record, ...more }));
		}
		seen.add(fingerprint).add(outcome);
		return true;
	}
}

const CALL_NOT_READ =
	"The next check reads it again. If the call can never be read and keeps the workflow from being published, set 'Start From' to a later time than its creation.";

/** Names what can't be read, because the user didn't enter it. */
function readFailed({ what, advice, error }: Failure): OutcomeUnknown {
	const { message, originalMessage, origin } = explained(error);
	return new OutcomeUnknown(`${what} can't be read. ${message}`, onScreenOnly(advice), {
		originalMessage,
		origin,
	});
}

function outcomeOf(callId: string, record: JsonObject): bigint {
	return fingerprint64(outcomeKey(callId, record));
}

/**
 * What is checked. With another subject, the trigger begins again, because the calls may be those of another account. With
 * another start, it checks all calls again, because others are new, or count as ended.
 */
function subjectOf(
	context: IPollFunctions,
	{ baseUrl }: AccountClient,
	{ campaignId, from, finished }: PollSettings,
): Subject {
	const credential = context.getNode().credentials?.[CREDENTIAL]?.id ?? null;
	return {
		subject: fingerprint([baseUrl, credential, campaignId ?? null]),
		start: fingerprint([from ?? [...finished]]),
	};
}

/** A test in the editor returns a completed call: the latest one among the first calls of each list. */
async function testCall(
	context: IPollFunctions,
	account: AccountClient,
	{ campaignId, finished, filters, included }: PollSettings,
): Promise<JsonObject> {
	const { client } = account;
	const calls: ListedCall[] = [];
	for (const { id } of (await listsToRead(client, campaignId)).lists) {
		const options = { limit: MAX_TEST_CALLS, mustBeWhole: false };
		calls.push(...(await readList(account, id, finished, options)).listed);
	}
	const latestFirst = orderBy(calls, ({ createdAt }) => createdAt || 0, 'desc');
	for (const { callId } of latestFirst.slice(0, MAX_TEST_CALLS)) {
		const record = await readCallRecord(client, callId).catch((error: unknown) => {
			if (isUnknownCall(error)) return undefined;
			throw error;
		});
		if (record === undefined || !hasEnded(record, finished) || !isWanted(record, filters)) continue;
		return flatCallRecord({ ...record, ...(await readIncluded(client, callId, included)) });
	}
	throw new NodeOperationError(context.getNode(), 'No completed call matches', {
		description: "Check 'Calls Of' and 'Filters', or test again when a call is completed.",
	});
}
