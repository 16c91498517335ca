import deburr from 'lodash/deburr';
import { givenAs } from '../service/modelFormats';
import { InvalidInput } from '../service/errors';
import { normalized } from '../values/text';
import { isUnset, quoted } from '../values/values';

export type Country = { code: string; name: string };

/**
 * ITU calling codes (E.164) with their countries. A call request needs the number without country
 * code, so the code must be recognized: `+44` isn't an Indian number. With the countries below, these are all countries
 * that the form offers.
 */
const CALLING_CODES =
	'1 US AG AI AS BB BM BS CA DM DO GD GU JM KN KY LC MP MS PR SX TC TT VC VG VI, 7 RU KZ, 20 EG, 27 ZA, ' +
	'30 GR, 31 NL, 32 BE, 33 FR, 34 ES, 36 HU, 39 IT VA, 40 RO, 41 CH, 43 AT, 44 GB GG IM JE, 45 DK, 46 SE, ' +
	'47 NO SJ, 48 PL, 49 DE, 51 PE, 52 MX, 53 CU, 54 AR, 55 BR, 56 CL, 57 CO, 58 VE, 60 MY, 61 AU CC CX, ' +
	'62 ID, 63 PH, 64 NZ, 65 SG, 66 TH, 81 JP, 82 KR, 84 VN, 86 CN, 90 TR, 91 IN, 92 PK, 93 AF, 94 LK, 95 MM, ' +
	'98 IR, 211 SS, 212 MA EH, 213 DZ, 216 TN, 218 LY, 220 GM, 221 SN, 222 MR, 223 ML, 224 GN, 225 CI, 226 BF, ' +
	'227 NE, 228 TG, 229 BJ, 230 MU, 231 LR, 232 SL, 233 GH, 234 NG, 235 TD, 236 CF, 237 CM, 238 CV, 239 ST, ' +
	'240 GQ, 241 GA, 242 CG, 243 CD, 244 AO, 245 GW, 246 IO, 248 SC, 249 SD, 250 RW, 251 ET, 252 SO, 253 DJ, ' +
	'254 KE, 255 TZ, 256 UG, 257 BI, 258 MZ, 260 ZM, 261 MG, 262 RE YT, 263 ZW, 264 NA, 265 MW, 266 LS, 267 BW, ' +
	'268 SZ, 269 KM, 290 SH, 291 ER, 297 AW, 298 FO, 299 GL, 350 GI, 351 PT, 352 LU, 353 IE, 354 IS, 355 AL, ' +
	'356 MT, 357 CY, 358 FI AX, 359 BG, 370 LT, 371 LV, 372 EE, 373 MD, 374 AM, 375 BY, 376 AD, 377 MC, 378 SM, ' +
	'380 UA, 381 RS, 382 ME, 385 HR, 386 SI, 387 BA, 389 MK, 420 CZ, 421 SK, 423 LI, 500 FK, 501 BZ, 502 GT, ' +
	'503 SV, 504 HN, 505 NI, 506 CR, 507 PA, 508 PM, 509 HT, 590 GP BL MF, 591 BO, 592 GY, 593 EC, 594 GF, ' +
	'595 PY, 596 MQ, 597 SR, 598 UY, 599 CW BQ, 670 TL, 672 NF, 673 BN, 674 NR, 675 PG, 676 TO, 677 SB, 678 VU, ' +
	'679 FJ, 680 PW, 681 WF, 682 CK, 683 NU, 685 WS, 686 KI, 687 NC, 688 TV, 689 PF, 690 TK, 691 FM, 692 MH, ' +
	'850 KP, 852 HK, 853 MO, 855 KH, 856 LA, 880 BD, 886 TW, 960 MV, 961 LB, 962 JO, 963 SY, 964 IQ, 965 KW, ' +
	'966 SA, 967 YE, 968 OM, 970 PS, 971 AE, 972 IL, 973 BH, 974 QA, 975 BT, 976 MN, 977 NP, 992 TJ, 993 TM, ' +
	'994 AZ, 995 GE, 996 KG, 998 UZ';

