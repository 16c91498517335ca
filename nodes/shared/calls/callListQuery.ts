import type { DateTime } from 'luxon';
import { inEnglish, parseTime, withOffset } from '../dates';
import { isUnset, quoted } from '../values';
import { InvalidInput, OutcomeUnknown } from '../api/errors';
import { givenAs } from '../modelFormats';
import { isSameId } from '../api/envelope';
import { forEveryone, onScreenOnly } from '../api/resolution';
import type { JsonObject, JsonValue } from '../json';
import { phoneKey } from '../phone/phoneKey';
import { OBSERVED_OUTCOMES } from './callEnd';
import type { Query, QueryValue } from '../api/http';
import { asText, parseAgentUuid, parseCampaignId, parseContactListId } from '../api/parseIds';
import type { MappingName, ApiMapping } from '../apiMapping';
import { queryOf } from '../apiMapping/placeValues';

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

const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;

type Filter = [field: MappingName, value: unknown, toValue: () => QueryValue];

/**
 * The query of these filters. Filters with the same name repeat it.
 *
 * @param zone time zone for dates without an offset
 * @param alsoRequired other fields of the API mapping, so that one error names all
 * @throws InvalidInput for an invalid value, or if only one of From and To is set but the service needs both
 * @throws InvalidInput for a filter without a name in the API mapping
 */
export function callListQuery(
	filters: CallFilters,
	mapping: ApiMapping,
	zone: string,
	alsoRequired: readonly MappingName[] = [],
): Query {
	const { status, agentUuid, campaignId, campaignUploadId: listId, from, to, phone } = filters;
	const form = mapping.optional('callListDateForm');
	const bound = (value: unknown, label: 'From' | 'To') => boundOf(value, label, zone, form);
	requireOrder(from, to, zone);
	const hasRange = mapping.optional('callListRangeName') !== undefined;
	// A single bound needs its own filter.
	const isRange = hasRange && !isUnset(from) && !isUnset(to);
	const known: Filter[] = [
		['callListStatusName', status, () => asText(status)],
		['callListAgentName', agentUuid, () => parseAgentUuid(agentUuid)],
		['callListCampaignName', campaignId, () => parseCampaignId(campaignId, 'Campaign ID')],
		['callListFromName', isRange ? null : from, () => bound(from, 'From')],
		['callListToName', isRange ? null : to, () => bound(to, 'To')],
		['callListPhoneName', phone, () => asText(phone)],
		[
			'callListRangeName',
			isRange ? from : null,
			() => rangeOf(mapping, bound(from, 'From'), bound(to, 'To')),
		],
	];
	const given = known.filter(([, value]) => !isUnset(value));
	const names = given.map(([name]) => name);
	if (hasRange) requireBothBounds(names, mapping);
	mapping.require([...names, ...(isRange ? ['callListRangeForm' as const] : []), ...alsoRequired]);
	const query = given.map(([name, , toValue]) => ({
		name: mapping.required(name),
		value: toValue(),
	}));
	if (!isUnset(listId))
		query.push({ name: 'campaign_upload_id', value: parseContactListId(listId) });
	return queryOf(query);
}

/**
 * Requires that each call matches the filters, as far as it shows that. A service ignores the name of a filter that it
 * doesn't know, and returns all calls.
 *
 * @throws OutcomeUnknown naming the filter
 */
export function requireMatching(
	calls: readonly JsonObject[],
	{ agentUuid, campaignId, campaignUploadId, phone, status }: CallFilters,
	mapping: ApiMapping,
): void {
	const sameId = (value: JsonValue | undefined, wanted: unknown) =>
		isSameId(value, asText(wanted).replace(/^0+(?=\d)/, ''));
	const checks: Array<
		[label: string, MappingName | undefined, unknown, (call: JsonObject) => boolean]
	> = [
		['Agent', 'callListAgentName', agentUuid, (call) => sameId(call.agent_uuid, agentUuid)],
		[
			'Campaign ID',
			'callListCampaignName',
			campaignId,
			(call) => sameId(call.campaign_id, campaignId),
		],
		[
			'Contact List ID',
			undefined,
			campaignUploadId,
			(call) => sameId(call.campaign_upload_id, campaignUploadId),
		],
		['Phone Number', 'callListPhoneName', phone, (call) => isSameNumber(call, phone)],
		['Status', 'callListStatusName', status, (call) => isSameStatus(call.status, status)],
	];
	for (const [label, name, value, matches] of checks) {
		if (isUnset(value) || calls.every(matches)) continue;
		throw new OutcomeUnknown(
			`The service returned calls that don't match '${label}' (${quoted(value)})`,
			onScreenOnly(
				name === undefined
					? 'Ask your service provider.'
					: `${mapping.resolution(name)} The service probably doesn't know this parameter.`,
			),
		);
	}
}

