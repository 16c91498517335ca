import deburr from 'lodash/deburr';
import get from 'lodash/get';
import invoke from 'lodash/invoke';
import memoize from 'lodash/memoize';
import once from 'lodash/once';
import sortBy from 'lodash/sortBy';
import uniq from 'lodash/uniq';
import { IANAZone } from 'luxon';
import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { COUNTRIES, countryName, namesOf } from '../../core/phone/countries';
import { isUnset, quoted } from '../../core/values/values';

/**
 * Excludes names such as "SystemV/EST5", which JavaScript accepts, but the time zone database doesn't have, and such as
 * "Etc/GMT+5", which means UTC-5.
 */
const ZONE_IN_AN_AREA = /^(?!systemv\/|etc\/gmt[+-][1-9])[a-z_]+(?:\/[\w+-]+)+$/i;

/** Current names of time zones that JavaScript lists by an older name. */
const CURRENT_NAMES: { [older: string]: string } = {
	'Africa/Asmera': 'Africa/Asmara',
	'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
	'America/Godthab': 'America/Nuuk',
	'Asia/Calcutta': 'Asia/Kolkata',
	'Asia/Katmandu': 'Asia/Kathmandu',
	'Asia/Rangoon': 'Asia/Yangon',
	'Asia/Saigon': 'Asia/Ho_Chi_Minh',
	'Atlantic/Faeroe': 'Atlantic/Faroe',
	'Europe/Kiev': 'Europe/Kyiv',
	'Pacific/Enderbury': 'Pacific/Kanton',
	'Pacific/Ponape': 'Pacific/Pohnpei',
	'Pacific/Truk': 'Pacific/Chuuk',
};

/** Cities by which people look for a time zone that is named after another one. */
const OTHER_CITIES: { [zone: string]: string } = {
	'Asia/Kolkata': 'Mumbai, Delhi, New Delhi, Bengaluru, Bangalore, Chennai, Hyderabad, Pune',
};

/** A time zone as the list shows it, and the names by which it's found. */
type ListedZone = { name: string; value: string; found: string[] };

/** Fills the 'Time Zone' list: by the name of the zone, a city, a country, or an abbreviation such as IST. */
export async function searchTimeZones(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	const typed = comparable(filter);
	const zones = listedZones();
	const exact = zones.filter(({ found }) => found.includes(typed));
	const matching = zones.filter(({ found }) =>
		found.some((name) => ` ${name}`.includes(` ${typed}`)),
	);
	// Who types India doesn't mean Indiana.
	const results = (exact.length > 0 ? exact : matching).map(({ name, value }) => ({ name, value }));
	return await Promise.resolve({ results });
}

/**
 * India first, the others in the order of the countries, and at last the zones of none, such as UTC. Built once, because it
 * takes 100 ms, and each typed letter asks for it.
 */
const listedZones = once((): ListedZone[] => {
	const countries = sortBy(COUNTRIES, ({ code }) => code !== 'IN');
	const ofCountries = countries.flatMap(({ code, name }) => {
		const zones = zonesOf(code);
		return zones.map((zone): ListedZone => {
			const city = zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');
			const cities = [city, ...(OTHER_CITIES[zone]?.split(', ') ?? [])];
			const long = longName(zone);
			const initials = long.replace(/(\w)\w*\s*/g, '$1');
			return {
				name: zones.length === 1 ? `${name} (${zone})` : `${name}, ${city} (${zone})`,
				value: zone,
				found: [...namesOf(code), code, zone, ...cities, long, initials].map(comparable),
			};
		});
	});
	const known = new Set(ofCountries.map(({ value }) => value));
	const others = uniq([...Intl.supportedValuesOf('timeZone').map(currentName), 'UTC'])
		.filter((zone) => !known.has(zone) && isTimeZone(zone))
		.map((zone): ListedZone => ({ name: zone, value: zone, found: [comparable(zone)] }));
	return [...ofCountries, ...others];
});

function comparable(name: string): string {
	return deburr(name)
		.toLowerCase()
		.replace(/[^\p{L}\p{M}\p{N}+-]+/gu, ' ')
		.trim();
}

/** Such as "India Standard Time". */
function longName(timeZone: string): string {
	const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longGeneric' });
	return parts.formatToParts(0).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/**
 * The time zones of a country, as JavaScript knows them. Older versions have a property instead of the method. Looked up once,
 * because it takes a fifth of a millisecond, and each item asks for it.
 */
const zonesOf = memoize((country: string): string[] => {
	const locale: unknown = new Intl.Locale(`und-${country}`);
	const zones: unknown = invoke(locale, 'getTimeZones') ?? get(locale, 'timeZones', []);
	const listed: unknown[] = Array.isArray(zones) ? zones : [];
	return listed.filter((zone) => typeof zone === 'string').map(currentName);
});

const WEEK_MS = 7 * 86_400_000;
/** Of ten years. Times change by the hour for some months, or for good. */
const WEEKS = Array.from({ length: 520 }, (_, week) => Date.UTC(2026, 0, 1) + week * WEEK_MS);

/** Of zones that always have the same time, such as both of Germany, the first. Undefined if they differ. */
const onlyZoneOf = memoize((country: string): string | undefined => {
	const [first = '', ...others] = zonesOf(country);
	const offsetAt = (zone: string, at: number) => IANAZone.create(zone).offset(at);
	const isSame = (zone: string) => WEEKS.every((at) => offsetAt(zone, at) === offsetAt(first, at));
	return others.every(isSame) && first !== '' ? first : undefined;
});

function currentName(zone: string): string {
	return CURRENT_NAMES[zone] ?? zone;
}

function isTimeZone(name: string): boolean {
	return (ZONE_IN_AN_AREA.test(name) || name === 'UTC') && IANAZone.isValidZone(name);
}

/**
 * The entered time zone, or without one, that of the country. Abbreviations such as IST are ambiguous, so a name such as
 * Asia/Kolkata is required.
 *
 * @throws InvalidInput if the country has several, because another one could place calls at night
 */
export function timeZone(value: string, country: string): string {
	if (isUnset(value)) {
		const zone = onlyZoneOf(country);
		if (zone !== undefined) return zone;
		throw new InvalidInput(
			`'Time Zone' is empty, which is only possible in a country with the same time everywhere (got ${quoted(countryName(country))})`,
			onScreenOnly('Choose the time zone of the people to call, or let an expression return it.'),
		);
	}
	const zone = value.trim();
	if (isTimeZone(zone)) return zone;
	throw new InvalidInput(
		`'Time Zone' must be the name of a time zone (got ${quoted(value)})`,
		onScreenOnly(
			"Enter the time zone of the people to call, such as Asia/Kolkata or Europe/London, or leave it empty to use that of their 'Country'.",
		),
	);
}