/** The countries of ISO 3166-1 without their own code. */
const WITHOUT_CODE = 'AQ BV GS HM PN TF UM'.split(' ');

/**
 * Codes of countries in which a leading zero is dialed within the country, but never from abroad. In Italy (39), it is.
 */
const TRUNK_ZERO = new Set(
	(
		'20 27 31 32 33 40 41 43 44 46 49 51 53 54 55 57 58 60 61 62 63 64 66 81 82 84 86 90 91 92 93 94 95 98 ' +
		'211 212 213 218 231 232 233 234 243 249 251 252 254 255 256 260 261 262 263 264 265 291 353 355 358 ' +
		'359 370 373 374 375 377 380 381 382 385 386 387 389 421 423 508 590 591 593 594 595 596 598 686 850 855 ' +
		'856 880 886 961 962 963 964 966 967 970 971 972 976 977 994 995 996'
	).split(' '),
);

const codeOf: ReadonlyMap<string, string | undefined> = new Map([
	...WITHOUT_CODE.map((country) => [country, undefined] as const),
	...CALLING_CODES.split(', ').flatMap((entry) => {
		const [code, ...countries] = entry.split(' ');
		return countries.map((country) => [country, code] as const);
	}),
]);
const codes: ReadonlySet<string | undefined> = new Set(codeOf.values());

const names = new Intl.DisplayNames('en', { type: 'region' });

/** Every country with its English name, in the order of the names. */
export const COUNTRIES: readonly Country[] = [...codeOf.keys()]
	.map((code) => ({
		code,
		name: countryName(code),
	}))
	.sort((a, b) => a.name.localeCompare(b.name, 'en'));

/** The English name, or the code itself if it isn't assigned. */
export function countryName(code: string): string {
	return names.of(code) ?? code;
}

/** Other names of countries in sheets and CRMs, such as the official ones of ISO 3166-1. Not those of several countries. */
const OTHER_NAMES: { [code: string]: readonly string[] } = {
	AE: ['UAE', 'Emirates'],
	BA: ['Bosnia-Herzegovina'],
	BN: ['Brunei Darussalam'],
	BO: ['Bolivia, Plurinational State of'],
	BQ: ['Bonaire, Sint Eustatius and Saba'],
	CD: [
		...['Congo, the Democratic Republic of the', 'Democratic Republic of the Congo'],
		...['Congo, Democratic Republic of the', 'DR Congo', 'DRC'],
	],
	CG: ['Republic of the Congo'],
	CI: ['Ivory Coast'],
	CN: ["People's Republic of China", 'PRC'],
	CV: ['Cabo Verde'],
	CZ: ['Czech Republic'],
	FK: ['Falkland Islands (Malvinas)'],
	FM: ['Micronesia, Federated States of'],
	BS: ['Bahamas, The'],
	GB: [
		...['Great Britain', 'Britain', 'England', 'Scotland', 'Wales', 'Northern Ireland'],
		'United Kingdom of Great Britain and Northern Ireland',
	],
	GM: ['Gambia, The'],
	HK: ['Hong Kong SAR'],
	IE: ['Republic of Ireland'],
	IN: ['Republic of India', 'Bharat', 'भारत', 'IND'],
	IR: ['Iran, Islamic Republic of', 'Islamic Republic of Iran'],
	KP: ["Korea, Democratic People's Republic of", "Democratic People's Republic of Korea"],
	KR: ['Korea, Republic of', 'Republic of Korea'],
	LA: ["Lao People's Democratic Republic"],
	MD: ['Moldova, Republic of', 'Republic of Moldova'],
	MK: ['Macedonia', 'Macedonia, the former Yugoslav Republic of'],
	MM: ['Burma'],
	MO: ['Macau', 'Macao SAR'],
	NL: ['Holland'],
	PS: ['Palestine, State of', 'Palestinian Territory, Occupied'],
	RU: ['Russian Federation'],
	SA: ['KSA', 'Kingdom of Saudi Arabia'],
	SH: ['Saint Helena, Ascension and Tristan da Cunha'],
	SY: ['Syrian Arab Republic'],
	SZ: ['Swaziland'],
	TL: ['East Timor'],
	TR: ['Turkey', 'Türkiye'],
	TW: ['Taiwan, Province of China'],
	TZ: ['Tanzania, United Republic of', 'United Republic of Tanzania'],
	US: ['USA', 'United States of America'],
	VA: ['Holy See', 'Holy See (Vatican City State)', 'Vatican'],
	VC: ['Saint Vincent and the Grenadines'],
	VE: ['Venezuela, Bolivarian Republic of'],
	VG: ['Virgin Islands, British'],
	VI: ['Virgin Islands, U.S.', 'US Virgin Islands', 'United States Virgin Islands'],
	VN: ['Viet Nam'],
};

