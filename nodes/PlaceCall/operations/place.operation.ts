import get from 'lodash/get';
import type { INode } from 'n8n-workflow';
import type { Operation } from '../../shared/n8n/run/operations';
import { callSettings } from '../fields/callSettings';
import { additionalData, dataExtraction, initialGreeting } from '../fields/conversation';
import { callDeveloperSettings, callOptions, webhookUrl } from '../fields/options';
import { personName, recipientFields } from '../fields/recipient';
import { when } from '../fields/when';
import { placeCalls } from '../placeCalls';
import { waitFields } from '../wait/waitOption';

export const place: Operation = {
	value: 'place',
	name: 'Place',
	action: 'Place call',
	description: 'Call a person, now or later',
	fields: [
		...recipientFields,
		personName,
		...when,
		...waitFields,
		initialGreeting,
		dataExtraction,
		additionalData,
		callSettings,
		callOptions(webhookUrl),
		callDeveloperSettings,
	],
	toolDescription:
		'Places a real phone call: an AI agent calls the number and talks to the person who answers, now or at the given time. A call cannot be undone. Use this only if the call is wanted, and once for each person. Returns the call ID. Use the ID to read the result of the conversation later.',

	async execute(run) {
		const { context } = run;
		if (postsToTestUrl(context.getNode()))
			context.addExecutionHints({ message: RECEIVED_WHILE_LISTENING });
		return await placeCalls(run);
	},
};

const RECEIVED_WHILE_LISTENING =
	"'Webhook URL' is a Test URL of n8n, which receives results only while its node listens for a test event. Enter the Production URL of a published workflow.";

/** Whether the results go to a Test URL of n8n. The wait for the completion webhook uses its own URL. */
function postsToTestUrl({ parameters }: INode): boolean {
	const url: unknown = get(parameters, ['options', webhookUrl.name]);
	const isTestUrl = typeof url === 'string' && url.includes('/webhook-test/');
	return isTestUrl && parameters.waitForCompletion !== 'webhook';
}