/** Whether one of the numbers of a call is the wanted one. Those without a clear international format may be. */
function isSameNumber(
	{ phone_number: to, from_number: from }: JsonObject,
	wanted: unknown,
): boolean {
	const [toKey, fromKey, wantedKey] = [phoneKey(to), phoneKey(from), phoneKey(wanted)];
	return toKey === null || wantedKey === null || toKey === wantedKey || fromKey === wantedKey;
}

/** A filter may have other values than the calls, such as numbers, so only documented statuses are compared. */
function isSameStatus(value: JsonValue | undefined, wanted: unknown): boolean {
	const known: readonly unknown[] = OBSERVED_OUTCOMES;
	return value === wanted || !known.includes(value) || !known.includes(wanted);
}

/** A service with one filter for the whole range may have none for a single bound. */
function requireBothBounds(names: readonly MappingName[], mapping: ApiMapping): void {
	const half = names.find((name) => name === 'callListFromName' || name === 'callListToName');
	if (half === undefined || mapping.optional(half) !== undefined) return;
	const bound = half === 'callListFromName' ? 'From' : 'To';
	throw new InvalidInput(
		`'${bound}' can't be used alone, because your service has one filter for the whole range`,
		{
			onScreen: `Set both 'From' and 'To'. If your service has a filter for each: ${mapping.resolution(half)}`,
			forModel: 'Give both From and To.',
		},
	);
}

function rangeOf(mapping: ApiMapping, from: QueryValue, to: QueryValue): string {
	const template = mapping.required('callListRangeForm');
	if (!template.includes('{from}') || !template.includes('{to}')) {
		throw new InvalidInput(
			"'Date Range Format' in the credential must contain {from} and {to}",
			onScreenOnly(
				`${mapping.resolution('callListRangeForm')} Enter the format of your service, such as {from}..{to}.`,
			),
		);
	}
	return template.replaceAll('{from}', String(from)).replaceAll('{to}', String(to));
}

/**
 * The moment of a bound. A bare date in To includes that day.
 *
 * @throws InvalidInput if it isn't a date
 */
function momentOf(value: unknown, label: 'From' | 'To', zone: string): DateTime {
	const at = parseTime(value, zone);
	if (at.isValid) return label === 'To' && isBareDate(value) ? at.endOf('day') : at;
	throw new InvalidInput(
		`'${label}' must be a date (got ${quoted(value)})`,
		givenAs(label, 'Select a date, or enter one such as 2027-01-31 or 2027-01-31T18:30:00+05:30.'),
	);
}

function requireOrder(from: unknown, to: unknown, zone: string): void {
	if (isUnset(from) || isUnset(to)) return;
	if (momentOf(from, 'From', zone) <= momentOf(to, 'To', zone)) return;
	throw new InvalidInput(
		`'From' (${quoted(from)}) is later than 'To' (${quoted(to)})`,
		forEveryone('Give a date in From that is before the one in To.'),
	);
}

/** A bound in the format of the service. Without a format, a bare date stays unchanged. */
function boundOf(
	value: unknown,
	label: 'From' | 'To',
	zone: string,
	form: string | undefined,
): string | number {
	const at = momentOf(value, label, zone);
	// Expressions often give UTC, whose day is another one than the workflow's.
	if (form === 'date')
		return inEnglish(at.zoneName === 'UTC' ? at.setZone(zone) : at, 'yyyy-MM-dd');
	if (form === 'epochSeconds') return Math.floor(at.toSeconds());
	if (form === 'epochMilliseconds') return at.toMillis();
	return form === undefined && isBareDate(value) ? asText(value) : withOffset(at);
}

function isBareDate(value: unknown): boolean {
	return typeof value === 'string' && BARE_DATE.test(value.trim());
}
