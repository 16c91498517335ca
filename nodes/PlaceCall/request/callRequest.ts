import { InvalidInput } from '../../shared/api/errors';
import type { Reader } from '../../shared/api/modelAdvice';
import { checkAgentUuid } from '../../shared/api/parseIds';
import { LIMITS } from '../../shared/api/limits';
import type { CallConfigOverrides, CallRequest } from '../../shared/api/types';
import { type Checked, isUnset, type Problem } from '../../shared/values';
import { callingHours, type CallingHours, type WrittenHours } from './callingHours';
import { phoneNumber } from './callPhone';
import {
	additionalData,
	boolean,
	dataPoint,
	initialGreeting,
	integer,
	namedValue,
	text,
	webhookUrl,
	type DataPoint,
	type NamedValue,
} from './callRequestFields';
import { countryCode } from './countries';
import { scheduledAt, type Schedule } from './schedule';

/** The fields of a call from the form. Empty values count as not set. */
export type CallFields = {
	agentUuid: unknown;
	countryCode: unknown;
	phoneNumber: unknown;
	personName?: unknown;
	/** Set if the call is for later. Then its value must not be empty. */
	schedule?: Schedule | undefined;
	/** Set if the call has calling hours. */
	callingHours?: WrittenHours | undefined;
	outsideCallingHours?: unknown;
	/** An object or its JSON text. */
	additionalData?: unknown;
	/** The same from rows of the form. */
	additionalDataFields?: NamedValue[] | undefined;
	dataExtraction?: DataPoint[] | undefined;
	maxCallDurationSeconds?: unknown;
	enableCallback?: unknown;
	retryEnabled?: unknown;
	retryMaxAttempts?: unknown;
	retryIntervalMinutes?: unknown;
	initialGreeting?: unknown;
	systemPrompt?: unknown;
	webhookUrl?: unknown;
};

/** A checked request, and the calling hours of the call. */
export type CheckedCall = { request: CallRequest; hours: CallingHours | undefined };

/**
 * Builds the request and checks every documented limit.
 *
 * @throws InvalidInput naming all fields to correct
 */
export function buildCall(fields: CallFields): CheckedCall {
	const problems: Problem[] = [];
	const take = <T>(checked: Checked<T>): T | undefined => {
		if ('value' in checked) return checked.value;
		problems.push(checked.problem);
		return undefined;
	};
	const takeSet = <T>(value: unknown, check: (value: unknown) => Checked<T>): T | undefined =>
		isUnset(value) ? undefined : take(check(value));

	const agent = take(checkAgentUuid(fields.agentUuid));
	const country = take(countryCode(fields.countryCode));
	const phone = take(phoneNumber(fields.phoneNumber, country));
	const rows = fields.additionalDataFields?.map((row, i) => take(namedValue(row, i + 1)));
	const dataFields = rows && Object.fromEntries(rows.filter(isDefined));
	const dataJson = takeSet(fields.additionalData, additionalData);
	const points = fields.dataExtraction?.map((point, i) => take(dataPoint(point, i + 1)));
	const hours =
		fields.callingHours === undefined
			? undefined
			: take(callingHours(fields.callingHours, fields.outsideCallingHours));
	const optional = {
		person_name: takeSet(fields.personName, (value) => text('Person Name', value)),
		scheduled_at: fields.schedule && take(scheduledAt(fields.schedule)),
		additional_data:
			dataJson && dataFields ? { ...dataJson, ...dataFields } : (dataJson ?? dataFields),
		data_extraction: points?.filter(isDefined),
		call_config_overrides: overrides(fields, takeSet),
		initial_greeting: takeSet(fields.initialGreeting, initialGreeting),
		system_prompt: takeSet(fields.systemPrompt, (value) => text('System Prompt', value)),
		webhook_url: takeSet(fields.webhookUrl, webhookUrl),
	};
	if (agent === undefined || phone === undefined || country === undefined || problems.length > 0) {
		throw needsAttention(problems);
	}
	const required = { agent_uuid: agent, phone_number: phone, country_code: country };
	return { request: { ...required, ...onlySet(optional) }, hours };
}

/** Only the request. */
export function buildCallRequest(fields: CallFields): CallRequest {
	return buildCall(fields).request;
}

function needsAttention(problems: Problem[]): InvalidInput {
	const [first, ...others] = problems;
	if (first !== undefined && others.length === 0)
		return new InvalidInput(first.message, first.resolution);
	const numbered = (reader: Reader) =>
		problems
			.map(({ message, resolution }, i) => `(${i + 1}) ${message}. ${resolution[reader]}`.trim())
			.join(' ');
	return new InvalidInput(`${problems.length} fields need attention, so the call wasn't placed`, {
		onScreen: numbered('onScreen'),
		forModel: numbered('forModel'),
	});
}

type TakeSet = <T>(value: unknown, check: (value: unknown) => Checked<T>) => T | undefined;

function overrides(fields: CallFields, takeSet: TakeSet): CallConfigOverrides | undefined {
	const retry = onlySet({
		enabled: takeSet(fields.retryEnabled, (value) => boolean("'Retry When Not Answered'", value)),
		max_attempts: takeSet(fields.retryMaxAttempts, (value) =>
			integer('Retry Attempts', '', LIMITS.retryMaxAttempts, value),
		),
		interval_minutes: takeSet(fields.retryIntervalMinutes, (value) =>
			integer('Retry Interval (Minutes)', ' of minutes', LIMITS.retryIntervalMinutes, value),
		),
	});
	const all = onlySet({
		max_call_duration_seconds: takeSet(fields.maxCallDurationSeconds, (value) =>
			integer(
				'Maximum Call Duration (Seconds)',
				' of seconds',
				LIMITS.maxCallDurationSeconds,
				value,
			),
		),
		enable_callback: takeSet(fields.enableCallback, (value) => boolean("'Allow Callback'", value)),
		retry_config: Object.keys(retry).length > 0 ? retry : undefined,
	});
	return Object.keys(all).length > 0 ? all : undefined;
}

type OnlySet<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Leaves out values that aren't set, so that they don't override the agent's. */
function onlySet<T extends object>(values: T): OnlySet<T> {
	const set: OnlySet<T> = {};
	for (const key in values) {
		const value = values[key];
		if (isDefined(value)) set[key] = value;
	}
	return set;
}

function isDefined<T>(value: T): value is Exclude<T, undefined> {
	return value !== undefined;
}
