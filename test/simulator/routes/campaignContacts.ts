import { istTimestamp } from '../clock';
import {
	agentNotFound,
	campaignNotFound,
	invalid,
	numberMissing,
	ok,
	rejected,
	type SimulatorResponse,
} from '../http/responses';
import type { Route, SimulatorRequest } from '../http/route';
import { isFlag, isNonEmptyString, isObject, type JsonObject } from '../json';
import { checkedContact, withoutDuplicates, type CheckedContact } from '../rules/contacts';
import type { Campaign } from '../state/types';
import type { SimulatorState } from '../world';

const MOST_CONTACTS = 10_000;

export function campaignContactRoutes(world: SimulatorState): Route[] {
	return [
		{
			method: 'POST',
			path: '/v1/campaigns/:id/contacts',
			handle: (request) => addContacts(world, request),
		},
	];
}

function addContacts(world: SimulatorState, { params, body }: SimulatorRequest): SimulatorResponse {
	const { state, dialect } = world;
	const campaign = state.campaigns.get(Number(params.id));
	if (!campaign) return campaignNotFound(dialect);
	if (campaign.status === 'Archived') return rejected(409, dialect.campaigns.archivedText);
	if (!isObject(body)) return invalid(dialect, ['The body must be a JSON object'], 400);
	const problems = bodyProblems(body, world);
	if (problems.length > 0) return invalid(dialect, problems, 400);
	const agent = state.ownAgent(body.agent_uuid);
	if (!agent) return agentNotFound(dialect);
	const list: unknown[] = Array.isArray(body.contacts) ? body.contacts : [];
	const checked = checkedList(list, world);
	if (!checked.every(isChecked)) {
		return invalid(
			dialect,
			checked.filter((contact) => typeof contact === 'string'),
			400,
		);
	}
	const enqueue = body.enqueue === true;
	const missing = enqueue ? numberMissing(dialect, agent) : undefined;
	return missing ?? ok(store(world, campaign, agent.agentUuid, checked, enqueue));
}

function bodyProblems(body: JsonObject, { dialect }: SimulatorState): string[] {
	const { agent_uuid: agent, contacts, enqueue } = body;
	const problems: string[] = [];
	if (!isNonEmptyString(agent)) problems.push('agent_uuid is required');
	if (!Array.isArray(contacts)) problems.push('contacts must be an array');
	else if (contacts.length > MOST_CONTACTS)
		problems.push('contacts must have at most 10000 entries');
	else if (contacts.length === 0 && !dialect.campaigns.emptyListAccepted) {
		problems.push('contacts must not be empty');
	}
	if (!isFlag(enqueue)) problems.push('enqueue must be a boolean');
	return problems;
}

function isChecked(contact: CheckedContact | string): contact is CheckedContact {
	return typeof contact !== 'string';
}

/** Stops at the first invalid contact if the dialect reports only one. */
function checkedList(list: unknown[], { dialect }: SimulatorState): Array<CheckedContact | string> {
	const checked: Array<CheckedContact | string> = [];
	for (const [index, value] of list.entries()) {
		const contact = checkedContact(value, index, dialect);
		if (typeof contact === 'string' && !dialect.campaigns.reportsEveryBadContact) return [contact];
		checked.push(contact);
	}
	return checked;
}

function store(
	world: SimulatorState,
	campaign: Campaign,
	agentUuid: string,
	checked: CheckedContact[],
	enqueue: boolean,
): JsonObject {
	const { state, dialect, clock } = world;
	const unique = withoutDuplicates(checked, dialect.campaigns.duplicates);
	const dnd = state.dndPhones(agentUuid);
	const accepted = unique.filter((contact) => !dnd.has(contact.phone));
	const skipped = unique.filter((contact) => dnd.has(contact.phone));
	const id = state.nextId();
	const held = enqueue
		? accepted.filter((contact) => campaign.queuedPhones.has(contact.phone))
		: [];
	const queued = enqueue ? accepted.length - held.length : 0;
	for (const { phone, personName, extra } of accepted) {
		// The engine skips a number that it already has, so only the others wait in the queue.
		const enqueued = enqueue && !campaign.queuedPhones.has(phone);
		campaign.contacts.push({ phone, personName, extra, uploadId: id, enqueued, dialed: null });
		if (enqueued) campaign.queuedPhones.add(phone);
	}
	campaign.uploads.push({
		id,
		fileName: dialect.campaigns.fileName(id),
		agentUuid,
		createdAt: istTimestamp(clock.now()),
		queues:
			enqueue || dialect.campaigns.emptyQueueShown
				? [{ agentUuid, totalQueued: queued, completed: false }]
				: [],
	});
	const waits = campaign.status === 'Draft' || campaign.status === 'Paused';
	return {
		campaign_upload_id: id,
		contacts_received: checked.length,
		contacts_accepted:
			accepted.length + (dialect.campaigns.acceptedCountsDndSkipped ? skipped.length : 0),
		duplicates_removed: checked.length - unique.length,
		enqueued: enqueue,
		queued_calls: queued,
		engine_skipped_duplicates: held.map(({ phone, written }) =>
			dialect.campaigns.engineSkipped(phone, written),
		),
		dnd_skipped: skipped.map(({ phone, index }) => dialect.campaigns.dndSkipped(phone, index)),
		warnings: waits ? [dialect.campaigns.warning(campaign.status)] : [],
	};
}
