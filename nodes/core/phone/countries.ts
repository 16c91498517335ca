import deburr from 'lodash/deburr';
import { enter } from '../service/modelFormats';
import { InvalidInput } from '../service/errors';
import { isUnset, quoted } from '../values/values';

/**
 * ITU calling codes (E.164) with all countries of ISO 3166-1 (alpha-2). A call request needs the number without country
 * code, so the code must be recognized: `+44` isn't an Indian number.
 */
const CALLING_CODES =
	'1 US AG AI AS BB BM BS CA DM DO GD GU JM KN KY LC MP MS PR SX TC TT VC VG VI UM, 7 RU KZ, 20 ' +
	'EG, 27 ZA, 30 GR, 31 NL, 32 BE, 33 FR, 34 ES, 36 HU, 39 IT VA, 40 RO, 41 CH, 43 AT, 44 GB GG ' +
	'IM JE, 45 DK, 46 SE, 47 NO SJ BV, 48 PL, 49 DE, 51 PE, 52 MX, 53 CU, 54 AR, 55 BR, 56 CL, 57 ' +
	'CO, 58 VE, 60 MY, 61 AU CC CX, 62 ID, 63 PH, 64 NZ PN, 65 SG, 66 TH, 81 JP, 82 KR, 84 VN, 86 ' +
	'CN, 90 TR, 91 IN, 92 PK, 93 AF, 94 LK, 95 MM, 98 IR, 211 SS, 212 MA EH, 213 DZ, 216 TN, 218 ' +
	'LY, 220 GM, 221 SN, 222 MR, 223 ML, 224 GN, 225 CI, 226 BF, 227 NE, 228 TG, 229 BJ, 230 MU, ' +
	'231 LR, 232 SL, 233 GH, 234 NG, 235 TD, 236 CF, 237 CM, 238 CV, 239 ST, 240 GQ, 241 GA, 242 ' +
	'CG, 243 CD, 244 AO, 245 GW, 246 IO, 248 SC, 249 SD, 250 RW, 251 ET, 252 SO, 253 DJ, 254 KE, ' +
	'255 TZ, 256 UG, 257 BI, 258 MZ, 260 ZM, 261 MG, 262 RE YT TF, 263 ZW, 264 NA, 265 MW, 266 ' +
	'LS, 267 BW, 268 SZ, 269 KM, 290 SH, 291 ER, 297 AW, 298 FO, 299 GL, 350 GI, 351 PT, 352 LU, ' +
	'353 IE, 354 IS, 355 AL, 356 MT, 357 CY, 358 FI AX, 359 BG, 370 LT, 371 LV, 372 EE, 373 MD, ' +
	'374 AM, 375 BY, 376 AD, 377 MC, 378 SM, 380 UA, 381 RS, 382 ME, 385 HR, 386 SI, 387 BA, 389 ' +
	'MK, 420 CZ, 421 SK, 423 LI, 500 FK GS, 501 BZ, 502 GT, 503 SV, 504 HN, 505 NI, 506 CR, 507 ' +
	'PA, 508 PM, 509 HT, 590 GP BL MF, 591 BO, 592 GY, 593 EC, 594 GF, 595 PY, 596 MQ, 597 SR, ' +
	'598 UY, 599 CW BQ, 670 TL, 672 NF AQ HM, 673 BN, 674 NR, 675 PG, 676 TO, 677 SB, 678 VU, 679 ' +
	'FJ, 680 PW, 681 WF, 682 CK, 683 NU, 685 WS, 686 KI, 687 NC, 688 TV, 689 PF, 690 TK, 691 FM, ' +
	'692 MH, 850 KP, 852 HK, 853 MO, 855 KH, 856 LA, 880 BD, 886 TW, 960 MV, 961 LB, 962 JO, 963 ' +
	'SY, 964 IQ, 965 KW, 966 SA, 967 YE, 968 OM, 970 PS, 971 AE, 972 IL, 973 BH, 974 QA, 975 BT, ' +
	'976 MN, 977 NP, 992 TJ, 993 TM, 994 AZ, 995 GE, 996 KG, 998 UZ';

const codeOf = new Map(
	CALLING_CODES.split(', ').flatMap((entry) => {
		const [code = '', ...countries] = entry.split(' ');
		return countries.map((country) => [country, code] as const);
	}),
);
const codes: ReadonlySet<string> = new Set(codeOf.values());

/** Where numbers begin with a zero. Elsewhere, one before the number is dialed only within the country. */
export const KEEPS_ZERO: ReadonlySet<string> = new Set(
	'39 47 225 226 227 229 241 242 250 378 687 992'.split(' '),
);

export const COUNTRIES: readonly string[] = [...codeOf.keys()];

const names = new Intl.DisplayNames('en', { type: 'region' });
const shortNames = new Intl.DisplayNames('en', { type: 'region', style: 'short' });

/** The English name, or the code itself if it isn't assigned. */
export function countryName(code: string): string {
	return names.of(code) ?? code;
}

/**
 * Common in sheets and CRMs, besides the names of {@link countryName}, and short ones such as UK. Of the codes with three
 * letters, only those of India and of countries whose numbers often stand beside Indian ones, or look like them.
 */
const OTHER_NAMES =
	'AE=UAE, CI=Ivory Coast, CZ=Czech Republic, GB=Great Britain, GB=England, GB=Scotland, IN=Bharat, ' +
	'KR=Republic of Korea, RU=Russian Federation, TR=Turkey, US=USA, US=United States of America, ' +
	'VN=Viet Nam, AE=ARE, AU=AUS, BD=BGD, BH=BHR, CA=CAN, DE=DEU, FR=FRA, GB=GBR, ID=IDN, IN=IND, ' +
	'IR=IRN, IT=ITA, JP=JPN, KW=KWT, LK=LKA, MX=MEX, MY=MYS, NG=NGA, NP=NPL, NZ=NZL, OM=OMN, PH=PHL, ' +
	'PK=PAK, QA=QAT, RU=RUS, SA=SAU, SG=SGP, TR=TUR';

const codeByName: ReadonlyMap<string, string> = new Map([
	...COUNTRIES.flatMap((code) =>
		[countryName(code), shortNames.of(code) ?? code].map(
			(name) => [comparable(name), code] as const,
		),
	),
	...OTHER_NAMES.split(', ').map(
		(entry) => [comparable(entry.slice(3)), entry.slice(0, 2)] as const,
	),
]);

/** Equal for a name in another case, without accents, and with other punctuation. */
function comparable(name: string): string {
	return deburr(name)
		.toLowerCase()
		.replaceAll('&', 'and')
		.replace(/[^a-z]/g, '');
}

/** The alpha-2 code of a country, from a code or a name. */
export function findCountry(text: string): string | undefined {
	const code = text.trim().toUpperCase();
	return codeOf.has(code) ? code : codeByName.get(comparable(text));
}

/**
 * `country_code` of a call, from a code or a name.
 *
 * @throws InvalidInput unless it's the code or the name of one country
 */
export function countryCode(value: unknown): string {
	if (isUnset(value)) throw new InvalidInput("'Country' is empty", enter('Country'));
	const code = findCountry(String(value));
	if (code !== undefined) return code;
	throw new InvalidInput(`'Country' must be a country (got ${quoted(value)})`, enter('Country'));
}

/** `44` for `GB`. */
export function callingCodeOf(country: string): string | undefined {
	return codeOf.get(country);
}

/** The code at the start of international digits. No code is a prefix of another one. */
export function leadingCode(digits: string): string | undefined {
	return [1, 2, 3].map((length) => digits.slice(0, length)).find((code) => codes.has(code));
}
