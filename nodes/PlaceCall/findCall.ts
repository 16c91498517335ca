import { DateTime } from 'luxon';
import { asSentence, ExplainedError, type OutcomeUnknown } from '../shared/api/errors';
import { forEveryone, type Reader, type Resolution } from '../shared/api/resolution';
import type { CallRequest } from '../shared/api/types';
import type { ApiMapping } from '../shared/apiMapping';
import { callListQuery, requiredForFilters, type CallFilters } from '../shared/calls/callFilters';
import { requiredForList, readAllCalls } from '../shared/calls/readCallList';
import { hasOffset, withOffset } from '../shared/clock';
import type { JsonObject } from '../shared/json';
import type { AccountClient } from '../shared/n8n/http/accountClient';
import { phoneKey } from '../shared/phone/phoneKey';
import { isUnset, plainText } from '../shared/values';
import type { KnownCalls } from './knownCalls';
import { plannedFor } from './request/openingHours';

/** Waits before each reading of the call list, which may lag. */
export const CALL_SEARCH_DELAYS_MS = [2_000, 8_000, 20_000] as const;

/** After this many failed searches in a node run, each further search is one reading, because the service may be down. */
const MAX_FAILED_SEARCHES = 3;

/** Without a filter by number, the list starts this long before the request. A filter by date covers whole days. */
const BEFORE_MS = 5 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** A call that was sent. */
export type SentCall = {
	/** As sent by the latest attempt. */
	request: CallRequest;
	/** Its `phone_key`. `null` if the number has no clear international format. */
	key: string | null;
	/** Epoch milliseconds just before the request was first sent. */
	sentAt: number;
};

/**
 * Tracks the calls of one node run, and searches the call list for those with unknown outcome. A call matches only by
 * number, agent, and a time after the request was sent, and only if no other call is possible. Only reads. If the list
 * doesn't show a call, it may still have been placed.
 */
export class CallFinder {
	/** By number: sent requests whose call is unknown. */
	private readonly pending = new Map<string, number>();
	private failedSearches = 0;

	/**
	 * @param knownCalls calls that belong to other items
	 * @param pause resolves with false if the execution is stopped
	 * @param zone time zone of the workflow
	 */
	constructor(
		private readonly knownCalls: KnownCalls,
		private readonly pause: (milliseconds: number) => Promise<boolean>,
		private readonly now: () => number,
		private readonly zone: string,
	) {}

	onSent({ key }: Pick<SentCall, 'key'>): void {
		if (key !== null) this.pending.set(key, (this.pending.get(key) ?? 0) + 1);
	}

	/** Whether a call belongs to another item. */
	isKnown(callId: unknown): boolean {
		return this.knownCalls.has(callId);
	}

	/** The outcome of a request is known. */
	onSettled({ key }: SentCall, record: JsonObject = {}): void {
		this.knownCalls.add(record.call_id);
		const count = key === null ? undefined : this.pending.get(key);
		if (key !== null && count !== undefined) this.pending.set(key, count - 1);
	}

	/**
	 * Searches the call list several times.
	 *
	 * @returns the call as in the list
	 * @throws OutcomeUnknown if it isn't found for certain
	 */
	async find(
		call: SentCall,
		{ client, apiMapping }: AccountClient,
		error: OutcomeUnknown,
	): Promise<JsonObject> {
		const { key } = call;
		if (key === null) {
			throw unresolved(
				error,
				forEveryone(
					"The call can't be found in the call list, because its number has no clear international format.",
				),
			);
		}
		let result = forEveryone('');
		const delays = CALL_SEARCH_DELAYS_MS.slice(
			0,
			this.failedSearches < MAX_FAILED_SEARCHES ? undefined : 1,
		);
		for (const wait of delays) {
			if (!(await this.pause(wait))) {
				result = forEveryone('The search of the call list was stopped.');
				break;
			}
			const found = await this.newCalls(call, key, client, apiMapping).catch(asExplained);
			if (found instanceof ExplainedError) {
				const notRead = (reader: Reader) =>
					`The call list can't be read: ${found.message}. ${asSentence(found.descriptionFor(reader))}`;
				result = { onScreen: notRead('onScreen'), forModel: notRead('forModel') };
				if (!found.isTransient) break;
				continue;
			}
			const [only, ...others] = found;
			const isAlone = others.length === 0 && this.pending.get(key) === 1;
			if (only !== undefined && isAlone) {
				this.onSettled(call, only);
				return {
					call_id: only.call_id ?? null,
					created_at: only.created_at ?? null,
					...schedule(call),
					looked_up: true,
				};
			}
			result = forEveryone(this.describe(call, found));
		}
		this.failedSearches++;
		throw unresolved(error, result);
	}

