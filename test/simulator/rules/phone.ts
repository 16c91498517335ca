import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js';
import type { Dialect } from '../dialects';

/** ISO 3166-1 alpha-2, the officially assigned codes. */
const CODES =
	'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
	'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR ' +
	'GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP ' +
	'KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT ' +
	'MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW ' +
	'SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ ' +
	'UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW';

export const countryCodes: ReadonlySet<string> = new Set(CODES.split(' '));

/** International form of a plausible number (digits only, no country code), else null. */
export function internationalForm(
	digits: string,
	country: string,
	trunkZeroAccepted: boolean,
): string | null {
	if (!/^\d{4,15}$/.test(digits)) return null;
	// Uninhabited territories have ISO codes but no numbering plan.
	if (!isSupportedCountry(country)) return null;
	const parsed = parsePhoneNumberFromString(digits, country);
	if (!parsed?.isPossible()) return null;
	const trunkZero = digits.startsWith('0') && !parsed.nationalNumber.startsWith('0');
	return trunkZero && !trunkZeroAccepted ? null : parsed.number;
}

/** The digits of a number in any format, for comparing. */
export function digitsOf(phone: string): string {
	return phone.replace(/\D/g, '');
}

/** International form of a number in a format that the dialect accepts, otherwise null. */
export function dndPhone(value: string, forms: Dialect['dnd']['phoneForms']): string | null {
	const text = value.trim();
	const digits = digitsOf(text);
	if (forms === 'international') return /^\+\d{8,15}$/.test(text) ? text : null;
	if (forms === 'digits' && !/^\+?\d+$/.test(text)) return null;
	if (/^[6-9]\d{9}$/.test(digits)) return `+91${digits}`;
	return digits.length >= 8 && digits.length <= 15 ? `+${digits}` : null;
}
