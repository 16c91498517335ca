import deburr from 'lodash/deburr';
import { enter } from '../service/modelFormats';
import { InvalidInput } from '../service/errors';
import { normalized } from '../values/text';
import { isUnset, quoted } from '../values/values';

export type Country = { code: string; name: string };

/**
 * ITU calling codes (E.164) with their countries, by their codes in ISO 3166-1: alpha-3, after alpha-2 if that isn't its
 * beginning. A call request needs the number without country
 * code, so the code must be recognized: `+44` isn't an Indian number. With the last ones, which have no own code, these are
 * all countries that the form offers.
 */
const CALLING_CODES =
	'1 USA AG:ATG AIA ASM BB:BRB BMU BS:BHS CAN DMA DOM GD:GRD GUM JM:JAM KNA KY:CYM LCA MP:MNP MSR PRI SXM TCA ' +
	'TTO VCT VGB VIR, 7 RUS KZ:KAZ, 20 EGY, 27 ZAF, 30 GRC, 31 NLD, 32 BEL, 33 FRA, 34 ESP, 36 HUN, 39 ITA VAT, 40 ' +
	'ROU, 41 CHE, 43 AT:AUT, 44 GBR GGY IMN JEY, 45 DK:DNK, 46 SE:SWE, 47 NOR SJM, 48 PL:POL, 49 DEU, 51 PER, 52 ' +
	'MX:MEX, 53 CUB, 54 ARG, 55 BRA, 56 CL:CHL, 57 COL, 58 VEN, 60 MYS, 61 AUS CCK CXR, 62 IDN, 63 PHL, 64 NZL, 65 ' +
	'SGP, 66 THA, 81 JPN, 82 KR:KOR, 84 VNM, 86 CN:CHN, 90 TR:TUR, 91 IND, 92 PK:PAK, 93 AFG, 94 LKA, 95 MMR, 98 ' +
	'IRN, 211 SSD, 212 MAR EH:ESH, 213 DZA, 216 TN:TUN, 218 LY:LBY, 220 GMB, 221 SN:SEN, 222 MRT, 223 MLI, 224 ' +
	'GN:GIN, 225 CIV, 226 BFA, 227 NER, 228 TGO, 229 BJ:BEN, 230 MUS, 231 LR:LBR, 232 SLE, 233 GHA, 234 NGA, 235 ' +
	'TD:TCD, 236 CF:CAF, 237 CMR, 238 CV:CPV, 239 STP, 240 GQ:GNQ, 241 GAB, 242 CG:COG, 243 CD:COD, 244 AO:AGO, ' +
	'245 GW:GNB, 246 IOT, 248 SC:SYC, 249 SDN, 250 RWA, 251 ETH, 252 SOM, 253 DJI, 254 KEN, 255 TZA, 256 UGA, 257 ' +
	'BI:BDI, 258 MZ:MOZ, 260 ZMB, 261 MG:MDG, 262 REU YT:MYT, 263 ZWE, 264 NAM, 265 MWI, 266 LSO, 267 BWA, 268 ' +
	'SZ:SWZ, 269 KM:COM, 290 SHN, 291 ERI, 297 AW:ABW, 298 FO:FRO, 299 GL:GRL, 350 GIB, 351 PT:PRT, 352 LUX, 353 ' +
	'IE:IRL, 354 ISL, 355 ALB, 356 MT:MLT, 357 CYP, 358 FIN AX:ALA, 359 BGR, 370 LTU, 371 LVA, 372 EE:EST, 373 ' +
	'MDA, 374 AM:ARM, 375 BY:BLR, 376 AD:AND, 377 MCO, 378 SMR, 380 UA:UKR, 381 RS:SRB, 382 ME:MNE, 385 HRV, 386 ' +
	'SI:SVN, 387 BA:BIH, 389 MKD, 420 CZE, 421 SK:SVK, 423 LIE, 500 FK:FLK, 501 BZ:BLZ, 502 GTM, 503 SV:SLV, 504 ' +
	'HND, 505 NIC, 506 CRI, 507 PAN, 508 PM:SPM, 509 HTI, 590 GP:GLP BLM MF:MAF, 591 BOL, 592 GY:GUY, 593 ECU, 594 ' +
	'GF:GUF, 595 PY:PRY, 596 MQ:MTQ, 597 SR:SUR, 598 UY:URY, 599 CW:CUW BQ:BES, 670 TLS, 672 NFK, 673 BN:BRN, 674 ' +
	'NRU, 675 PG:PNG, 676 TON, 677 SB:SLB, 678 VUT, 679 FJI, 680 PW:PLW, 681 WF:WLF, 682 CK:COK, 683 NU:NIU, 685 ' +
	'WSM, 686 KIR, 687 NCL, 688 TV:TUV, 689 PF:PYF, 690 TKL, 691 FM:FSM, 692 MHL, 850 KP:PRK, 852 HKG, 853 MO:MAC, ' +
	'855 KHM, 856 LAO, 880 BD:BGD, 886 TWN, 960 MV:MDV, 961 LBN, 962 JOR, 963 SYR, 964 IQ:IRQ, 965 KWT, 966 SAU, ' +
	'967 YEM, 968 OMN, 970 PSE, 971 AE:ARE, 972 IL:ISR, 973 BHR, 974 QAT, 975 BTN, 976 MNG, 977 NPL, 992 TJK, 993 ' +
	'TM:TKM, 994 AZE, 995 GEO, 996 KGZ, 998 UZB, ' +
	' AQ:ATA BVT GS:SGS HMD PN:PCN TF:ATF UMI';

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

const entries = CALLING_CODES.split(', ').flatMap((entry) => {
	const [code, ...countries] = entry.split(' ');
	const ofEach = { callingCode: code === '' ? undefined : code };
	return countries.map((one) => ({ code: one.slice(0, 2), alpha3: one.slice(-3), ...ofEach }));
});
const codeOf = new Map(entries.map(({ code, callingCode }) => [code, callingCode]));
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

/** Other names of countries that are common in sheets and CRMs. */
const OTHER_NAMES: { [code: string]: readonly string[] } = {
	AE: ['UAE', 'Emirates'],
	CI: ['Ivory Coast'],
	CZ: ['Czech Republic'],
	GB: ['Great Britain', 'Britain', 'England', 'Scotland', 'Wales', 'Northern Ireland'],
	IN: ['Republic of India', 'Bharat', 'भारत'],
	KR: ['Korea, Republic of', 'Republic of Korea'],
	NL: ['Holland'],
	RU: ['Russian Federation'],
	SA: ['KSA'],
	TR: ['Turkey', 'Türkiye'],
	US: ['United States of America'],
	VN: ['Viet Nam'],
};

const shortNames = new Intl.DisplayNames('en', { type: 'region', style: 'short' });

const codeByName: ReadonlyMap<string, string> = new Map(
	entries.flatMap(({ code, alpha3 }) => {
		const names = [countryName(code), shortNames.of(code) ?? code, ...(OTHER_NAMES[code] ?? [])];
		return [alpha3, ...names].map((name) => [comparableName(name), code] as const);
	}),
);

/** The alpha-2 code of a country, from a code or a name. */
export function findCountry(text: string): string | undefined {
	const written = text.trim().toUpperCase();
	return codeOf.has(written) ? written : codeByName.get(comparableName(written));
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
		throw new InvalidInput("'Country' is empty", enter('Country'));
	}
	const code = findCountry(String(value));
	if (code !== undefined) return code;
	throw new InvalidInput(`'Country' must be a country (got ${quoted(value)})`, enter('Country'));
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
