import { forEveryone } from '../api/resolution';
import { type Checked, isUnset, problem, quoted } from '../values';
import { phoneNumber } from './callPhone';
import { isAccepted, readCampaignPhone } from './campaignPhone';
import { phoneKey } from './phoneKey';

/**
 * How n8n remembers the number of a call: by its `phone_key`, or by the country and the number as sent if that isn't clear.
 *
 * @param phone `phone_number` of the call
 */
export function calledNumberKey(key: string | null, country: string, phone: string): string {
	return key ?? `${country} ${phone}`;
}

/**
 * How n8n remembers a number that was called or pushed, whatever its format.
 *
 * @param country ISO 3166-1 alpha-2 of a number that is written without its country code
 */
export function numberKey(value: unknown, country: string | undefined): Checked<string> {
	if (isUnset(value)) {
		return problem("'Phone' is empty", forEveryone('Enter the phone number to forget.'));
	}
	if (country !== undefined) {
		const sent = phoneNumber(value, country);
		if ('problem' in sent) return sent;
		return { value: calledNumberKey(phoneKey(value, country), country, sent.value) };
	}
	const pushed = readCampaignPhone(value);
	const key = phoneKey(value) ?? (isAccepted(pushed) ? pushed.key : null);
	if (key !== null) return { value: key };
	return problem(
		`'Phone' ${quoted(value)} has no clear international format`,
		forEveryone("Enter the number with + and its country code, or choose its 'Country'."),
	);
}
