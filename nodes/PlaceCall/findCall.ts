import { DateTime } from 'luxon';
import { asSentence, ExplainedError, type OutcomeUnknown } from '../shared/api/errors';
import { forEveryone, type Reader, type Resolution } from '../shared/api/modelAdvice';
import type { CallRequest } from '../shared/api/types';
import type { ApiMapping } from '../shared/apiMapping';
import { callListQuery, requiredForFilters, type CallFilters } from '../shared/calls/callFilters';
import { requiredForList, readAllCalls } from '../shared/calls/readCallList';
import { hasOffset, withOffset } from '../shared/clock';
import type { JsonObject } from '../shared/json';
import type { AccountClient } from '../shared/n8n/http/accountClient';
import { phoneKey } from '../shared/phone/phoneKey';
import { isUnset, plainText } from '../shared/values';

/** When the list is read after a request whose outcome is unknown: it may lag. */
export const CALL_SEARCH_DELAYS_MS = [2_000, 8_000, 20_000] as const;

/** After so many calls that were not found in a run, one look for each must do: the service may be down for all. */
const MAX_FAILED_SEARCHES = 3;

/** No longer list is read: a filter by number or time that works leaves few. */
const MAX_CALLS = 1_000;

/** Without a filter by number, calls from so long before are asked for; a filter by date alone takes whole days. */
const BEFORE_MS = 5 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** A call as it was sent. */
export type SentCall = {
	request: CallRequest;
	/** Its `phone_key`; `null` where no call can be told to be to this number. */
	key: string | null;
	/** Just before the request left, in epoch milliseconds. */
	sentAt: number;
};

/**
 * What is known of the calls that one run places, and looks for those whose fate is open. A call counts as the one
 * looked for only by its number, its agent and a time after the request left, and where nothing else could be meant.
 * Nothing is sent, and a list that does not show a call is no proof that it was not placed.
 */
export class CallFinder {
	/** IDs of the calls that are known to be another item's. */
	private readonly taken = new Set<string>();
	/** By number: requests that were sent and whose call is not known. */
	private readonly open = new Map<string, number>();
	private failedSearches = 0;

	/**
	 * @param sleep ends early, by throwing, when the execution is stopped
	 * @param zone of the workflow
	 */
	constructor(
		private readonly sleep: (milliseconds: number) => Promise<void>,
		private readonly now: () => number,
		private readonly zone: string,
	) {}

	onSent({ key }: SentCall): void {
		if (key !== null) this.open.set(key, (this.open.get(key) ?? 0) + 1);
	}

	/** What became of a request is known. */
	onSettled({ key }: SentCall, record: JsonObject = {}): void {
		if (typeof record.call_id === 'string') this.taken.add(record.call_id);
		const open = key === null ? undefined : this.open.get(key);
		if (key !== null && open !== undefined) this.open.set(key, open - 1);
	}

	/** @returns the call as the list shows it */
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
					'its number is not certain in international form, so no call can be told to be to it.',
				),
			);
		}
		let seen = forEveryone('');
		const looks = CALL_SEARCH_DELAYS_MS.slice(
			0,
			this.failedSearches < MAX_FAILED_SEARCHES ? undefined : 1,
		);
		for (const wait of looks) {
			await this.sleep(wait);
			const found = await this.newCalls(call, key, client, apiMapping).catch(asExplained);
			if (found instanceof ExplainedError) {
				const notRead = (reader: Reader) =>
					`the call list could not be read: ${found.message}. ${asSentence(found.descriptionFor(reader))}`;
				seen = { onScreen: notRead('onScreen'), forModel: notRead('forModel') };
				if (!found.isTransient) break;
				continue;
			}
			const [only, ...others] = found;
			const isAlone = others.length === 0 && this.open.get(key) === 1;
			if (only !== undefined && isAlone) {
				this.onSettled(call, only);
				return {
					call_id: only.call_id ?? null,
					created_at: only.created_at ?? null,
					looked_up: true,
				};
			}
			seen = forEveryone(this.told(call, found));
		}
		this.failedSearches++;
		throw unresolved(error, seen);
	}

	/** Calls to this number by this agent that were created after the request left and are nobody else's. */
	private async newCalls(
		{ request, sentAt: sentAt }: SentCall,
		key: string,
		client: AccountClient['client'],
		details: ApiMapping,
	): Promise<JsonObject[]> {
		const filters = this.filtersFor(key, sentAt, details);
		const whole = { limit: Infinity, pageSize: undefined };
		details.require([...requiredForFilters(filters, details), ...requiredForList(whole, details)]);
		const query = callListQuery(filters, details, this.zone);
		const calls = await readAllCalls(client, { query, maxCalls: MAX_CALLS }, details);
		return calls.filter(
			({ call_id: id, phone_number: phone, created_at: created, agent_uuid: agent, ...more }) =>
				typeof id === 'string' &&
				!this.taken.has(id) &&
				phoneKey(phone) === key &&
				isAfter(created, sentAt) &&
				(isUnset(agent) || agent === request.agent_uuid) &&
				// A campaign's call is not one that was placed by itself.
				isUnset(more.campaign_id) &&
				isUnset(more.campaign_upload_id),
		);
	}

	/** The filter by number where the credential names one, else by time. */
	private filtersFor(key: string, sentAt: number, details: ApiMapping): CallFilters {
		const byTime = details.optional('callListFromName') ?? details.optional('callListRangeName');
		const byPhone = details.optional('callListPhoneName');
		if (byPhone !== undefined || byTime === undefined) return { phone: `+${key}` };
		const before = details.optional('callListDateForm') === 'date' ? DAY_MS : BEFORE_MS;
		const at = (ms: number) => withOffset(DateTime.fromMillis(ms, { zone: this.zone }));
		const from = at(sentAt - before);
		const isRange = details.optional('callListFromName') === undefined;
		return isRange ? { from, to: at(this.now() + DAY_MS) } : { from };
	}

	private told({ key, sentAt: sentAt }: SentCall, found: readonly JsonObject[]): string {
		const since = `since the request left (${withOffset(DateTime.fromMillis(sentAt, { zone: this.zone }))})`;
		if (found.length === 0) {
			return `the call list shows no call of this agent to +${key} ${since}. It may lag, so that is no proof that the call was not placed.`;
		}
		const ids = found.map(({ call_id: id }) => plainText(id)).join(', ');
		return `the call list shows ${ids} to +${key} ${since}, but other calls to this number were under way, so that it is not certain which is which.`;
	}
}

/** Times are compared by whole seconds, as some services write them. One without an offset could be of any hour. */
function isAfter(created: unknown, sentAt: number): boolean {
	if (typeof created !== 'string' || !hasOffset(created)) return false;
	return DateTime.fromISO(created).toMillis() >= Math.floor(sentAt / 1_000) * 1_000;
}

function asExplained(error: unknown): ExplainedError {
	if (error instanceof ExplainedError) return error;
	throw error;
}

function unresolved(error: OutcomeUnknown, seen: Resolution): OutcomeUnknown {
	return error.withText({
		resolution: {
			onScreen: `It was looked up: ${seen.onScreen} ${error.resolution}`,
			forModel: `It was looked up: ${seen.forModel} ${error.resolutionForModel}`,
		},
	});
}
