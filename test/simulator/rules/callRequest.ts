import { istTimestamp } from '../clock';
import type { Dialect } from '../dialects';
import { isFlag, isNonEmptyString, isObject, type JsonObject } from '../json';
import { countryCodes, internationalForm } from './phone';

const TEXT_FIELDS = [
	'system_prompt',
	'person_name',
	'initial_greeting',
	'webhook_url',
	'scheduled_at',
];

const CLOCK_TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
const DAY_MS = 86_400_000;

/** All validation errors of a call request, in the order of the document's fields. */
export function callRequestProblems(body: JsonObject, dialect: Dialect, now: number): string[] {
	return [
		...required(body),
		...country(body, dialect),
		...phone(body, dialect),
		...TEXT_FIELDS.filter((field) => !isText(body[field])).map(
			(field) => `${field} must be a string`,
		),
		...webhook(body.webhook_url),
		...(body.additional_data === undefined || isObject(body.additional_data)
			? []
			: ['additional_data must be an object']),
		...greeting(body.initial_greeting, dialect),
		...overrides(body.call_config_overrides),
		...extraction(body.data_extraction),
		...schedule(body.scheduled_at, dialect, now),
	];
}

/** The country as ISO writes it. */
export function countryOf(body: JsonObject): string {
	return String(body.country_code).toUpperCase();
}

function isText(value: unknown): boolean {
	return value === undefined || typeof value === 'string';
}

function required(body: JsonObject): string[] {
	return ['agent_uuid', 'phone_number', 'country_code']
		.filter((field) => !isNonEmptyString(body[field]))
		.map((field) =>
			body[field] === undefined || body[field] === ''
				? `${field} is required`
				: `${field} must be a non-empty string`,
		);
}

function country(body: JsonObject, dialect: Dialect): string[] {
	const code = body.country_code;
	if (!isNonEmptyString(code)) return [];
	const known = countryCodes.has(
		dialect.calls.lowerCaseCountryAccepted ? code.toUpperCase() : code,
	);
	return known ? [] : ['country_code is not a recognized country'];
}

function phone(body: JsonObject, { calls }: Dialect): string[] {
	const { phone_number: number, country_code: code } = body;
	if (!isNonEmptyString(number)) return [];
	if (!/^\d+$/.test(number)) return ['phone_number must contain digits only, without country code'];
	// The number can't be checked with an unknown country.
	if (!isNonEmptyString(code) || !countryCodes.has(countryOf(body))) return [];
	const form = internationalForm(number, countryOf(body), calls.trunkZeroAccepted);
	return form === null ? [`phone_number is not a plausible number for ${code}`] : [];
}

function webhook(value: unknown): string[] {
	if (typeof value !== 'string') return [];
	const url = URL.canParse(value) ? new URL(value) : null;
	const usable =
		url !== null && /^https?:$/.test(url.protocol) && /^https?:\/\/[^/?#]/i.test(value);
	return usable ? [] : ['webhook_url must be an HTTP or HTTPS URL that includes a host'];
}

function greeting(value: unknown, { calls }: Dialect): string[] {
	if (typeof value !== 'string' || calls.textLength(value) <= 2000) return [];
	return ['initial_greeting must have at most 2000 characters'];
}

function overrides(value: unknown): string[] {
	if (value === undefined) return [];
	if (!isObject(value)) return ['call_config_overrides must be an object'];
	const at = 'call_config_overrides.';
	const retry = value.retry_config;
	return [
		...bounded(value.max_call_duration_seconds, 30, 1800, `${at}max_call_duration_seconds`),
		...flag(value.enable_callback, `${at}enable_callback`),
		...(retry === undefined
			? []
			: isObject(retry)
				? retryConfig(retry, `${at}retry_config.`)
				: [`${at}retry_config must be an object`]),
	];
}

function retryConfig(retry: JsonObject, at: string): string[] {
	return [
		...flag(retry.enabled, `${at}enabled`),
		...bounded(retry.max_attempts, 1, 10, `${at}max_attempts`),
		...bounded(retry.interval_minutes, 1, 1440, `${at}interval_minutes`),
	];
}

function bounded(value: unknown, low: number, high: number, name: string): string[] {
	if (value === undefined) return [];
	const inside = Number.isInteger(value) && Number(value) >= low && Number(value) <= high;
	return inside ? [] : [`${name} must be an integer from ${low} to ${high}`];
}

function flag(value: unknown, name: string): string[] {
	return isFlag(value) ? [] : [`${name} must be a boolean`];
}

function extraction(value: unknown): string[] {
	if (value === undefined) return [];
	if (!Array.isArray(value)) return ['data_extraction must be an array'];
	return value.flatMap((item: unknown, index) => {
		const at = `data_extraction[${index}]`;
		if (!isObject(item)) return [`${at} must be an object`];
		return [
			...(isNonEmptyString(item.description) ? [] : [`${at}.description is required`]),
			...(isText(item.key) ? [] : [`${at}.key must be a string`]),
			...(isText(item.output_format) ? [] : [`${at}.output_format must be a string`]),
			...flag(item.required, `${at}.required`),
		];
	});
}

function schedule(value: unknown, { calls }: Dialect, now: number): string[] {
	if (typeof value !== 'string') return [];
	const instant = scheduledInstant(value, now);
	if (instant === null) {
		return ['scheduled_at must be HH:MM (IST) or an ISO 8601 timestamp with offset'];
	}
	return instant < now && calls.pastSchedule === 'rejected' ? ['scheduled_at is in the past'] : [];
}

/** The time in `scheduled_at`, or null if it has neither documented format. */
export function scheduledInstant(value: string, now: number): number | null {
	const clock = CLOCK_TIME.exec(value);
	if (clock) {
		const today = istTimestamp(now).slice(0, 10);
		const instant = Date.parse(`${today}T${value}:00+05:30`);
		return instant < now ? instant + DAY_MS : instant;
	}
	if (!TIMESTAMP.test(value)) return null;
	const instant = Date.parse(value);
	return Number.isNaN(instant) ? null : instant;
}
