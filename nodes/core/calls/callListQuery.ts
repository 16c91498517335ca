import type { DateTime } from 'luxon';
import { isSameId } from '../service/envelope';
import { InvalidInput, unusable } from '../service/errors';
import type { Query, QueryValue } from '../service/http';
import { parseAgentUuid, parseCampaignId, parseContactListId } from '../service/parseIds';
import { inEnglish, parseTime, withOffset } from '../values/dates';
import type { JsonObject, JsonValue } from '../values/json';
import { enter } from '../service/modelFormats';
import { digitsIn, lastDigits, readWritten } from '../phone/written';
import { withLatinDigits } from '../values/text';
import { asText, isUnset, joinedWithAnd, quoted } from '../values/values';
import { OBSERVED_OUTCOMES } from './callEnd';

/** The filters of the call list as entered. */
export type CallFilters = {
	agentUuid?: unknown;
	campaignId?: unknown;
	campaignUploadId?: unknown;
	from?: unknown;
	to?: unknown;
	phone?: unknown;
	status?: unknown;
};

/** Of a filter whose parameter isn't documented. */
type Placeholder = 'status' | 'agent' | 'campaign' | 'from' | 'to' | 'phone';

/** How a service writes dates, and the time zone for dates without an offset. */
type DateForm = { form: string | undefined; zone: string };

type Filter = {
	filter: keyof CallFilters;
	/** On the screen. */
	label: string;
	/** Not set for the one whose parameter is documented. */
	placeholder?: Placeholder;
	toValue: (value: unknown, dates: DateForm) => QueryValue;
	/** Whether a call may match, as far as it shows that. Not set if no field shows it. */
	matches?: (call: JsonObject, value: unknown) => boolean;
};

const FILTERS: readonly Filter[] = [
	{
		filter: 'status',
		label: 'Status',
		placeholder: 'status',
		toValue: asText,
		matches: ({ status }, value) => isSameStatus(status, value),
	},
	{
		filter: 'agentUuid',
		label: 'Agent',
		placeholder: 'agent',
		toValue: parseAgentUuid,
		matches: ({ agent_uuid: id }, value) => isSameId(id, asText(value)),
	},
	{
		filter: 'campaignId',
		label: 'Campaign ID',
		placeholder: 'campaign',
		toValue: (value) => parseCampaignId(value, 'Campaign ID'),
		matches: ({ campaign_id: id }, value) => isSameId(id, Number(value)),
	},
	{
		filter: 'from',
		label: 'From',
		placeholder: 'from',
		toValue: (value, dates) => boundOf(value, 'From', dates),
	},
	{
		filter: 'to',
		label: 'To',
		placeholder: 'to',
		toValue: (value, dates) => boundOf(value, 'To', dates),
	},
	{
		filter: 'phone',
		label: 'Phone Number',
		placeholder: 'phone',
		toValue: numberOf,
		matches: isSameNumber,
	},
	{
		filter: 'campaignUploadId',
		label: 'Contact List ID',
		toValue: parseContactListId,
		matches: ({ campaign_upload_id: id }, value) => isSameId(id, Number(value)),
	},
];

/** Those that the document shows. */
export const KNOWN_STATUSES = `Known statuses are ${joinedWithAnd(OBSERVED_OUTCOMES)}. Any other one is sent to the service as it is.`;

/** The filters that are set, for a message: `Status "picked" and Phone Number "+919876543210"`. Empty if there are none. */
export function describeFilters(filters: CallFilters): string {
	const given = FILTERS.filter(({ filter }) => !isUnset(filters[filter]));
	return joinedWithAnd(given.map(({ filter, label }) => `${label} ${quoted(filters[filter])}`));
}

/**
 * The values of these filters: by their placeholder, and of the documented parameter.
 *
 * @throws InvalidInput for an invalid value
 */