	/** Calls of this agent to this number that were created after the request and don't belong to another item. */
	private async newCalls(
		{ request, sentAt }: SentCall,
		key: string,
		client: AccountClient['client'],
		mapping: ApiMapping,
	): Promise<JsonObject[]> {
		const filters = this.filtersFor(key, sentAt, mapping);
		const whole = { limit: Infinity, pageSize: undefined };
		mapping.require([...requiredForFilters(filters, mapping), ...requiredForList(whole, mapping)]);
		const query = callListQuery(filters, mapping, this.zone);
		const calls = await readAllCalls(client, { query }, mapping);
		return calls.filter(
			({ call_id: id, phone_number: phone, created_at: created, agent_uuid: agent, ...more }) =>
				typeof id === 'string' &&
				!this.isKnown(id) &&
				phoneKey(phone) === key &&
				isAfter(created, sentAt) &&
				(isUnset(agent) || agent === request.agent_uuid) &&
				// A call of a campaign isn't a single call.
				isUnset(more.campaign_id) &&
				isUnset(more.campaign_upload_id),
		);
	}

	/** The filter by number if the credential has it, otherwise by time. */
	private filtersFor(key: string, sentAt: number, mapping: ApiMapping): CallFilters {
		const byTime = mapping.optional('callListFromName') ?? mapping.optional('callListRangeName');
		const byPhone = mapping.optional('callListPhoneName');
		if (byPhone !== undefined || byTime === undefined) return { phone: `+${key}` };
		const before = mapping.optional('callListDateForm') === 'date' ? DAY_MS : BEFORE_MS;
		const at = (ms: number) => withOffset(DateTime.fromMillis(ms, { zone: this.zone }));
		const from = at(sentAt - before);
		const isRange = mapping.optional('callListFromName') === undefined;
		return isRange ? { from, to: at(this.now() + DAY_MS) } : { from };
	}

	private describe({ key, sentAt }: SentCall, found: readonly JsonObject[]): string {
		const since = `since the request was sent (${withOffset(DateTime.fromMillis(sentAt, { zone: this.zone }))})`;
		if (found.length === 0) {
			return `The call list shows no call of this agent to +${key} ${since}. The list may lag, so the call may still have been placed.`;
		}
		const ids = found.map(({ call_id: id }) => plainText(id)).join(', ');
		return `The call list shows ${ids} to +${key} ${since}. Other calls to this number were in progress, so the right one is unknown.`;
	}
}

/** When a call was scheduled for, as in the response that was lost. A wait starts its time limit then. */
function schedule({ request: { scheduled_at: scheduled }, sentAt }: SentCall): JsonObject {
	if (scheduled === undefined) return {};
	const due = plannedFor(scheduled, DateTime.fromMillis(sentAt));
	return { scheduled_at: scheduled, scheduled_at_epoch: due.toUnixInteger() };
}

/** Compares whole seconds, because some services write no more. A time without an offset is ambiguous. */
function isAfter(created: unknown, sentAt: number): boolean {
	if (typeof created !== 'string' || !hasOffset(created)) return false;
	return DateTime.fromISO(created).toMillis() >= Math.floor(sentAt / 1_000) * 1_000;
}

function asExplained(error: unknown): ExplainedError {
	if (error instanceof ExplainedError) return error;
	throw error;
}

function unresolved(error: OutcomeUnknown, result: Resolution): OutcomeUnknown {
	return error.withText({
		resolution: {
			onScreen: `${result.onScreen} ${error.resolution}`,
			forModel: `${result.forModel} ${error.resolutionForModel}`,
		},
	});
}
