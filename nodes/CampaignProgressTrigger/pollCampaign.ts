import type { IPollFunctions } from 'n8n-workflow';
import { parseCampaignId } from '../shared/api/parseIds';
import { readCampaign } from '../shared/campaign';
import type { JsonObject } from '../shared/json';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { readAdditions } from '../shared/n8n/forms/options';
import { createAccountClient } from '../shared/n8n/http/accountClient';
import { currentState, isReadingOf, progressBetween, readingOf } from './campaignProgress';
import { progressFields } from './properties';

/** Reads the campaign once and returns the events since the last poll. */
export async function pollCampaign(context: IPollFunctions): Promise<JsonObject[]> {
	const form = formOf(context, progressFields);
	const campaignId = parseCampaignId(form.text('campaignId'));
	const chosen = form.choices('events');
	const additions = readAdditions(form.collection('developerSettings'));
	const { client, baseUrl } = await createAccountClient(context);

	// A test in the editor must not consume events of the published workflow.
	if (context.getMode() === 'manual') {
		return [currentState(await readCampaign(client, campaignId, additions))];
	}

	const subject = `${baseUrl}#${campaignId}`;
	// n8n stores it at publication, and then with each execution.
	const data = context.getWorkflowStaticData('node');
	const { reading } = data;
	const view = await readCampaign(client, campaignId, additions);
	// A faster poll has reported the changes in between, because n8n doesn't wait for a slow one.
	if (data.reading !== reading) return [];
	const before = isReadingOf(subject, reading) ? reading : undefined;
	const after = readingOf(subject, view, before);
	data.reading = after;
	return before === undefined ? [] : progressBetween(before, after, view, chosen);
}
