import uniq from 'lodash/uniq';
import { IANAZone } from 'luxon';
import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/resolution';
import { isUnset, quoted } from '../../shared/values';

/**
 * Excludes names such as "SystemV/EST5", which JavaScript accepts, but the time zone database doesn't have, and such as
 * "Etc/GMT+5", which means UTC-5.
 */
const ZONE_IN_AN_AREA = /^(?!systemv\/|etc\/gmt[+-][1-9])[a-z_]+(?:\/[\w+-]+)+$/i;

/** Current names of time zones that JavaScript lists by an older name, such as Asia/Calcutta. */
const CURRENT_NAMES = (
	'Africa/Asmara America/Argentina/Buenos_Aires America/Nuuk Asia/Ho_Chi_Minh Asia/Kathmandu Asia/Kolkata Asia/Yangon ' +
	'Atlantic/Faroe Europe/Kyiv Pacific/Chuuk Pacific/Kanton Pacific/Pohnpei UTC'
).split(' ');

/** Fills the 'Time Zone' list with the time zones whose name contains the typed filter. */
export async function searchTimeZones(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	const typed = filter.trim().replaceAll(' ', '_').toLowerCase();
	const zones = uniq([...CURRENT_NAMES, ...Intl.supportedValuesOf('timeZone')]).sort();
	const results = zones
		.filter((zone) => zone.toLowerCase().includes(typed) && isTimeZone(zone))
		.map((zone) => ({ name: zone, value: zone }));
	return await Promise.resolve({ results });
}

function isTimeZone(name: string): boolean {
	return (ZONE_IN_AN_AREA.test(name) || name === 'UTC') && IANAZone.isValidZone(name);
}

/** Abbreviations such as IST are ambiguous, so a name such as Asia/Kolkata is required. */
export function timeZone(value: string): string {
	const resolution = onScreenOnly(
		'Enter the time zone of the people to call, such as Asia/Kolkata or Europe/London. The node has no default time zone, because a wrong one could place calls at night.',
	);
	if (isUnset(value)) {
		throw new InvalidInput("'Time Zone' in 'Calling Hours' is empty", resolution);
	}
	const zone = value.trim();
	if (isTimeZone(zone)) return zone;
	throw new InvalidInput(
		`'Time Zone' in 'Calling Hours' must be the name of a time zone (got ${quoted(value)})`,
		resolution,
	);
}
