import { istTimestamp } from '../clock';
import { invalid, notFound, numberMissing, ok, rejected, type Handler } from '../http/route';
import { isObject, type JsonObject } from '../json';
import {
	contactProblems,
	storedContacts,
	withoutDuplicates,
	type SentContact,
} from '../rules/contacts';
import type { Simulator } from '../simulator';
import type { Campaign } from '../state/state';

export const addContacts: Handler = (sim, { params, body }) => {
	const { state, dialect } = sim;
	const campaign = state.campaigns.get(Number(params.id));
	if (!campaign) return notFound(sim, 'campaignNotFound');
	if (campaign.status === 'Archived') return rejected(409, dialect.campaigns.archivedText);
	const { agent_uuid: agentUuid, contacts: list, enqueue } = isObject(body) ? body : {};
	const agent = state.ownAgent(agentUuid);
	if (!agent) return notFound(sim, 'agentNotFound');
	const contacts = storedContacts(Array.isArray(list) ? list : []);
	const problems = contactProblems(contacts, dialect);
	if (problems.length > 0) return invalid(sim, problems, 400);
	const isReleased = enqueue === true;
	const missing = isReleased ? numberMissing(sim, agent) : undefined;
	return missing ?? ok(store(sim, campaign, agent.agentUuid, contacts, isReleased));
};

function store(
	{ state, dialect: { campaigns }, clock }: Simulator,
	campaign: Campaign,
	agentUuid: string,
	contacts: SentContact[],
	enqueue: boolean,
): JsonObject {
	const unique = withoutDuplicates(contacts, campaigns.duplicates);
	const dnd = state.dndPhones(agentUuid);
	const accepted = unique.filter((contact) => !dnd.has(contact.phone));
	const skipped = unique.filter((contact) => dnd.has(contact.phone));
	const id = state.nextId();
	// The engine skips a number that it already has, so only the others wait in the queue.
	const known = accepted.filter(({ phone }) => enqueue && campaign.queuedPhones.has(phone));
	const queued = enqueue ? accepted.length - known.length : 0;
	for (const { phone, personName, extra } of accepted) {
		const enqueued = enqueue && !campaign.queuedPhones.has(phone);
		campaign.contacts.push({ phone, personName, extra, uploadId: id, enqueued, dialed: null });
		if (enqueued) campaign.queuedPhones.add(phone);
	}
	campaign.uploads.push({
		id,
		fileName: `api_upload_${id}.csv`,
		agentUuid,
		createdAt: istTimestamp(clock.now()),
		queues:
			enqueue || campaigns.emptyQueueShown
				? [{ agentUuid, totalQueued: queued, completed: false }]
				: [],
	});
	return {
		campaign_upload_id: id,
		contacts_received: contacts.length,
		contacts_accepted: accepted.length + (campaigns.acceptedCountsDndSkipped ? skipped.length : 0),
		duplicates_removed: contacts.length - unique.length,
		enqueued: enqueue,
		queued_calls: queued,
		engine_skipped_duplicates: known.map(({ phone, written }) =>
			campaigns.engineSkipped(phone, written),
		),
		dnd_skipped: skipped.map(({ phone, index }) => campaigns.dndSkipped(phone, index)),
		warnings: campaign.status === 'Active' ? [] : [campaigns.warning(campaign.status)],
	};
}
