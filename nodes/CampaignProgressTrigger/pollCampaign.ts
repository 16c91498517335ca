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
import { InvalidInput } from '../shared/api/errors';
import { readCampaign } from '../shared/campaign';
import { parseCampaignId } from '../shared/api/parseIds';
import { onScreenOnly } from '../shared/api/resolution';
import type { JsonObject } from '../shared/json';
import { MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { progressFields } from './properties';

/** By trigger: the latest baseline. n8n stores it under the name of the node, so a renamed node has no stored one. */
const latest = new Map<string, Baseline>();

/**
 * By trigger: the latest baseline without events to report. n8n stores a baseline only together with events, and discards
 * both if the workflow is published again or unpublished during the poll.
 */
const latestWithoutEvents = new Map<string, Baseline>();

/** By trigger: the context of the publication whose poll began last. */
const publications = new Map<string, WeakRef<IPollFunctions>>();

function latestBaseline(context: IPollFunctions, subject: string): Baseline | undefined {
	const trigger = triggerKey(context);
	const stored = readBaseline(context.getWorkflowStaticData('node').baseline, subject);
	if (stored === undefined) return readBaseline(latest.get(trigger), subject);
	const inMemory = readBaseline(latestWithoutEvents.get(trigger), subject);
	return (inMemory?.polls ?? 0) > stored.polls ? inMemory : stored;
}

/** Reads the campaign once and returns the events since the last poll. */
export async function pollCampaign(context: IPollFunctions): Promise<JsonObject[]> {
	requireAllItems(context);
	const form = formOf(context, progressFields);
	const campaignId = parseCampaignId(form.textOrNumber('campaignId', MAY_BE_BLANK));
	const chosen = form.choices('events');
	const emitsFirst = form.switch('emitBaseline', false);
	const additions = readAdditions(form.collection('options'));
	const { client, baseUrl } = await createAccountClient(context);
	const subject = `${baseUrl}#${campaignId}`;

	// A test in the editor must not consume events of the published workflow.
	if (context.getMode() === 'manual') {
		return [currentState(await readCampaign(client, campaignId, additions))];
	}

	const trigger = triggerKey(context);
	publications.set(trigger, new WeakRef(context));
	const before = latestBaseline(context, subject);
	const view = await readCampaign(client, campaignId, additions);
	const previous = latestBaseline(context, subject);
	// A faster poll has already reported newer events, or the next publication reports them.
	const isLatest = publications.get(trigger)?.deref() === context;
	if (previous?.polls !== before?.polls || !isLatest) return [];
	const baseline = nextBaseline(subject, view, previous);
	const kinds = PROGRESS_EVENTS.filter((kind) => chosen.includes(kind));
	const first = emitsFirst ? [currentState(view)] : [];
	const events = previous === undefined ? first : progressBetween(previous, view, kinds);
	context.getWorkflowStaticData('node').baseline = baseline;
	latest.set(trigger, baseline);
	if (events.length === 0) latestWithoutEvents.set(trigger, baseline);
	return events;
}

/** The events of a check are the items of one execution. */
function requireAllItems(context: IPollFunctions): void {
	if (context.getNode().executeOnce !== true) return;
	throw new InvalidInput(
		"'Execute Once' in the settings of this trigger must be off",
		onScreenOnly('Turn it off. With it, n8n drops all events of a check except the first one.'),
	);
}
