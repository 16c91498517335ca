import { DateTime } from 'luxon';
import { isUnset, quoted } from './callRequestFields';
import { InvalidInput } from '../core/explained';
import type { Query } from '../core/http';
import { asText, parseAgentUuid, parseCampaignId, parseContactListId } from '../core/identifiers';
import type { OpenDetailName, OpenDetails } from '../openDetails';

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

/** Whatever the language of the machine, the service reads Latin digits. */
const ENGLISH = { locale: 'en', numberingSystem: 'latn' } as const;
const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** @throws InvalidInput for a value that cannot be, MissingOpenDetail for a filter without a name */
export function callListQuery(filters: CallFilters, details: OpenDetails, zone: string): Query {
	const query: Query = {};
	const add = (
		detail: OpenDetailName,
		value: unknown,
		write: (value: unknown) => string | number,
	) => {
		if (!isUnset(value)) query[details.required(detail)] = write(value);
	};
	add('callListStatusName', filters.status, asText);
	add('callListAgentName', filters.agentUuid, parseAgentUuid);
	add('callListCampaignName', filters.campaignId, parseCampaignId);
	const form = details.optional('callListDateForm');
	add('callListFromName', filters.from, (value) => moment(value, 'From', zone, form));
	add('callListToName', filters.to, (value) => moment(value, 'To', zone, form));
	add('callListPhoneName', filters.phone, asText);
	if (!isUnset(filters.campaignUploadId)) {
		query.campaign_upload_id = parseContactListId(filters.campaignUploadId);
	}
	return query;
}

/** A bound of the date range in the form that the service takes; a bare date stays one. */
function moment(
	value: unknown,
	label: string,
	zone: string,
	form: string | undefined,
): string | number {
	const at = DateTime.isDateTime(value) ? value : readText(value, zone);
	if (!at.isValid) {
		throw new InvalidInput(
			`${label} holds ${quoted(value)}, which cannot be read as a date`,
			'Pick a date, or write one such as 2027-01-31 or 2027-01-31T18:30:00+05:30.',
		);
	}
	if (form === 'date') return at.toFormat('yyyy-MM-dd', ENGLISH);
	if (form === 'epochSeconds') return Math.floor(at.toSeconds());
	if (typeof value === 'string' && form === undefined && BARE_DATE.test(value.trim())) {
		return value.trim();
	}
	return at.toFormat("yyyy-MM-dd'T'HH:mm:ssZZ", ENGLISH);
}

/** A time without an offset is meant in the workflow's time zone. */
function readText(value: unknown, zone: string): DateTime {
	if (value instanceof Date) return DateTime.fromJSDate(value, { zone });
	const written = asText(value).replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T');
	return DateTime.fromISO(written, { zone, setZone: /(Z|[+-]\d{2}:?\d{2})$/i.test(written) });
}