export function filterValues(filters: CallFilters, dates: DateForm) {
	requireOrder(filters, dates.zone);
	const byPlaceholder: { [placeholder in Placeholder]?: QueryValue } = {};
	const documented: Query = {};
	for (const { filter, placeholder, toValue } of FILTERS) {
		if (isUnset(filters[filter])) continue;
		const value = toValue(filters[filter], dates);
		if (placeholder === undefined) documented.campaign_upload_id = value;
		else byPlaceholder[placeholder] = value;
	}
	return { byPlaceholder, documented };
}

/**
 * Requires that each call matches the filters, as far as it shows that. A service ignores a parameter that it doesn't know,
 * and returns all calls.
 *
 * @param advice what to do about the placeholder of a filter
 * @throws OutcomeUnknown naming the filter
 */
export function requireMatching(
	calls: readonly JsonObject[],
	filters: CallFilters,
	advice: (placeholder: Placeholder) => string,
): void {
	for (const { filter, label, placeholder, matches = () => true } of FILTERS) {
		const { [filter]: value } = filters;
		if (isUnset(value) || calls.every((call) => matches(call, value))) continue;
		throw unusable(
			`The service returned calls that don't match '${label}' (${quoted(value)})`,
			placeholder === undefined ? 'Ask your service provider.' : advice(placeholder),
		);
	}
}

/** A service may ignore a value that can't be a number, and then returns the calls of everyone. */
function numberOf(value: unknown): string {
	const number = withLatinDigits(asText(value));
	if (digitsIn(number) !== '') return number;
	throw new InvalidInput(
		`'Phone Number' ${quoted(value)} isn't a phone number`,
		'Enter the number as your service writes it.',
	);
}

/** What a number ends with in every format. Before these digits, it may have a country code, an area code, or a prefix. */
const LAST_DIGITS = 6;

/** Whether a call is with the wanted number, or may be, because the service may know other forms, such as several numbers. */
function isSameNumber(
	{ phone_number: to, from_number: from }: JsonObject,
	wanted: unknown,
): boolean {
	if (![to, wanted].every((number) => 'digits' in readWritten(number))) return true;
	const ending = lastDigits(asText(wanted)).slice(-LAST_DIGITS);
	return [to, from].some((number) => digitsIn(asText(number)).includes(ending));
}

/** A filter may have other values than the calls, such as numbers, so only documented statuses are compared. */
function isSameStatus(value: JsonValue | undefined, wanted: unknown): boolean {
	const known: readonly unknown[] = OBSERVED_OUTCOMES;
	return value === wanted || !known.includes(value) || !known.includes(wanted);
}

/**
 * The moment of a bound. A bare date in To includes that day.
 *
 * @throws InvalidInput if it isn't a date
 */
function momentOf(value: unknown, label: 'From' | 'To', zone: string): DateTime {
	const at = parseTime(value, zone);
	if (at.isValid) return label === 'To' && isBareDate(value) ? at.endOf('day') : at;
	throw new InvalidInput(`'${label}' must be a date (got ${quoted(value)})`, enter(label));
}

function requireOrder({ from, to }: CallFilters, zone: string): void {
	if (isUnset(from) || isUnset(to)) return;
	if (momentOf(from, 'From', zone) <= momentOf(to, 'To', zone)) return;
	throw new InvalidInput(
		`'From' (${quoted(from)}) is later than 'To' (${quoted(to)})`,
		"Enter a date in 'From' that is before the one in 'To'.",
	);
}

/** A bound in the format of the service. Without a format, a bare date stays unchanged. */
function boundOf(value: unknown, label: 'From' | 'To', { form, zone }: DateForm): string {
	const at = momentOf(value, label, zone);
	// Expressions often give UTC, whose day is another one than the workflow's.
	if (form === 'date')
		return inEnglish(at.zoneName === 'UTC' ? at.setZone(zone) : at, 'yyyy-MM-dd');
	return form === undefined && isBareDate(value) ? asText(value) : withOffset(at);
}

function isBareDate(value: unknown): boolean {
	return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value.trim());
}
