import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { OutcomeKeys } from '../shared/calls/callEnd';
import { triggerKey } from '../shared/n8n/triggers/activeTriggers';

/** By trigger, active in this process or not. */
const ofVerified = new Map<string, OutcomeKeys>();

/** By trigger. Anyone can report a call that isn't verified, so such reports must not change the keys of verified ones. */
const ofUnverified = new Map<string, OutcomeKeys>();

/** The keys of a trigger. A test in the editor has its own, because it uses no key. */
export function outcomeKeysOf(
	context: ITriggerFunctions | IWebhookFunctions,
	isVerified = true,
): OutcomeKeys {
	if (context.getMode() === 'manual') return new OutcomeKeys();
	const byTrigger = isVerified ? ofVerified : ofUnverified;
	const trigger = triggerKey(context);
	const keys = byTrigger.get(trigger) ?? new OutcomeKeys();
	byTrigger.set(trigger, keys);
	return keys;
}
