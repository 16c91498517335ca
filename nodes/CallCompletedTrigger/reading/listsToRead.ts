import sumBy from 'lodash/sumBy';
import type { ApiClient } from '../../shared/api/client';
import { ServiceRejection } from '../../shared/api/errors';
import type { Query } from '../../shared/api/http';
import { parseContactListId } from '../../shared/api/parseIds';
import { type CampaignView, isCompleted, readCampaign } from '../../shared/campaign';
import type { JsonObject } from '../../shared/json';
import { plainText } from '../../shared/values';
import type { ReadState } from './readState';

/** The calls to read. */
export type CallSource =
	| { kind: 'campaign'; campaignId: number }
	| { kind: 'lists'; listIds: string[] }
	| { kind: 'all' };

/** All calls are one list with this ID. */
export const ALL_CALLS = '';

/** The list of a call. Not one of the lists that are read, if the call isn't from a contact list. */
export function listIdOf({ campaign_upload_id: id }: JsonObject, source: CallSource): string {
	return source.kind === 'all' ? ALL_CALLS : plainText(id);
}

/** Whether a call is in the lists that are read. */
export function isRead(record: JsonObject, source: CallSource): boolean {
	if (source.kind === 'all') return true;
	const listId = listIdOf(record, source);
	if (source.kind === 'lists') return source.listIds.includes(listId);
	return listId !== '' && plainText(record.campaign_id) === String(source.campaignId);
}

/** The filter of the call list. */
export function queryOf(listId: string): Query {
	return listId === ALL_CALLS ? {} : { campaign_upload_id: parseContactListId(listId) };
}

export type ListToRead = {
	/** `campaign_upload_id`, or {@link ALL_CALLS}. */
	id: string;
	/** Undefined if unknown. */
	campaignId: number | undefined;
	/** The calling queues, as in the campaign status. Empty if unknown. */
	queues: string;
	/** Whether all queues are completed. False if unknown. */
	isCompleted: boolean;
};

/** A list whose calls have all ended. */
type EndedList = {
	/** Differs if a call was added or has another outcome. */
	content: string;
	/** When its latest call was created. Epoch milliseconds. */
	latest: number;
};

/** The service may list a call only when it has ended, so a completed list is read until it's unchanged for this long. */
const UNCHANGED_MS = 3_600_000;

/** Finds the contact lists that may have changed. */
export class ListFinder {
	/** The campaigns of contact lists, as far as their calls showed them. */
	private readonly campaigns: Map<string, number>;

	/** By campaign: its call attempts before this reading. */
	private readonly attempts = new Map<number, number>();

	/** The lists of this reading. */
	private found: ListToRead[] = [];

	/** The number of calls of each list that was read in this reading. */
	private readonly counts = new Map<string, number>();

	/** The lists of this reading whose calls have all ended. */
	private readonly ended = new Map<string, EndedList>();

	/** Since when the ended calls of a completed list, and the unlisted ones of its campaign, are the same. */
	private readonly unchanged = new Map<string, { content: string; since: number }>();

	constructor(
		private readonly source: CallSource,
		private readonly state: ReadState,
	) {
		// A finished list isn't read, so its calls don't show the campaign.
		this.campaigns = new Map([...state.finished].map(([id, { campaignId }]) => [id, campaignId]));
	}

	noteCount(listId: string, count: number): void {
		this.counts.set(listId, count);
	}

	noteEnded(listId: string, ended: EndedList): void {
		this.ended.set(listId, ended);
	}

	noteCampaign(listId: string, campaignId: number): void {
		this.campaigns.set(listId, campaignId);
	}

	/** Finished lists are left out, unless the campaign status shows other queues. */
	async find(client: ApiClient): Promise<ListToRead[]> {
		this.counts.clear();
		this.ended.clear();
		this.attempts.clear();
		const lists = await this.all(client);
		for (const { id, queues } of lists) {
			const known = this.state.queuesOf(id);
			if (known !== undefined && queues !== '' && known !== queues) this.state.reopen(id);
		}
		this.found = lists.filter(({ id }) => this.state.queuesOf(id) === undefined);
		return this.found;
	}

