import orderBy from 'lodash/orderBy';
import sampleSize from 'lodash/sampleSize';
import pLimit from 'p-limit';
import { type IPollFunctions, NodeOperationError } from 'n8n-workflow';
import { isTransient } from '../shared/api/errors';
import { READS_AT_ONCE } from '../shared/api/limits';
import { hasEnded, isBehind, isWanted, outcomeKey } from '../shared/calls/callEnd';
import { outcomeRecord } from '../shared/calls/callRecord';
import { isUnknownCall, readCallRecord, readIncluded } from '../shared/calls/readBack';
import { requiredForList } from '../shared/calls/callList';
import { fingerprint, fingerprint64 } from '../shared/hash';
import type { JsonObject } from '../shared/json';
import { type AccountClient, clock, createAccountClient } from '../shared/n8n/http/accountClient';
import { CREDENTIAL } from '../shared/n8n/http/credential';
import { rejectEngine2OfWorkflow } from '../shared/n8n/run/engine2';
import { requireAllItems } from '../shared/n8n/triggers/requireSettings';
import {
	createdAtOf,
	firstCalls,
	type ListedCall,
	listsToRead,
	type ListToRead,
	readList,
} from './listedCalls';
import { type PollSettings, readPollSettings } from './pollSettings';
import { type EndedList, PollState } from './pollState';

/** Calls whose records one poll reads. The next poll continues. */
const MAX_CALLS_PER_POLL = 1_000;

/** Calls of each list to look at in a test in the editor. */
const MAX_TEST_CALLS = 100;

/** The calls that were completed since the last poll. */
export async function pollCalls(context: IPollFunctions): Promise<JsonObject[]> {
	rejectEngine2OfWorkflow(context);
	requireAllItems(context.getNode());
	const settings = readPollSettings(context);
	const account = await createAccountClient(context);
	const { apiMapping, client } = account;
	apiMapping.require(requiredForList({ limit: Infinity, pageSize: undefined }, apiMapping));
	if (context.getMode() === 'manual') return [await testCall(context, account, settings)];

	// n8n stores it at publication, and then with each execution.
	const data = context.getWorkflowStaticData('node');
	const subject = subjectOf(context, account, settings);
	const before = PollState.restore(data.polled, subject);
	const now = clock.now();
	const { lists, attempts = 0 } = await listsToRead(client, settings.source);
	const poll = new Poll(account, settings, before);
	let unlisted = attempts;
	const skipped: Array<{ list: ListToRead; calls: number }> = [];
	for (const list of lists) {
		const calls = before.endedCalls(list.id, list.completedQueues, now);
		if (calls !== undefined) skipped.push({ list, calls });
		unlisted -= calls ?? (await poll.read(list));
	}
	if (before.hasMoreUnlisted(unlisted)) {
		for (const { list, calls } of skipped) unlisted -= (await poll.read(list)) - calls;
	}

	// Another poll may have ended in between, because n8n doesn't wait for a slow one.
	const after = PollState.restore(data.polled, subject);
	const calls = poll.completed.filter(({ outcome }) => !after.has(outcome));
	if (calls.length === 0 && poll.failures.length > 0) throw poll.failures[0];
	after.add(poll.seen);
	for (const { id, ended } of poll.lists) after.noteRead(id, ended);
	after.noteAllRead(now, unlisted);
	data.polled = after.toStored();
	const records = new Map(calls.map(({ outcome, record }) => [outcome, record]));
	return orderBy([...records.values()], createdAtOf);
}

/** One reading of the lists. */
class Poll {
	/** Calls that start the workflow. */
	readonly completed: Array<{ outcome: bigint; record: JsonObject }> = [];

	/** Outcomes that don't start it again. */
	readonly seen: bigint[] = [];

	/** The lists that were read. */
	readonly lists: Array<{ id: string; ended: EndedList | undefined }> = [];

	/** Why records couldn't be read. The next poll reads them again. */
	readonly failures: unknown[] = [];

	private left = MAX_CALLS_PER_POLL;

	constructor(
		private readonly account: AccountClient,
		private readonly settings: PollSettings,
		private readonly before: PollState,
	) {}

