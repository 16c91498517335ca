import { forEveryone } from '../api/resolution';
import { type Checked, isUnset, problem, quoted } from '../values';
import { phoneNumber } from './callPhone';
import { isAccepted, readCampaignPhone, readPhoneAsWritten } from './campaignPhone';
import { phoneKey } from './phoneKey';

/** A number as n8n remembers it: its keys among pushed numbers, and among called ones. */
export type NumberKeys = { pushed: readonly string[]; called: readonly string[] };

/**
 * A call is known by the international form of its number, or by the country and the number as sent if that isn't clear.
 *
 * @param phone `phone_number` of the call
 */
export function callKey(key: string | null, country: string, phone: string): string {
	return key ?? `${country} ${phone}`;
}

/**
 * The keys under which a number may be remembered, whatever its format.
 *
 * @param country ISO 3166-1 alpha-2 of a number that is written without its country code
 */
export function numberKeys(value: unknown, country: string | undefined): Checked<NumberKeys> {
	if (isUnset(value)) {
		return problem("'Phone' is empty", forEveryone('Enter the phone number to forget.'));
	}
	const written = readPhoneAsWritten(value);
	// Digits of another country can look like an Indian number.
	const isPushed = (key: string) =>
		country === undefined || phoneKey(value, country) === phoneKey(key, 'IN');
	const pushed = isAccepted(written) && isPushed(written.key) ? [written.key] : [];
	if (country !== undefined) {
		const sent = phoneNumber(value, country);
		if ('problem' in sent) return sent;
		return { value: { pushed, called: [callKey(phoneKey(value, country), country, sent.value)] } };
	}
	// Campaigns accept Indian numbers only, so these digits are one.
	const isCampaignPhone = isAccepted(readCampaignPhone(value));
	const key = phoneKey(value) ?? (isCampaignPhone ? phoneKey(value, 'IN') : null);
	if (key !== null) return { value: { pushed, called: [key] } };
	return problem(
		`'Phone' ${quoted(value)} has no clear international format`,
		forEveryone("Enter the number with + and its country code, or choose its 'Country'."),
	);
}