	/**
	 * Call this after a reading. Does nothing if a list couldn't be read.
	 *
	 * @param now milliseconds of a clock that can't be changed
	 */
	finish(now: number): void {
		if (this.found.some(({ id }) => !this.counts.has(id))) return;
		const lists = [...this.found, ...this.state.finished.values()];
		const campaignIds = new Set(lists.flatMap(({ campaignId }) => campaignId ?? []));
		for (const campaignId of campaignIds) this.finishCampaign(campaignId, now);
	}

	/**
	 * A callback may add a call to a finished list without a change of its queues. Then the campaign has more calls than its
	 * lists, and its finished lists are read again.
	 */
	private finishCampaign(campaignId: number, now: number): void {
		const { state } = this;
		const read = this.found.filter((list) => list.campaignId === campaignId);
		const finished = [...state.finished].filter(([, list]) => list.campaignId === campaignId);
		const listed =
			sumBy(read, ({ id }) => this.counts.get(id) ?? 0) + sumBy(finished, ([, { count }]) => count);
		// Calls may have been placed since the status was read.
		const unlisted = Math.max(0, (this.attempts.get(campaignId) ?? 0) - listed);
		if (unlisted > (state.unlisted.get(campaignId) ?? 0)) {
			for (const [id] of finished) state.reopen(id);
		}
		state.unlisted.set(campaignId, unlisted);
		for (const list of read) this.finishIfUnchanged({ ...list, campaignId }, unlisted, now);
	}

	private finishIfUnchanged(
		{ id, campaignId, queues, isCompleted }: ListToRead & { campaignId: number },
		unlisted: number,
		now: number,
	): void {
		const { state, unchanged } = this;
		const ended = isCompleted ? this.ended.get(id) : undefined;
		const known = unchanged.get(id);
		unchanged.delete(id);
		if (ended === undefined || state.hasStarted(id)) return;
		const content = JSON.stringify([ended.content, queues, unlisted]);
		const since = known?.content === content ? known.since : now;
		if (now - since < UNCHANGED_MS) {
			unchanged.set(id, { content, since });
			return;
		}
		const { latest } = ended;
		state.finish(id, { campaignId, queues, latest, count: this.counts.get(id) ?? 0 });
	}

	private async all(client: ApiClient): Promise<ListToRead[]> {
		const { source } = this;
		if (source.kind === 'all') return [unknownList(ALL_CALLS)];
		if (source.kind === 'campaign') {
			return this.listsOf(await readCampaign(client, source.campaignId), source.campaignId);
		}
		const campaigns = source.listIds.flatMap((id) => this.campaigns.get(id) ?? []);
		const known = new Map<string, ListToRead>();
		for (const campaignId of new Set(campaigns)) {
			const view = await readKnownCampaign(client, campaignId);
			const lists = view === undefined ? [] : this.listsOf(view, campaignId);
			for (const list of lists) known.set(list.id, list);
		}
		return source.listIds.map((id) => known.get(id) ?? unknownList(id));
	}

	private listsOf({ lists, calls }: CampaignView, campaignId: number): ListToRead[] {
		if (calls?.total !== undefined) this.attempts.set(campaignId, calls.total);
		return lists.map((list) => ({
			id: list.id,
			campaignId,
			queues: JSON.stringify(
				list.queues.map(({ agentUuid, totalQueued, completed }) => [
					agentUuid,
					totalQueued,
					completed,
				]),
			),
			isCompleted: isCompleted(list),
		}));
	}
}

/** @returns undefined if the service rejects the campaign. Its lists are read without the status, too. */
async function readKnownCampaign(
	client: ApiClient,
	campaignId: number,
): Promise<CampaignView | undefined> {
	return await readCampaign(client, campaignId).catch((error: unknown) => {
		if (error instanceof ServiceRejection && !error.isTransient) return undefined;
		throw error;
	});
}

function unknownList(id: string): ListToRead {
	return { id, campaignId: undefined, queues: '', isCompleted: false };
}