	/** @returns how many calls the list has */
	async read(list: ListToRead): Promise<number> {
		const { before, settings, account } = this;
		const { source, from = -Infinity, finished } = settings;
		const isKnown = source.kind === 'lists' ? before.isKnown(list.id) : before.isBegun;
		// Calls that have ended before the first reading never start the workflow.
		const onlyRemembers = !isKnown && settings.from === undefined;
		const { listed, isComplete } = await readList(account, list, finished, onlyRemembers);
		const isNew = ({ fingerprint, createdAt }: ListedCall) =>
			!before.has(fingerprint) && !(createdAt < from);
		const calls = listed.filter(isNew);
		const candidates = calls.filter((call) => call.hasEnded !== false);
		const handled = onlyRemembers
			? await this.each(candidates, async (call) => await this.remember(call))
			: // In any order, so that calls which don't end or can't be read don't keep the others out.
				await this.each(sampleSize(candidates, this.left), async (call) => await this.pass(call));
		if (onlyRemembers && this.failures.length > 0) throw this.failures[0];
		const haveAllEnded = isComplete && handled === calls.length;
		const queues = haveAllEnded ? list.completedQueues : undefined;
		const ended = queues === undefined ? undefined : { queues, calls: listed.length };
		this.lists.push({ id: list.id, ended });
		return listed.length;
	}

	/** @returns how many of the calls have ended */
	private async each(
		calls: readonly ListedCall[],
		handle: (call: ListedCall) => Promise<boolean>,
	): Promise<number> {
		const parallel = pLimit(READS_AT_ONCE);
		let ended = 0;
		const handleNext = async (call: ListedCall) => {
			// The others would fail, too.
			if (this.failures.some(isTransient)) return;
			try {
				if (await handle(call)) ended++;
			} catch (error) {
				if (!isUnknownCall(error)) this.failures.push(error);
			}
		};
		await Promise.all(calls.map(async (call) => await parallel(handleNext, call)));
		return ended;
	}

	private async remember(call: ListedCall): Promise<boolean> {
		const { callId, fingerprint } = call;
		const record = call.hasEnded === true ? undefined : await this.recordOf(callId);
		if (record !== undefined && !hasEnded(record, this.settings.finished)) return false;
		this.seen.push(fingerprint, ...(record === undefined ? [] : [outcomeOf(callId, record)]));
		return true;
	}

	private async pass({ callId, fingerprint, outcome: listed }: ListedCall): Promise<boolean> {
		const { before, account, settings } = this;
		this.left--;
		const record = await this.recordOf(callId);
		if (!hasEnded(record, settings.finished)) return false;
		const outcome = outcomeOf(callId, record);
		// The record of a redial may lag behind the list. The next poll reads it again.
		if (before.has(outcome) && isBehind(record, listed)) return false;
		const isInTime = settings.from === undefined || createdAtOf(record) >= settings.from;
		if (!before.has(outcome) && isInTime && isWanted(record, settings.filters)) {
			const more = await readIncluded(account.client, callId, settings.included);
			this.completed.push({ outcome, record: outcomeRecord({ ...record, ...more }) });
		}
		this.seen.push(fingerprint, outcome);
		return true;
	}

	private async recordOf(callId: string): Promise<JsonObject> {
		return await readCallRecord(this.account.client, callId);
	}
}

function outcomeOf(callId: string, record: JsonObject): bigint {
	return fingerprint64(outcomeKey(callId, record));
}

/**
 * What is checked. With another subject, the trigger begins again, because the calls may be those of another account, or
 * because calls of which it doesn't know whether they are old count as ended.
 */
function subjectOf(
	context: IPollFunctions,
	{ baseUrl }: AccountClient,
	{ source, from, finished }: PollSettings,
): string {
	const campaignId = source.kind === 'campaign' ? source.campaignId : null;
	const credential = context.getNode().credentials?.[CREDENTIAL]?.id ?? null;
	return fingerprint([baseUrl, credential, source.kind, campaignId, from ?? [...finished]]);
}

/** A test in the editor returns a completed call: the latest one among the first calls of each list. */
async function testCall(
	context: IPollFunctions,
	account: AccountClient,
	{ source, finished, filters, included }: PollSettings,
): Promise<JsonObject> {
	const { client } = account;
	const calls: ListedCall[] = [];
	for (const list of (await listsToRead(client, source)).lists) {
		calls.push(...(await firstCalls(account, list, finished, MAX_TEST_CALLS)));
	}
	const latestFirst = orderBy(calls, ({ createdAt }) => createdAt || 0, 'desc');
	for (const { callId } of latestFirst.slice(0, MAX_TEST_CALLS)) {
		const record = await readCallRecord(client, callId);
		if (!hasEnded(record, finished) || !isWanted(record, filters)) continue;
		return outcomeRecord({ ...record, ...(await readIncluded(client, callId, included)) });
	}
	throw new NodeOperationError(context.getNode(), 'No completed call matches', {
		description:
			"The latest calls are in progress, or don't match 'Filters'. Test again when a call is completed.",
	});
}
