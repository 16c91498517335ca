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

	noteCampaign(listId: string, campaignId: number): void {
		this.campaigns.set(listId, campaignId);
	}

	/** Finished lists are left out, unless the campaign status shows other queues. */
	async find(client: ApiClient): Promise<ListToRead[]> {
		this.counts.clear();
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
	 * Call this after a reading of all lists that were found. A callback may add a call to a finished list without a change
	 * of its queues. Then the campaign has more calls than its lists, and its finished lists are read again.
	 */
	compareCounts(): void {
		const { state } = this;
		for (const [campaignId, attempts] of this.attempts) {
			const read = this.found.filter((list) => list.campaignId === campaignId);
			const finished = [...state.finished].filter(
				([id, list]) => list.campaignId === campaignId && !this.counts.has(id),
			);
			const listed =
				sumBy(read, ({ id }) => this.counts.get(id) ?? 0) +
				sumBy(finished, ([, { count }]) => count);
			// Calls may have been placed since the status was read.
			const unlisted = Math.max(0, attempts - listed);
			if (unlisted > (state.unlisted.get(campaignId) ?? 0)) {
				for (const [id] of finished) state.reopen(id);
			}
			state.unlisted.set(campaignId, unlisted);
		}
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