const shortNames = new Intl.DisplayNames('en', { type: 'region', style: 'short' });

/** The English name of a country, and the others that people use. */
export function namesOf(code: string): string[] {
	const name = countryName(code);
	return [name, shortNames.of(code) ?? name, ...(OTHER_NAMES[code] ?? [])];
}

const codeByName: ReadonlyMap<string, string> = new Map(
	COUNTRIES.flatMap(({ code }) => namesOf(code).map((name) => [comparableName(name), code])),
);

function codeIn(written: string): string | undefined {
	return codeOf.has(written) ? written : codeByName.get(comparableName(written));
}

/** As the form shows it: `India (IN)`. Both must be the same country. */
function codeOfBoth(written: string): string | undefined {
	const [, name = '', inBrackets = ''] = /^([^()]*)\(([^()]*)\)$/.exec(written) ?? [];
	const code = codeIn(name.trim());
	return code === codeIn(inBrackets.trim()) ? code : undefined;
}

/** Equal for a name in another case, without accents, and with other punctuation. */
function comparableName(name: string): string {
	return deburr(normalized(name))
		.toLowerCase()
		.replaceAll('&', ' and ')
		.replace(/\bst\b/g, 'saint')
		.replace(/^ *the\b|[^\p{L}\p{M}]/gu, '');
}

/**
 * `country_code` of a call, from a code or a name.
 *
 * @throws InvalidInput unless it's the code or the name of one country
 */
export function countryCode(value: unknown): string {
	if (isUnset(value)) {
		throw new InvalidInput(
			"'Country' is empty",
			givenAs('Country', 'Choose the country that the phone number belongs to.'),
		);
	}
	const written = String(value).trim().toUpperCase();
	const code = codeIn(written) ?? codeOfBoth(written);
	if (code !== undefined) return code;
	throw new InvalidInput(
		`'Country' must be a country (got ${quoted(value)})`,
		givenAs(
			'Country',
			'Use the two-letter code of the country or its English name, such as IN or India.',
		),
	);
}

/** `44` for `GB`. `undefined` for a country without its own code. */
export function callingCodeOf(country: string): string | undefined {
	return codeOf.get(country);
}

/** The code at the start of international digits. No code is a prefix of another one. */
export function leadingCode(digits: string): string | undefined {
	return [1, 2, 3].map((length) => digits.slice(0, length)).find((code) => codes.has(code));
}

export function hasTrunkZero(code: string): boolean {
	return TRUNK_ZERO.has(code);
}

/** With fewer digits after it, 00 and a country code may be part of a short number. */
const MIN_DIGITS_AFTER_00 = 6;

/** Whether the digits start with 00 and the country code, as dialed from abroad. */
export function isDialedFromAbroad(digits: string, code: string): boolean {
	return digits.startsWith(`00${code}`) && digits.length >= 2 + code.length + MIN_DIGITS_AFTER_00;
}
