import type { IPollFunctions } from 'n8n-workflow';
import { readAdditions } from '../shared/n8n/forms/options';
import { triggerKey } from '../shared/n8n/triggers/activeTriggers';
import { createAccountClient } from '../shared/n8n/http/accountClient';
import {
	type Baseline,
	nextBaseline,
	presentState,
	progressBetween,
	PROGRESS_EVENTS,
	readBaseline,
} from './campaignProgress';
import { viewCampaign } from '../shared/campaign';
import { getCampaignStatus } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { parseCampaignId } from '../shared/api/parseIds';
import type { JsonObject } from '../shared/json';
import { MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { progressFields } from './properties';

/** By the trigger. Looks may overlap, and a workflow that is published anew begins with what was stored by then. */
const latest = new Map<string, Baseline>();

function latestBaseline(context: IPollFunctions, subject: string): Baseline | undefined {
	const stored = readBaseline(context.getWorkflowStaticData('node').baseline, subject);
	const known = readBaseline(latest.get(triggerKey(context)), subject);
	return (known?.looks ?? 0) > (stored?.looks ?? 0) ? known : stored;
}

function keep(context: IPollFunctions, baseline: Baseline): void {
	context.getWorkflowStaticData('node').baseline = baseline;
	latest.set(triggerKey(context), baseline);
}

/** Looks at the campaign once and returns what happened since the last look. */
export async function pollCampaign(context: IPollFunctions): Promise<JsonObject[]> {
	const form = formOf(context, progressFields);
	const campaignId = parseCampaignId(form.textOrNumber('campaignId', MAY_BE_BLANK));
	const chosen = form.choices('events');
	const emitsFirst = form.switch('emitBaseline', false);
	const additions = readAdditions(form.collection('options'));
	const { client, baseUrl } = await createAccountClient(context);
	const subject = `${baseUrl}#${campaignId}`;
	const before = latestBaseline(context, subject);
	const answer = await getCampaignStatus(client, campaignId, additions);
	const view = viewCampaign(recordOf(answer));

	// A trial in the editor must not swallow what the active workflow has yet to see.
	if (context.getMode() === 'manual') return [presentState(view)];

	const former = latestBaseline(context, subject);
	// A slow look would bring back what a faster one has passed.
	if (former?.looks !== before?.looks) return [];
	keep(context, nextBaseline(subject, view, former));
	if (former === undefined) return emitsFirst ? [presentState(view)] : [];
	const kinds = PROGRESS_EVENTS.filter((kind) => chosen.includes(kind));
	return progressBetween(former, view, kinds);
}
