import { DateTime } from 'luxon';
import { inEnglish, withOffset } from '../clock';
import { isUnset, quoted } from '../values';
import { InvalidInput } from '../api/errors';
import { givenAs } from '../modelForms';
import { onScreenOnly } from '../api/modelAdvice';
import type { Query, QueryValue } from '../api/http';
import { asText, parseAgentUuid, parseCampaignId, parseContactListId } from '../api/parseIds';
import type { MappingName, ApiMapping } from '../apiMapping';
import { queryOf } from '../apiMapping/placeValues';

/** The filters of the call list as the person filled them in, unchecked. */
export type CallFilters = {
	agentUuid?: unknown;
	campaignId?: unknown;
	campaignUploadId?: unknown;
	from?: unknown;
	to?: unknown;
	phone?: unknown;
	status?: unknown;
};

const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;

type Filter = { detail: MappingName; write: () => QueryValue };

/**
 * The fields of the credential that these filters need.
 *
 * @throws InvalidInput for half a range where the service takes it whole
 */
export function neededForFilters(filters: CallFilters, details: ApiMapping): MappingName[] {
	const needed = givenFilters(filters, details, '').map(({ detail }) => detail);
	if (usesRange(filters, details)) return [...needed, 'callListRangeName', 'callListRangeForm'];
	const half = needed.find((name) => name === 'callListFromName' || name === 'callListToName');
	const hasRangeOnly = details.optional('callListRangeName') !== undefined;
	if (half === undefined || !hasRangeOnly || details.optional(half) !== undefined) return needed;
	const bound = half === 'callListFromName' ? 'From' : 'To';
	throw new InvalidInput(
		`${bound} alone cannot be sent: your service has one filter for the whole range`,
		{
			onScreen: `Fill in both From and To. If your service has a filter for each: ${details.advice(half)}`,
			forModel: 'Give both From and To.',
		},
	);
}

/**
 * Two filters of one name are both sent, the name repeated.
 *
 * @throws InvalidInput for a value that cannot be, MissingMapping for filters without a name
 */
export function callListQuery(filters: CallFilters, details: ApiMapping, zone: string): Query {
	details.require(neededForFilters(filters, details));
	const query = givenFilters(filters, details, zone).map(({ detail, write }) => ({
		name: details.required(detail),
		value: write(),
	}));
	if (usesRange(filters, details)) {
		query.push({
			name: details.required('callListRangeName'),
			value: rangeOf(filters, details, zone),
		});
	}
	if (!isUnset(filters.campaignUploadId)) {
		query.push({
			name: 'campaign_upload_id',
			value: parseContactListId(filters.campaignUploadId),
		});
	}
	return queryOf(query);
}

function givenFilters(filters: CallFilters, details: ApiMapping, zone: string): Filter[] {
	const { status, agentUuid, campaignId, from, to, phone } = filters;
	const form = details.optional('callListDateForm');
	const isRange = usesRange(filters, details);
	const known: Array<Filter & { value: unknown }> = [
		{ detail: 'callListStatusName', value: status, write: () => asText(status) },
		{ detail: 'callListAgentName', value: agentUuid, write: () => parseAgentUuid(agentUuid) },
		{ detail: 'callListCampaignName', value: campaignId, write: () => parseCampaignId(campaignId) },
		{
			detail: 'callListFromName',
			value: isRange ? null : from,
			write: () => boundOf(from, 'From', zone, form),
		},
		{
			detail: 'callListToName',
			value: isRange ? null : to,
			write: () => boundOf(to, 'To', zone, form),
		},
		{ detail: 'callListPhoneName', value: phone, write: () => asText(phone) },
	];
	return known.filter(({ value }) => !isUnset(value));
}

/** One bound alone cannot stand in a range; it needs a filter of its own. */
function usesRange({ from, to }: CallFilters, details: ApiMapping): boolean {
	return details.optional('callListRangeName') !== undefined && !isUnset(from) && !isUnset(to);
}

function rangeOf({ from, to }: CallFilters, details: ApiMapping, zone: string): string {
	const template = details.required('callListRangeForm');
	if (!template.includes('{from}') || !template.includes('{to}')) {
		throw new InvalidInput(
			'“Date Range Format” in the credential does not hold both {from} and {to}',
			onScreenOnly(
				`${details.advice('callListRangeForm')} Write it as your service reads it, such as {from}..{to}.`,
			),
		);
	}
	const form = details.optional('callListDateForm');
	return template
		.replaceAll('{from}', String(boundOf(from, 'From', zone, form)))
		.replaceAll('{to}', String(boundOf(to, 'To', zone, form)));
}

/** A bound of the date range in the form that the service takes; a bare date stays one. */
function boundOf(
	value: unknown,
	label: 'From' | 'To',
	zone: string,
	form: string | undefined,
): string | number {
	const at = DateTime.isDateTime(value) ? value : readText(value, zone);
	if (!at.isValid) {
		throw new InvalidInput(
			`${label} holds ${quoted(value)}, which cannot be read as a date`,
			givenAs(label, 'Pick a date, or write one such as 2027-01-31 or 2027-01-31T18:30:00+05:30.'),
		);
	}
	if (form === 'date') return inEnglish(at, 'yyyy-MM-dd');
	if (form === 'epochSeconds') return Math.floor(at.toSeconds());
	if (form === 'epochMilliseconds') return at.toMillis();
	if (typeof value === 'string' && form === undefined && BARE_DATE.test(value.trim())) {
		return value.trim();
	}
	return withOffset(at);
}

/** A time of day alone, a month, or a year would be taken for a moment that nobody has named. */
const BEGINS_WITH_A_DAY = /^\d{4}-?\d{2}-?\d{2}(?!\d)/;

/** No place on earth is further from UTC. */
const MAX_OFFSET_MINUTES = 14 * 60;

/** A time without an offset is meant in the workflow's time zone. */
function readText(value: unknown, zone: string): DateTime {
	if (value instanceof Date) return DateTime.fromJSDate(value, { zone });
	const written = asText(value).replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T');
	if (!BEGINS_WITH_A_DAY.test(written)) return DateTime.invalid('no day');
	const at = DateTime.fromISO(written, { zone, setZone: /(Z|[+-]\d{2}:?\d{2})$/i.test(written) });
	return Math.abs(at.offset) > MAX_OFFSET_MINUTES ? DateTime.invalid('no such offset') : at;
}
