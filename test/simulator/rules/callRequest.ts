import { z } from 'zod';
import { istTimestamp } from '../clock';
import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import { countryCodes, internationalForm } from './phone';

const CLOCK_TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
const DAY_MS = 86_400_000;

const text = z.string().optional();
const required = z.string().trim().min(1);
const flag = z.boolean().optional();
const integer = (low: number, high: number) => z.number().int().min(low).max(high).optional();
const isWebUrl = (value: string) => URL.canParse(value) && /^https?:\/\/[^/?#]/i.test(value);

/** The rules for each field, except those that depend on the dialect or on other fields. */
const CALL_REQUEST = z.object({
	agent_uuid: required,
	phone_number: required.regex(/^\d+$/, 'must have digits only, without country code'),
	country_code: required,
	system_prompt: text,
	webhook_url: text.refine((url) => url === undefined || isWebUrl(url), 'must be a web URL'),
	person_name: text,
	additional_data: z.record(z.unknown()).optional(),
	initial_greeting: text,
	call_config_overrides: z
		.object({
			max_call_duration_seconds: integer(30, 1800),
			enable_callback: flag,
			retry_config: z
				.object({
					enabled: flag,
					max_attempts: integer(1, 10),
					interval_minutes: integer(1, 1440),
				})
				.optional(),
		})
		.optional(),
	data_extraction: z
		.array(z.object({ key: text, description: required, required: flag, output_format: text }))
		.optional(),
	scheduled_at: text,
});

/** All validation errors of a call request. */
export function callRequestProblems(body: JsonObject, dialect: Dialect, now: number): string[] {
	const { error, data } = CALL_REQUEST.safeParse(body);
	if (error) return error.issues.map(({ path, message }) => `${nameOf(path)}: ${message}`);
	const { calls } = dialect;
	const country = countryOf(data);
	const isKnown = countryCodes.has(calls.lowerCaseCountryAccepted ? country : data.country_code);
	const phone = internationalForm(data.phone_number, country, calls.trunkZeroAccepted);
	const { initial_greeting: greeting = '', scheduled_at: scheduled } = data;
	const instant = scheduled === undefined ? now : scheduledInstant(scheduled, now);
	const isPast = instant !== null && instant < now && calls.pastSchedule === 'rejected';
	return [
		...(isKnown ? [] : ['country_code is not a recognized country']),
		...(isKnown && phone === null ? [`phone_number is not a plausible number of ${country}`] : []),
		...(calls.textLength(greeting) > 2000 ? ['initial_greeting has over 2000 characters'] : []),
		...(instant === null ? ['scheduled_at must be HH:MM or an ISO 8601 timestamp'] : []),
		...(isPast ? ['scheduled_at is in the past'] : []),
	];
}

/** A path such as `data_extraction[0].description`. */
function nameOf(path: Array<string | number>): string {
	return path
		.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
		.join('')
		.slice(1);
}

/** The country as ISO writes it. */
export function countryOf({ country_code: code }: JsonObject): string {
	return String(code).toUpperCase();
}

/** The time in `scheduled_at`, or null if it has neither documented format. */
export function scheduledInstant(value: string, now: number): number | null {
	if (CLOCK_TIME.test(value)) {
		const today = istTimestamp(now).slice(0, 10);
		const instant = Date.parse(`${today}T${value}:00+05:30`);
		return instant < now ? instant + DAY_MS : instant;
	}
	if (!TIMESTAMP.test(value)) return null;
	const instant = Date.parse(value);
	return Number.isNaN(instant) ? null : instant;
}
