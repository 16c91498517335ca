import sumBy from 'lodash/sumBy';
import type { ApiClient } from '../../shared/api/client';
import { ExplainedError, NotSent, type OutcomeUnknown } from '../../shared/api/errors';
import { followedBy, forEveryone, onScreenOnly } from '../../shared/api/resolution';
import { readCampaign, type ContactList } from '../../shared/campaign';
import type { JsonObject } from '../../shared/json';
import type { CampaignTarget } from './pushTypes';

/** Delays between reads of the campaign after a request with an unknown outcome. */
export const LIST_SEARCH_DELAYS_MS = [1_000, 4_000, 10_000, 15_000, 30_000, 60_000] as const;

/** IDs of contact lists. */
export type ListIds = ReadonlySet<string>;

/**
 * Looks for the contact list of a request whose outcome is unknown. Sends nothing. A missing list doesn't prove that the
 * request had no effect, because the service may process it later.
 */
export class ContactListFinder {
	constructor(
		private readonly client: ApiClient,
		private readonly campaign: CampaignTarget,
		/** Waits. False if the execution was stopped, or the tool must respond. */
		private readonly pause: (milliseconds: number) => Promise<boolean>,
		private readonly isTool: boolean,
	) {}

	/** @throws NotSent if the campaign can't be read, because a new list couldn't be recognized later */
	async listsBefore(): Promise<ListIds> {
		const lists = await readLists(this.client, this.campaign.id).catch((error: unknown) => {
			throw notReadable(error);
		});
		return new Set(lists.map(({ id }) => id));
	}

	/**
	 * @param known lists that aren't from this request
	 * @returns the list in place of a response, or the unknown outcome with what was found
	 */
	async find(
		error: OutcomeUnknown,
		contacts: number,
		known: ListIds,
	): Promise<JsonObject | OutcomeUnknown> {
		let newLists: ContactList[] = [];
		let lastFailure: ExplainedError | undefined;
		for (const wait of LIST_SEARCH_DELAYS_MS) {
			if (!(await this.pause(wait))) {
				const stopped = this.isTool ? 'The tool ran out of time' : 'The execution was stopped';
				return withFinding(error, `${stopped} before the search ended.`);
			}
			const lists = await readLists(this.client, this.campaign.id).catch(toReadFailure);
			if (lists instanceof ExplainedError) {
				lastFailure = lists;
				continue;
			}
			lastFailure = undefined;
			newLists = lists.filter((list) => !known.has(list.id) && this.mayBeOurs(list));
			const [only, ...others] = newLists;
			if (only !== undefined && others.length === 0 && this.sizeOf(only) === contacts) {
				return { ...only.record, looked_up: true };
			}
		}
		if (lastFailure !== undefined) {
			return withFinding(
				error,
				`The status of the campaign couldn't be read: ${lastFailure.message}.`,
			);
		}
		return withFinding(error, this.seenLists(newLists, contacts));
	}

	/** A list of another agent isn't from this push. */
	private mayBeOurs({ record }: ContactList): boolean {
		const { agent_uuid: agent } = record;
		return agent === undefined || agent === null || agent === this.campaign.agentUuid;
	}

	/** The number of queued contacts. The status has no other size of a list. */
	private sizeOf({ queues }: ContactList): number | undefined {
		if (queues.length === 0) return undefined;
		return queues.every(({ record }) => typeof record.total_queued === 'number')
			? sumBy(queues, ({ totalQueued }) => totalQueued)
			: undefined;
	}

	private seenLists(lists: readonly ContactList[], contacts: number): string {
		if (lists.length === 0) {
			return "After two minutes, the campaign has no new contact list of this agent. The request probably didn't arrive, but this isn't certain.";
		}
		const seen = lists.map(
			(list) => `${list.id} (${this.sizeOf(list) ?? 'an unknown number'} queued)`,
		);
		const found = lists.length === 1 ? 'a new contact list' : 'new contact lists';
		return `The campaign has ${found} of this agent: ${seen.join(', ')}. The request had ${contacts} ${contacts === 1 ? 'contact' : 'contacts'}, so it's not certain that the list is from this request.`;
	}
}

async function readLists(client: ApiClient, campaignId: number): Promise<ContactList[]> {
	const { record, lists } = await readCampaign(client, campaignId);
	if (Array.isArray(record.uploads) && lists.every(({ id }) => id !== '')) return lists;
	throw new NotSent(
		"The status of the campaign has no contact lists with IDs, so the node couldn't look up a request with an unknown outcome",
		onScreenOnly("Set 'If the Outcome Is Unknown' in 'Options' to Stop."),
		undefined,
		false,
	);
}

function toReadFailure(error: unknown): ExplainedError {
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
		`The campaign couldn't be read before the request ('If the Outcome Is Unknown' is 'Look It Up'), so the request wasn't sent: ${message}`,
		resolution,
		originalMessage,
	);
}

function withFinding(error: OutcomeUnknown, finding: string): OutcomeUnknown {
	return error.withText({
		resolution: followedBy(error.explanation.resolution, finding),
	});
}
