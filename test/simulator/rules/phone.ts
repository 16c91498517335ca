import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js';

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
