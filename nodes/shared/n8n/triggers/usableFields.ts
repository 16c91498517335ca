import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { explained, type ExplainedError, InvalidInput } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import { activeTrigger, triggerKey } from './activeTriggers';
import { toNodeError } from '../run/nodeErrors';
import { RareNotice } from './notices';
import type { RejectedDelivery } from './webhookResponse';

/** The owner can correct it, and the sender can try again. */
const UNUSABLE_FIELD: RejectedDelivery = {
	status: 503,
	message: "A field of this trigger can't be used. Send the request again later.",
	retryAfter: 60,
};

/** Notices of the active triggers that use `readUsable`. */
const notices = new WeakMap<ITriggerFunctions, RareNotice<ExplainedError>>();

/**
 * Call this in `trigger()`: an invalid field or setting stops the workflow from being published.
 *
 * @param read reads every field
 * @param signal aborted when the trigger closes
 */
export function requireUsable<T>(
	trigger: ITriggerFunctions,
	read: () => T,
	signal: AbortSignal,
): T {
	try {
		const fields = read();
		requireEmptyOutput(trigger);
		notices.set(trigger, rejectionNotice(trigger, signal));
		return fields;
	} catch (error) {
		throw toNodeError(trigger.getNode(), error);
	}
}

/** The execution of a repeated event ends because the trigger returns nothing. */
function requireEmptyOutput(trigger: ITriggerFunctions): void {
	if (trigger.getNode().alwaysOutputData !== true) return;
	throw new InvalidInput(
		"'Always Output Data' in the settings of this trigger must be off",
		onScreenOnly(
			'Turn it off. With it, an event that repeats can start the workflow with an empty item.',
		),
	);
}

/**
 * Reads the fields that `webhook()` needs. A variable in an expression can be removed after the workflow was published.
 * Then the request is rejected, and the owner is notified. In the editor's test, the editor shows the error.
 */
export function readUsable<T>(
	context: IWebhookFunctions,
	read: () => T,
): { fields: T } | { rejected: RejectedDelivery } {
	try {
		return { fields: read() };
	} catch (error) {
		if (context.getMode() === 'manual') throw toNodeError(context.getNode(), error);
		noteUnusable(context, explained(error));
		return { rejected: UNUSABLE_FIELD };
	}
}

/** Notifies the owner, if the trigger is active in this process. */
export function noteUnusable(context: IWebhookFunctions, error: ExplainedError): void {
	const trigger = activeTrigger(triggerKey(context));
	if (trigger !== undefined) notices.get(trigger)?.add(error);
}

/** Notifies the owner of requests that were rejected because a field of the trigger is invalid. */
export function rejectionNotice(
	trigger: ITriggerFunctions,
	signal: AbortSignal,
): RareNotice<ExplainedError> {
	return new RareNotice(signal, (times, { message, resolution }) => {
		const requests = times === 1 ? 'A request was' : `${times} requests were`;
		const error = new InvalidInput(`${requests} rejected: ${message}`, onScreenOnly(resolution));
		trigger.saveFailedExecution(toNodeError(trigger.getNode(), error));
	});
}
