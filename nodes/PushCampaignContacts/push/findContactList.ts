import sumBy from 'lodash/sumBy';
import type { ApiClient } from '../../shared/api/client';
import { getCampaignStatus } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import { ExplainedError, NotSent, type OutcomeUnknown } from '../../shared/api/errors';
import { followedBy, forEveryone, onScreenOnly } from '../../shared/api/modelAdvice';
import { viewCampaign, type ContactList } from '../../shared/campaign';
import type { JsonObject } from '../../shared/json';
import type { CampaignTarget } from './pushTypes';

/** When the campaign is read again after a request whose outcome is unknown. */
export const LIST_SEARCH_DELAYS_MS = [1_000, 4_000, 10_000, 15_000, 30_000, 60_000] as const;

/** The contact lists of a campaign by their ID, as far as its status shows them. */
export type ListsBefore = ReadonlySet<string>;

/**
 * Looks for the contact list of a request whose outcome is unknown. Nothing is sent, and a campaign that shows no such
 * list is no proof that none will come: the service may work off a request late.
 */
export class ContactListFinder {
	constructor(
		private readonly client: ApiClient,
		private readonly campaign: CampaignTarget,
		/** Waits, and tells whether that went to its end: it does not when the workflow is stopped. */
		private readonly pause: (milliseconds: number) => Promise<boolean>,
	) {}

	/** @throws NotSent: without this there is nothing to compare with later */
	async listsBefore(): Promise<ListsBefore> {
		const lists = await readLists(this.client, this.campaign.id).catch((error: unknown) => {
			throw notReadable(error);
		});
		return new Set(lists.map(({ id }) => id));
	}

	/** @returns the list in place of the answer, or the outcome that stays unknown with what was seen */
	async find(
		error: OutcomeUnknown,
		contacts: number,
		before: ListsBefore,
	): Promise<JsonObject | OutcomeUnknown> {
		let fresh: ContactList[] = [];
		let lastFault: ExplainedError | undefined;
		for (const wait of LIST_SEARCH_DELAYS_MS) {
			if (!(await this.pause(wait))) {
				return unknown(error, 'The workflow was stopped before it was found.');
			}
			const lists = await readLists(this.client, this.campaign.id).catch(asFault);
			if (lists instanceof ExplainedError) {
				lastFault = lists;
				continue;
			}
			lastFault = undefined;
			fresh = lists.filter((list) => !before.has(list.id) && this.mayBeOurs(list));
			const [only, ...others] = fresh;
			if (only !== undefined && others.length === 0 && this.sizeOf(only) === contacts) {
				return { ...only.record, looked_up: true };
			}
		}
		if (lastFault !== undefined) {
			return unknown(error, `The campaign’s status could not be read: ${lastFault.message}.`);
		}
		return unknown(error, this.told(fresh, contacts));
	}

	/** Each list names the agent that it was pushed for. */
	private mayBeOurs({ record }: ContactList): boolean {
		const { agent_uuid: agent } = record;
		return agent === undefined || agent === null || agent === this.campaign.agentUuid;
	}

	/** How many contacts are queued from it: nothing else tells the size of a list. */
	private sizeOf({ queues }: ContactList): number | undefined {
		if (queues.length === 0) return undefined;
		return queues.every(({ record }) => typeof record.total_queued === 'number')
			? sumBy(queues, ({ totalQueued }) => totalQueued)
			: undefined;
	}

	private told(lists: readonly ContactList[], contacts: number): string {
		if (lists.length === 0) {
			return 'Two minutes later the campaign shows no new contact list of this agent. The request most likely did not arrive, but that is no proof.';
		}
		const seen = lists.map(
			(list) => `${list.id} (${this.sizeOf(list) ?? 'an unknown number'} queued)`,
		);
		const what = lists.length === 1 ? 'a new contact list' : 'new contact lists';
		return `The campaign shows ${what} of this agent: ${seen.join(', ')}. The request had ${contacts} ${contacts === 1 ? 'contact' : 'contacts'}, so this is no proof that it is the one.`;
	}
}

async function readLists(client: ApiClient, campaignId: number): Promise<ContactList[]> {
	const { record, lists } = viewCampaign(recordOf(await getCampaignStatus(client, campaignId)));
	if (Array.isArray(record.uploads) && lists.every(({ id }) => id !== '')) return lists;
	throw new NotSent(
		'The campaign’s status shows no contact lists by their ID, so a request whose outcome is unknown could not be looked up',
		onScreenOnly('Set If the Outcome Is Unknown to Stop in Options.'),
		undefined,
		false,
	);
}

function asFault(error: unknown): ExplainedError {
	return error instanceof ExplainedError ? error : notReadable(error);
}

function notReadable(error: unknown): NotSent {
	if (error instanceof NotSent) return error;
	const { message, resolution } =
		error instanceof ExplainedError
			? error.explanation
			: { message: String(error), resolution: forEveryone('Try again later.') };
	const originalMessage = error instanceof ExplainedError ? error.originalMessage : undefined;
	return new NotSent(
		`The campaign could not be read before the request (If the Outcome Is Unknown is Look It Up), so it was not sent: ${message}`,
		resolution,
		originalMessage,
	);
}

function unknown(error: OutcomeUnknown, seen: string): OutcomeUnknown {
	return error.withText({
		resolution: followedBy(error.explanation.resolution, `It was looked up. ${seen}`),
	});
}
