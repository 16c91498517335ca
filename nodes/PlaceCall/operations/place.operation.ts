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
		const placed = await placeCalls(run);
		const { baseUrl } = await run.account();
		const hint = hintAboutUrl(run.context.getNode(), baseUrl);
		if (hint !== undefined) run.context.addExecutionHints({ message: hint });
		return placed;
	},
};

const RECEIVED_WHILE_LISTENING =
	"'Webhook URL' is a Test URL of n8n, which receives results only while its node listens for a test event. Enter the Production URL of a published workflow.";

const ON_THIS_COMPUTER =
	"'Webhook URL' has an address of this computer or network, which a service on the internet can't reach. Ask your n8n administrator to set WEBHOOK_URL, then copy the Production URL again.";

/** Hosts that only this computer or network reaches. */
const LOCAL =
	/^(?:[^.]+|.*\.local|0\.0\.0\.0|(?:127|10)\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+|host\.docker\.internal)$/;

function isLocal(url: string): boolean {
	return URL.canParse(url) && LOCAL.test(new URL(url).hostname);
}

/** Why the results may not arrive. The wait for the completion webhook uses its own URL. */
function hintAboutUrl({ parameters }: INode, baseUrl: string): string | undefined {
	const url: unknown = get(parameters, ['options', webhookUrl.name]);
	if (typeof url !== 'string' || parameters.waitForCompletion === 'webhook') return undefined;
	if (url.includes('/webhook-test/')) return RECEIVED_WHILE_LISTENING;
	return isLocal(url) && !isLocal(baseUrl) ? ON_THIS_COMPUTER : undefined;
}
