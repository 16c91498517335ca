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

	/** Call attempts of the campaign before this reading. Undefined if unknown. */
	private attempts: number | undefined;

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
		this.attempts = undefined;
		const lists = await this.all(client);
		for (const { id, queues } of lists) {
			const known = this.state.queuesOf(id);
			if (known !== undefined && queues !== '' && known !== queues) this.state.reopen(id);
		}
		return lists.filter(({ id }) => this.state.queuesOf(id) === undefined);
	}

	/**
	 * Call this after a reading of all lists that were found. A callback may add a call to a finished list without a change
	 * of its queues. Then the campaign has more calls than its lists, and all lists are read again.
	 */
	compareCounts(): void {
		const { attempts, state, counts } = this;
		if (attempts === undefined) return;
		let listed = 0;
		for (const count of counts.values()) listed += count;
		let isWhole = true;
		for (const [id, { count }] of state.finished) {
			if (counts.has(id)) continue;
			listed += count;
			isWhole = false;
		}
		const unlisted = attempts - listed;
		if (isWhole) state.unlisted = Math.max(state.unlisted, unlisted);
		else if (unlisted > state.unlisted) state.reopenAll();
	}

	private async all(client: ApiClient): Promise<ListToRead[]> {
		const { source } = this;
		if (source.kind === 'all') return [unknownList(ALL_CALLS)];
		if (source.kind === 'campaign') {
			const view = await readCampaign(client, source.campaignId);
			this.attempts = view.calls?.total;
			return listsOf(view, source.campaignId);
		}
		const campaigns = source.listIds.flatMap((id) => this.campaigns.get(id) ?? []);
		const known = new Map<string, ListToRead>();
		for (const campaignId of new Set(campaigns)) {
			for (const list of await listsOfKnown(client, campaignId)) known.set(list.id, list);
		}
		return source.listIds.map((id) => known.get(id) ?? unknownList(id));
	}
}

/** The status only saves requests here, so a campaign that the service rejects doesn't stop the reading. */
async function listsOfKnown(client: ApiClient, campaignId: number): Promise<ListToRead[]> {
	const view = await readCampaign(client, campaignId).catch((error: unknown) => {
		if (error instanceof ServiceRejection && !error.isTransient) return undefined;
		throw error;
	});
	return view === undefined ? [] : listsOf(view, campaignId);
}

function listsOf({ lists }: CampaignView, campaignId: number): ListToRead[] {
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

function unknownList(id: string): ListToRead {
	return { id, campaignId: undefined, queues: '', isCompleted: false };
}
