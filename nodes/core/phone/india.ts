import { counted, quoted } from '../values/values';
import { isBlank, readWritten, type Unreadable, type Written } from './written';

/** The ten digits of an Indian number. `international`: it was written with +91, 0091, or 91. */
type IndianNumber = { subscriber: string; international: boolean };

export const INDIA = 'IN';
export const INDIAN_CODE = '91';
const SUBSCRIBER_DIGITS = 10;
const MOBILE = /^[6-9]/;

/** Reads an Indian number in any format. */
export function readIndian({ digits, plus }: Written): IndianNumber | Unreadable {
	if (plus) return withCode(digits);
	// No Indian number begins with two zeros.
	if (digits.startsWith('00')) return withCode(digits.slice(2));
	const national = digits.replace(/^0/, '');
	if (national.length === SUBSCRIBER_DIGITS) return { subscriber: national, international: false };
	const hasCode = national.startsWith(INDIAN_CODE) && national.length > SUBSCRIBER_DIGITS;
	return hasCode
		? withCode(national)
		: wrongLength(national, digits === national ? '' : ' after its 0');
}

function withCode(digits: string): IndianNumber | Unreadable {
	if (!digits.startsWith(INDIAN_CODE)) return { issue: "isn't a +91 number" };
	// "+91 098765 43210" has a zero that is only dialed within the country.
	const subscriber = digits.slice(INDIAN_CODE.length).replace(/^0(?=\d{10}$)/, '');
	if (subscriber.length !== SUBSCRIBER_DIGITS) return wrongLength(subscriber, ' after +91');
	return { subscriber, international: true };
}

function wrongLength({ length }: string, where: string): Unreadable {
	return {
		issue: `has ${counted(length, 'digit')}${where} instead of ${SUBSCRIBER_DIGITS}`,
		resolution: 'Enter the ten digits of the number, with or without +91.',
	};
}

/** A number in one of the two documented formats of campaigns, and its `phone_key`. */
interface AcceptedPhone {
	readonly phone: string;
	readonly phoneKey: string;
}

export type PhoneReading = AcceptedPhone | { readonly reason: string };

const ACCEPTED_FORMS =
	'The service accepts 10-digit mobile numbers that start with 6 to 9, and +91 followed by 10 digits.';
/**
 * A URL query makes a space of +. With their code, mobile numbers of Singapore and New Zealand have ten digits. Those of small
 * countries begin like many Indian numbers with a stray space.
 */
const LOST_PLUS = /^ (?:65[89]|642[167])\d+$/;

/** Reads a cell as the phone number of a contact (Campaigns, rule 1). */
export function readCampaignPhone(value: unknown): PhoneReading {
	if (isBlank(value)) return { reason: 'The phone column of this row is empty.' };
	if (typeof value === 'string' && LOST_PLUS.test(value)) {
		return unusable(value, {
			issue: 'begins with a space, which may be a + that was lost in a URL',
			resolution: 'Write the number with + and its country code.',
		});
	}
	const written = readWritten(value);
	const number = 'issue' in written ? written : readIndian(written);
	if ('issue' in number) return unusable(value, number);
	const { subscriber, international } = number;
	const phoneKey = INDIAN_CODE + subscriber;
	if (international) return { phone: `+${phoneKey}`, phoneKey };
	if (MOBILE.test(subscriber)) return { phone: subscriber, phoneKey };
	return unusable(value, {
		issue: `starts with ${subscriber.charAt(0)}, but a 10-digit mobile number starts with 6 to 9`,
		resolution: 'If the number is correct, write +91 before it.',
	});
}

function unusable(value: unknown, { issue, resolution = ACCEPTED_FORMS }: Unreadable) {
	return { reason: `${quoted(value)} ${issue}. ${resolution}` };
}

export function isAccepted(reading: PhoneReading): reading is AcceptedPhone {
	return 'phone' in reading;
}

/** Whether a cell is a phone number that campaigns accept. */
export function isCampaignPhone(cell: string | number): boolean {
	return isAccepted(readCampaignPhone(cell));
}
