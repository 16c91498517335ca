import type { IPollFunctions } from 'n8n-workflow';
import { readAdditions } from '../shared/n8n/forms/options';
import { triggerKey } from '../shared/n8n/triggers/activeTriggers';
import { createAccountClient } from '../shared/n8n/http/accountClient';
import {
	type Baseline,
	nextBaseline,
	currentState,
	progressBetween,
	PROGRESS_EVENTS,
	readBaseline,
} from './campaignProgress';
import { readCampaign } from '../shared/campaign';
import { parseCampaignId } from '../shared/api/parseIds';
import type { JsonObject } from '../shared/json';
import { MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { progressFields } from './properties';

/** The latest baseline of each trigger. Polls may overlap, and a republished workflow starts with the stored baseline. */
const latest = new Map<string, Baseline>();

function latestBaseline(context: IPollFunctions, subject: string): Baseline | undefined {
	const stored = readBaseline(context.getWorkflowStaticData('node').baseline, subject);
	const inMemory = readBaseline(latest.get(triggerKey(context)), subject);
	return (inMemory?.polls ?? 0) > (stored?.polls ?? 0) ? inMemory : stored;
}

function store(context: IPollFunctions, baseline: Baseline): void {
	context.getWorkflowStaticData('node').baseline = baseline;
	latest.set(triggerKey(context), baseline);
}

/** Reads the campaign once and returns the events since the last poll. */
export async function pollCampaign(context: IPollFunctions): Promise<JsonObject[]> {
	const form = formOf(context, progressFields);
	const campaignId = parseCampaignId(form.textOrNumber('campaignId', MAY_BE_BLANK));
	const chosen = form.choices('events');
	const emitsFirst = form.switch('emitBaseline', false);
	const additions = readAdditions(form.collection('options'));
	const { client, baseUrl } = await createAccountClient(context);
	const subject = `${baseUrl}#${campaignId}`;
	const before = latestBaseline(context, subject);
	const view = await readCampaign(client, campaignId, additions);

	// A test in the editor must not consume events of the published workflow.
	if (context.getMode() === 'manual') return [currentState(view)];

	const previous = latestBaseline(context, subject);
	// A faster poll has already reported newer events.
	if (previous?.polls !== before?.polls) return [];
	store(context, nextBaseline(subject, view, previous));
	if (previous === undefined) return emitsFirst ? [currentState(view)] : [];
	const kinds = PROGRESS_EVENTS.filter((kind) => chosen.includes(kind));
	return progressBetween(previous, view, kinds);
}
