import uniq from 'lodash/uniq';
import { IANAZone } from 'luxon';
import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { onScreenOnly } from '../../shared/api/resolution';
import { type Checked, isUnset, problem, quoted } from '../../shared/values';

/** Excludes names such as "SystemV/EST5", which JavaScript accepts, but the time zone database doesn't have. */
const ZONE_IN_AN_AREA = /^(?!systemv\/)[a-z_]+(?:\/[\w+-]+)+$/i;

/** Zones of the time zone database whose sign is inverted. */
const INVERTED_ZONE = /^Etc\/GMT([+-])(\d{1,2})$/i;

/** Time zones without daylight saving time, by hours from UTC. */
const ZONES_BY_OFFSET: { [hours: string]: string } = {
	'-11': 'Pacific/Pago_Pago',
	'-10': 'Pacific/Honolulu',
	'-9': 'Pacific/Gambier',
	'-8': 'Pacific/Pitcairn',
	'-7': 'America/Phoenix',
	'-6': 'America/Costa_Rica',
	'-5': 'America/Lima',
	'-4': 'America/Puerto_Rico',
	'-3': 'America/Montevideo',
	'-2': 'America/Noronha',
	'-1': 'Atlantic/Cape_Verde',
	'+1': 'Africa/Lagos',
	'+2': 'Africa/Maputo',
	'+3': 'Africa/Nairobi',
	'+4': 'Asia/Dubai',
	'+5': 'Asia/Karachi',
	'+6': 'Asia/Dhaka',
	'+7': 'Asia/Bangkok',
	'+8': 'Asia/Singapore',
	'+9': 'Asia/Tokyo',
	'+10': 'Australia/Brisbane',
	'+11': 'Pacific/Guadalcanal',
	'+12': 'Pacific/Tarawa',
	'+13': 'Pacific/Tongatapu',
	'+14': 'Pacific/Kiritimati',
};

/** Current names of time zones that JavaScript lists by an older name, such as Asia/Calcutta. */
const CURRENT_NAMES = [
	'Africa/Asmara',
	'America/Argentina/Buenos_Aires',
	'America/Nuuk',
	'Asia/Ho_Chi_Minh',
	'Asia/Kathmandu',
	'Asia/Kolkata',
	'Asia/Yangon',
	'Atlantic/Faroe',
	'Europe/Kyiv',
	'Pacific/Chuuk',
	'Pacific/Kanton',
	'Pacific/Pohnpei',
	'UTC',
];

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
export function timeZone(value: string): Checked<string> {
	const resolution = onScreenOnly(
		'Enter the time zone of the people to call, such as Asia/Kolkata or Europe/London. The node has no default time zone, because a wrong one could place calls at night.',
	);
	if (isUnset(value)) return problem("'Time Zone' in 'Calling Hours' is empty", resolution);
	const zone = value.trim();
	if (!isTimeZone(zone)) {
		return problem(
			`'Time Zone' in 'Calling Hours' must be the name of a time zone (got ${quoted(value)})`,
			resolution,
		);
	}
	const [, sign, offset] = INVERTED_ZONE.exec(zone) ?? [];
	const isInverted = sign !== undefined && Number(offset) > 0;
	return isInverted ? invertedZone(zone, sign, Number(offset)) : { value: zone };
}

function invertedZone(zone: string, sign: string, hours: number): Checked<string> {
	const actual = `${sign === '+' ? '-' : '+'}${hours}`;
	const apparent = `${sign}${hours}`;
	const zones = [actual, apparent].flatMap((offset) => {
		const name = ZONES_BY_OFFSET[offset];
		return name === undefined ? [] : [`${name} for UTC${offset}`];
	});
	return problem(
		`'Time Zone' in 'Calling Hours' is ambiguous: ${quoted(zone)} means UTC${actual}, although it looks like UTC${apparent}`,
		onScreenOnly(`Enter a name instead: ${zones.join(', ')}.`),
	);
}
