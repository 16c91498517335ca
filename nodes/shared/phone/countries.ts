import { givenAs } from '../modelForms';
import { normalized } from '../text';
import { type Checked, isUnset, problem, quoted } from '../values';

export type Country = { code: string; name: string };

/** The officially assigned codes of ISO 3166-1 alpha-2. */
const COUNTRY_CODES = (
	'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT ' +
	'BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ' +
	'ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT ' +
	'HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS ' +
	'LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI ' +
	'NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG ' +
	'SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG ' +
	'UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
).split(' ');

const known = new Set(COUNTRY_CODES);
const names = new Intl.DisplayNames('en', { type: 'region' });

/** Every country with its English name, in the order of the names. */
export const COUNTRIES: readonly Country[] = COUNTRY_CODES.map((code) => ({
	code,
	name: countryName(code),
})).sort((a, b) => a.name.localeCompare(b.name, 'en'));

/** The English name, or the code itself if it isn't assigned. */
export function countryName(code: string): string {
	return names.of(code) ?? code;
}

/** `country_code` of a call. */
export function countryCode(value: unknown): Checked<string> {
	if (isUnset(value)) {
		return problem(
			"'Country' is empty",
			givenAs('Country', 'Choose the country that the phone number belongs to.'),
		);
	}
	const code = String(value).trim().toUpperCase();
	if (isCountryCode(code)) return { value: code };
	const meant = suggestCountry(String(value));
	return problem(
		`'Country' must be a country code (got ${quoted(value)})`,
		meant === undefined
			? givenAs(
					'Country',
					'Use the two-letter code of the country, such as IN for India or US for the United States.',
				)
			: {
					onScreen: `Use ${meant.code} for ${meant.name}.`,
					forModel: `Use "${meant.code}" for ${meant.name}.`,
				},
	);
}

export function isCountryCode(code: string): boolean {
	return known.has(code);
}

/** Without accents: Türkiye → Turkiye. */
export function withoutAccents(name: string): string {
	return normalized(name, 'NFD')
		.replace(/\p{Mn}/gu, '')
		.replace(/\u2019/g, "'");
}

/** The country with this name or old code (UK), if it's unambiguous. */
export function suggestCountry(text: string): Country | undefined {
	const query = searchable(text.trim());
	if (/^[a-z]{2}$/.test(query)) {
		const current = new Intl.Locale(`und-${query}`).region;
		return COUNTRIES.find(({ code }) => code === current);
	}
	const exact = COUNTRIES.find(({ name }) => searchable(name) === query);
	if (exact !== undefined || query.length < 4) return exact;
	const [found, ...others] = COUNTRIES.filter(({ name }) => searchable(name).includes(query));
	return others.length === 0 ? found : undefined;
}

function searchable(name: string): string {
	return withoutAccents(name).toLowerCase();
}
