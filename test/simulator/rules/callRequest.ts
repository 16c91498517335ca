import { boundOf } from '../../openapi/openapi';
import { istTimestamp } from '../clock';
import type { Dialect } from '../dialects';
import type { JsonObject } from '../json';
import { countryCodes, internationalForm } from './phone';

/** The documented length, in the unit of the dialect. */
const GREETING_LENGTH = boundOf('CallRequest.properties.initial_greeting.maxLength');
const DAY_MS = 86_400_000;

/** What the dialect doesn't accept in a call request of the documented form. */
export function callRequestProblems(body: JsonObject, dialect: Dialect, now: number): string[] {
	const { calls } = dialect;
	const country = countryOf(body);
	const isKnown = countryCodes.has(
		calls.lowerCaseCountryAccepted ? country : String(body.country_code),
	);
	const phone = internationalForm(String(body.phone_number), country, calls.trunkZeroAccepted);
	const { initial_greeting: greeting = '', scheduled_at: scheduled } = body;
	const instant = typeof scheduled === 'string' ? scheduledInstant(scheduled, now) : now;
	const isPast = instant !== null && instant < now && calls.pastSchedule === 'rejected';
	return [
		...(isKnown ? [] : ['country_code is not a recognized country']),
		...(isKnown && phone === null ? [`phone_number is not a plausible number of ${country}`] : []),
		...(calls.textLength(String(greeting)) > GREETING_LENGTH
			? ['initial_greeting is too long']
			: []),
		...(instant === null ? ['scheduled_at is not a time'] : []),
		...(isPast ? ['scheduled_at is in the past'] : []),
	];
}

/** The country as ISO writes it. */
export function countryOf({ country_code: code }: JsonObject): string {
	return String(code).toUpperCase();
}

/** The time in `scheduled_at`, or null if there is no such time. */
export function scheduledInstant(value: string, now: number): number | null {
	if (/^\d\d:\d\d$/.test(value)) {
		const today = istTimestamp(now).slice(0, 10);
		const instant = Date.parse(`${today}T${value}:00+05:30`);
		return instant < now ? instant + DAY_MS : instant;
	}
	const instant = Date.parse(value);
	return Number.isNaN(instant) ? null : instant;
}
