import omit from 'lodash/omit';
import set from 'lodash/set';
import type { INodeProperties } from 'n8n-workflow';
import type { CallConfigOverrides } from '../../core/service/contractTypes';
import { InvalidInput } from '../../core/service/errors';
import { LIMITS } from '../../core/service/limits';
import type { Fields } from '../../host/forms/fields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
} from '../../host/forms/options';
import { quoted } from '../../core/values/values';
import { callAgainInLoops } from '../callLimiter';
import { waitMinutes } from '../waitForCalls';
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
	typeOptions: { minValue: 1, maxValue: 1_000, numberPrecision: 0 },
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

type Bounds = { min: number; max: number };

const fromTo = ({ min, max }: Bounds) => `from ${min} to ${max}`;

/** A switch, or a whole number within bounds. */
type Setting = Pick<INodeProperties, 'displayName' | 'name' | 'default' | 'description'> & {
	/** Its path in the overrides. */
	path: string;
} & ({ type: 'boolean' } | { type: 'number'; bounds: Bounds });

const SETTINGS: Setting[] = [
	{
		displayName: 'Allow Callback',
		name: 'enableCallback',
		path: 'enable_callback',
		type: 'boolean',
		default: true,
		description: 'Whether the person may trigger a callback',
	},
	{
		displayName: 'Maximum Duration (Seconds)',
		name: 'maxCallDurationSeconds',
		path: 'max_call_duration_seconds',
		type: 'number',
		bounds: LIMITS.maxCallDurationSeconds,
		default: '',
		description: `The maximum length of the call, ${fromTo(LIMITS.maxCallDurationSeconds)} seconds`,
	},
	{
		displayName: 'Retry Attempts',
		name: 'retryMaxAttempts',
		path: 'retry_config.max_attempts',
		type: 'number',
		bounds: LIMITS.retryMaxAttempts,
		default: '',
		description: `The maximum number of attempts, ${fromTo(LIMITS.retryMaxAttempts)}. Add 'Retry When Not Answered', too. Whether the first call counts isn't documented.`,
	},
	{
		displayName: 'Retry Interval (Minutes)',
		name: 'retryIntervalMinutes',
		path: 'retry_config.interval_minutes',
		type: 'number',
		bounds: LIMITS.retryIntervalMinutes,
		default: '',
		description: `The interval of the retries, ${fromTo(LIMITS.retryIntervalMinutes)} minutes`,
	},
	{
		displayName: 'Retry When Not Answered',
		name: 'retryEnabled',
		path: 'retry_config.enabled',
		type: 'boolean',
		default: true,
		description: "Whether the service retries automatically if the call isn't answered",
	},
];

/** What overrides the agent's settings for this call. */
export const callSettings: INodeProperties = {
	displayName: 'Call Settings',
	name: 'callSettings',
	type: 'collection',
	placeholder: 'Add Setting',
	default: {},
	description: "Maximum duration, retries, and callback of this call, in place of the agent's own",
	options: SETTINGS.map((setting): INodeProperties => {
		const property = omit(setting, 'path', 'bounds');
		if (setting.type === 'boolean') return property;
		const { min, max } = setting.bounds;
		return { ...property, typeOptions: { minValue: min, maxValue: max, numberPrecision: 0 } };
	}),
};

/**
 * Undefined if none is set.
 *
 * @throws InvalidInput if one is out of bounds
 */
export function readCallSettings(options: Fields): CallConfigOverrides | undefined {
	const settings = options.collection(callSettings.name);
	const added = SETTINGS.filter(({ name }) => settings.has(name));
	const overrides: CallConfigOverrides = {};
	for (const { path, name, type } of added) {
		const value = type === 'boolean' ? settings.switch(name, true) : settings.wholeNumber(name);
		set(overrides, path, value);
	}
	return added.length > 0 ? overrides : undefined;
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
