import groupBy from 'lodash/groupBy';
import type { INodeProperties, IPollFunctions } from 'n8n-workflow';
import {
	type CampaignUpload,
	type CampaignView,
	isCompleted,
	listsToCompare,
	readCampaign,
} from '../core/campaigns/campaign';
import { parseCampaignId } from '../core/service/parseIds';
import { isJsonObject, type JsonObject } from '../core/values/json';
import { campaignField } from '../host/forms/campaignField';
import { formOf } from '../host/forms/nodeParameters';
import { additionalQueryParameters, developerSettings, readAdditions } from '../host/forms/options';
import { createAccountClient } from '../host/http/accountClient';
import { checkSince, type PollTime } from '../host/triggers/poll';

/** The form, from top to bottom. */
export const progressFields: INodeProperties[] = [
	{
		...campaignField,
		description: 'The campaign to follow',
	},
	{
		displayName: 'Trigger On',
		name: 'events',
		type: 'multiOptions',
		noDataExpression: true,
		options: [
			{
				name: 'Call Counts Changed',
				value: 'call_counts_changed',
				description:
					'The call counts changed since the last check. Counts are attempts, not contacts.',
			},
			{
				name: 'Queue Completed',
				value: 'queue_completed',
				description: 'The calling queue of a contact list is completed',
			},
			{
				name: 'Status Changed',
				value: 'status_changed',
				description: 'The campaign was activated, paused, or archived',
			},
		],
		default: ['queue_completed', 'status_changed'],
		required: true,
		description: 'What starts the workflow. The node returns one item per event.',
	},
	developerSettings(additionalQueryParameters),
];

/** Reads the campaign once and returns the events since the last poll. */
export async function pollCampaign(context: IPollFunctions, time: PollTime): Promise<JsonObject[]> {
	const form = formOf(context, progressFields);
	const campaignId = parseCampaignId(form.text('campaignId'));
	const chosen = form.choices('events');
	const additions = readAdditions(form.collection('developerSettings'));
	const { client, baseUrl } = await createAccountClient(context);
	const reading = async () => await readCampaign(client, campaignId, additions);

	// A test in the editor must not consume events of the published workflow.
	if (context.getMode() === 'manual') {
		const view = await reading();
		return [{ event: 'current_state', ...stateOf(view), uploads: view.record.uploads ?? [] }];
	}

	const subject = `${baseUrl}#${campaignId}`;
	return await checkSince(context, 'reading', { subject }, async (stored) => {
		const view = await time.within(time.end, reading());
		const before = isReadingOf(subject, stored) ? stored : undefined;
		const state = readingOf(subject, view, before);
		if (before === undefined) return { events: [], state };
		const events = [
			...statusChange(before, state),
			...completions(before, view),
			...countChange(before, state),
		].filter(({ event }) => chosen.includes(event));
		return { events: events.map((event) => ({ ...event, ...stateOf(view) })), state };
	});
}

/** What the trigger remembers of its last reading. Null for what no reading had. */
type Reading = {
	/** The service and campaign. The first reading of another one is compared with nothing. */
	subject: string;
	status: string | null;
	total: number | null;
	byStatus: { [status: string]: number };
	/** The completed queues of each contact list. */
	completed: { [listId: string]: string[] } | null;
};

/** What the response lacks stays the same, so that it isn't a change when it returns. */
function readingOf(subject: string, view: CampaignView, previous?: Reading): Reading {
	const uploads = listsToCompare(view)?.filter(({ queues }) => queues.length > 0);
	const listed = uploads?.map((upload): [string, string[]] => [
		upload.id,
		completedQueues(upload).map(([name]) => name),
	]);
	const known = previous?.completed ?? null;
	return {
		subject,
		status: view.status ?? previous?.status ?? null,
		total: view.calls?.total ?? previous?.total ?? null,
		byStatus: view.calls?.byStatus ?? previous?.byStatus ?? {},
		completed: listed === undefined ? known : { ...known, ...Object.fromEntries(listed) },
	};
}

/**
 * The completed queues of a list, each with a name: its agent and contacts, because a queue has no ID, and may be completed
 * again with other contacts. Equal ones are numbered.
 */
function completedQueues({ queues }: CampaignUpload): Array<[name: string, queue: JsonObject]> {
	const completed = queues.filter((queue) => queue.completed === true);
	const equal = groupBy(completed, ({ agent_uuid: agent, total_queued: count }) =>
		JSON.stringify([agent, count]),
	);
	return Object.entries(equal).flatMap(([name, same]) =>
		same.map((queue, nth): [string, JsonObject] => [`${name} ${nth}`, queue]),
	);
}

type ProgressEvent = JsonObject & { event: string };

function statusChange({ status: from }: Reading, { status: to }: Reading): ProgressEvent[] {
	return from === null || to === from ? [] : [{ event: 'status_changed', from, to }];
}

function completions({ completed }: Reading, { uploads = [] }: CampaignView): ProgressEvent[] {
	if (completed === null) return [];
	return uploads.flatMap((upload) => {
		const known = completed[upload.id] ?? [];
		const ended = completedQueues(upload).filter(([name]) => !known.includes(name));
		return ended.map(([, queue]) => ({
			event: 'queue_completed',
			campaign_upload_id: upload.record.campaign_upload_id ?? null,
			file_name: upload.record.file_name ?? null,
			list_completed: isCompleted(upload),
			queue,
		}));
	});
}

function countChange(before: Reading, after: Reading): ProgressEvent[] {
	if (before.total === null) return [];
	const statuses = new Set([...Object.keys(before.byStatus), ...Object.keys(after.byStatus)]);
	const changes = [...statuses]
		.map((name) => ({ name, from: before.byStatus[name] ?? 0, to: after.byStatus[name] ?? 0 }))
		.filter(({ from, to }) => from !== to)
		.map(({ name, from, to }): [string, JsonObject] => [name, { from, to }]);
	if (after.total === before.total && changes.length === 0) return [];
	const total = { from: before.total, to: after.total };
	return [{ event: 'call_counts_changed', total, by_status: Object.fromEntries(changes) }];
}

function stateOf({ campaign, record }: CampaignView): JsonObject {
	return { campaign, calls: record.calls ?? {} };
}

/** Whether n8n has stored a reading of this campaign. */
function isReadingOf(subject: string, stored: unknown): stored is Reading {
	return (
		isJsonObject(stored) &&
		stored.subject === subject &&
		isJsonObject(stored.byStatus) &&
		(stored.completed === null || isJsonObject(stored.completed))
	);
}
