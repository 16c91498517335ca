import type { IPollFunctions } from 'n8n-workflow';
import { parseCampaignId } from '../core/service/parseIds';
import { readCampaign } from '../core/campaigns/campaign';
import type { JsonObject } from '../core/values/json';
import { formOf } from '../host/forms/nodeParameters';
import { readAdditions } from '../host/forms/options';
import { PollMemory } from '../host/triggers/pollMemory';
import type { PollTime } from '../host/triggers/pollTime';
import { createAccountClient } from '../host/http/accountClient';
import { currentState, isReadingOf, progressBetween, readingOf } from './campaignProgress';
import { progressFields } from './properties';

/** Reads the campaign once and returns the events since the last poll. */
export async function pollCampaign(context: IPollFunctions, time: PollTime): Promise<JsonObject[]> {
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
	const memory = new PollMemory(context, 'reading', { subject });
	return await memory.exclusively(async () => {
		const view = await time.within(time.end, readCampaign(client, campaignId, additions));
		const before = isReadingOf(subject, memory.state) ? memory.state : undefined;
		const after = readingOf(subject, view, before);
		const events = before === undefined ? [] : progressBetween(before, after, view, chosen);
		memory.store(after, events.length > 0);
		return events;
	});
}
