import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
} from '../../host/forms/options';
import { quoted } from '../../core/values/values';
import { callAgainInLoops } from '../callLimiter';
import { waitMinutes } from '../waitForCalls';
import { callSettings } from './callSettings';
import {
	additionalData,
	askAboutOptOut,
	dataExtraction,
	initialGreeting,
	systemPrompt,
} from './conversation';

/** Per agent run, also without the option, because a model may misread whom to call. */
export const DEFAULT_MAXIMUM_CALLS = 3;

const maximumCallsField: INodeProperties = {
	displayName: 'Maximum Calls per Agent Run',
	name: 'maximumCallsPerRun',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: DEFAULT_MAXIMUM_CALLS,
	description: 'How many calls one agent run or MCP session may place with this tool, 3 by default',
	displayOptions: { show: { '@tool': [true] } },
};

const webhookUrl: INodeProperties = {
	displayName: 'Webhook URL',
	name: 'webhookUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://n8n.example.com/webhook/call-completed',
	description:
		'Where the service posts the result of the call, such as the Production URL of Call Completed Trigger. The agent needs post-call analysis.',
};

export function completeUrl(url: string): string {
	if (/^https?:\/\/[^/?#]/i.test(url) && URL.canParse(url)) return url;
	throw new InvalidInput(
		`'Webhook URL' must be a complete URL (got ${quoted(url)})`,
		'It must start with https:// or http:// and contain a host, such as https://example.com/call-results.',
	);
}

const OPTIONS_OF_BOTH_OPERATIONS: INodeProperties[] = [
	initialGreeting,
	systemPrompt,
	dataExtraction,
	askAboutOptOut,
	additionalData,
	callSettings,
	waitMinutes,
	callAgainInLoops,
	maximumCallsField,
	webhookUrl,
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField(
		1,
		'How many calls to send to the service at the same time. With 1, each call is confirmed before the next one is sent.',
	),
	{
		displayName: 'Use Legacy Endpoint',
		name: 'useLegacyEndpoint',
		type: 'boolean',
		default: true,
		description:
			'Whether to place the call with the older endpoint /call instead of /v1/call. Both accept and return the same data. The older one is deprecated.',
	},
];

/** The options, with those of one operation. */
export function callOptions(...own: INodeProperties[]): INodeProperties {
	return optionsCollection(...OPTIONS_OF_BOTH_OPERATIONS, ...own);
}
