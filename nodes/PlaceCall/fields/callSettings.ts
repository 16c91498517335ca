import merge from 'lodash/merge';
import type { INodeProperties } from 'n8n-workflow';
import { LIMITS } from '../../shared/api/limits';
import { forEveryone } from '../../shared/api/resolution';
import type { CallConfigOverrides } from '../../shared/api/endpoints';
import type { Fields } from '../../shared/n8n/forms/fields';
import { type Checked, problem } from '../../shared/values';
import type { CallDraft, CallField } from './callDraft';

type Bounds = { min: number; max: number };

/** Reads one setting into its part of the overrides. */
type Setting = {
	property: INodeProperties;
	read: (draft: CallDraft, settings: Fields) => CallConfigOverrides | undefined;
};

/** The settings in the order of the form, which is alphabetical. */
const SETTINGS: Setting[] = [
	onOrOff(
		{
			displayName: 'Allow Callback',
			name: 'enableCallback',
			description: 'Whether the person may trigger a callback',
		},
		(value) => ({ enable_callback: value }),
	),
	wholeNumber(
		LIMITS.maxCallDurationSeconds,
		{
			displayName: 'Maximum Duration (Seconds)',
			name: 'maxCallDurationSeconds',
			default: 600,
			description: 'The maximum length of the call, from 30 to 1800 seconds',
		},
		(value) => ({ max_call_duration_seconds: value }),
	),
	wholeNumber(
		LIMITS.retryMaxAttempts,
		{
			displayName: 'Retry Attempts',
			name: 'retryMaxAttempts',
			default: 3,
			description:
				"The maximum number of attempts, from 1 to 10. The service doesn't document whether the first call counts as an attempt.",
		},
		(value) => ({ retry_config: { max_attempts: value } }),
	),
	wholeNumber(
		LIMITS.retryIntervalMinutes,
		{
			displayName: 'Retry Interval (Minutes)',
			name: 'retryIntervalMinutes',
			default: 30,
			description: 'The interval of the retries, from 1 to 1440 minutes (a day)',
		},
		(value) => ({ retry_config: { interval_minutes: value } }),
	),
	onOrOff(
		{
			displayName: 'Retry When Not Answered',
			name: 'retryEnabled',
			description: "Whether the service retries automatically if the call isn't answered",
		},
		(value) => ({ retry_config: { enabled: value } }),
	),
];

export const callSettings: CallField = {
	properties: [
		{
			displayName: 'Call Settings',
			name: 'callConfigOverrides',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			description: "Settings for this call that override the agent's",
			options: SETTINGS.map(({ property }) => property),
		},
	],
	addTo(draft, fields) {
		const settings = fields.collection('callConfigOverrides');
		for (const { read } of SETTINGS) {
			const part = read(draft, settings);
			if (part === undefined) continue;
			const { call_config_overrides: before } = draft.request;
			draft.set('call_config_overrides', merge({}, before, part));
		}
	},
};

function onOrOff(
	property: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	part: (value: boolean) => CallConfigOverrides,
): Setting {
	return {
		property: { ...property, type: 'boolean', default: true },
		read: (_draft, settings) => {
			const value = settings.switch(property.name, undefined);
			return value === undefined ? undefined : part(value);
		},
	};
}

function wholeNumber(
	bounds: Bounds,
	property: Pick<INodeProperties, 'displayName' | 'name' | 'default' | 'description'>,
	part: (value: number) => CallConfigOverrides,
): Setting {
	const { min, max } = bounds;
	return {
		property: {
			...property,
			type: 'number',
			typeOptions: { minValue: min, maxValue: max, numberPrecision: 0 },
		},
		read: (draft, settings) => {
			const value = settings.number(property.name, undefined);
			if (value === undefined) return undefined;
			const number = draft.take(withinBounds(property.displayName, bounds, value));
			return number === undefined ? undefined : part(number);
		},
	};
}

function withinBounds(label: string, { min, max }: Bounds, value: number): Checked<number> {
	if (Number.isInteger(value) && value >= min && value <= max) return { value };
	return problem(
		`'${label}' must be a whole number from ${min} to ${max} (got ${value})`,
		forEveryone(`Enter a whole number from ${min} to ${max}.`),
	);
}
