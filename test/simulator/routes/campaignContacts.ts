import { istTimestamp } from '../clock';
import { invalid, notFound, numberMissing, ok, rejected, type Handler } from '../http/route';
import { isFlag, isNonEmptyString, isObject, type JsonObject } from '../json';
import { checkedContacts, withoutDuplicates, type CheckedContact } from '../rules/contacts';
import type { Simulator } from '../simulator';
import type { Campaign } from '../state/state';

const MAX_CONTACTS = 10_000;

export const addContacts: Handler = (sim, { params, body }) => {
	const { state, dialect } = sim;
	const campaign = state.campaigns.get(Number(params.id));
	if (!campaign) return notFound(sim, 'campaignNotFound');
	if (campaign.status === 'Archived') return rejected(409, dialect.campaigns.archivedText);
	if (!isObject(body)) return invalid(sim, ['The body must be a JSON object'], 400);
	const problems = bodyProblems(body);
	if (problems.length > 0) return invalid(sim, problems, 400);
	const agent = state.ownAgent(body.agent_uuid);
	if (!agent) return notFound(sim, 'agentNotFound');
	const list: unknown[] = Array.isArray(body.contacts) ? body.contacts : [];
	const checked = checkedContacts(list, dialect);
	if (checked.problems.length > 0) return invalid(sim, checked.problems, 400);
	const enqueue = body.enqueue === true;
	const missing = enqueue ? numberMissing(sim, agent) : undefined;
	return missing ?? ok(store(sim, campaign, agent.agentUuid, checked.contacts, enqueue));
};

function bodyProblems({ agent_uuid: agent, contacts, enqueue }: JsonObject): string[] {
	const problems: string[] = [];
	if (!isNonEmptyString(agent)) problems.push('agent_uuid is required');
	if (!Array.isArray(contacts)) problems.push('contacts must be an array');
	else if (contacts.length === 0) problems.push('contacts must not be empty');
	else if (contacts.length > MAX_CONTACTS) problems.push('contacts has more than 10000 entries');
	if (!isFlag(enqueue)) problems.push('enqueue must be a boolean');
	return problems;
}

function store(
	{ state, dialect: { campaigns }, clock }: Simulator,
	campaign: Campaign,
	agentUuid: string,
	contacts: CheckedContact[],
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
