import { INDIAN_CODE, isIndian, isMobile, readIndian } from './india';
import { isBlank, isWritten, readWritten, type Unreadable } from './written';

/** A number in one of the two documented formats. */
export interface AcceptedPhone {
	readonly phone: string;
	/** As of `phoneKey.ts`. */
	readonly phoneKey: string;
}

export interface UnusablePhone {
	readonly reason: string;
}

export type PhoneReading = AcceptedPhone | UnusablePhone;

const INTERNATIONAL = /^\+91\d{10}$/;
const ACCEPTED_FORMS =
	'The service accepts 10-digit mobile numbers that start with 6 to 9, and +91 followed by 10 digits.';
const MISSING: UnusablePhone = { reason: 'The phone column of this row is empty.' };
/**
 * A URL query makes a space of +. So these may be numbers of other countries, such as mobile numbers of Singapore and New
 * Zealand, which have ten digits with the code. Those of small countries begin like many Indian numbers with a stray space.
 */
const LOST_PLUS = /^ (?!91\d{10}$)(?:[1-9]\d{10,14}|(?:65[89]|642[167])\d+)$/;
const MAX_SHOWN_CHARACTERS = 40;

/**
 * Reads a cell as the phone number of a contact (Campaigns, rule 1). The first lines handle most cells, because they are much
 * faster.
 */
export function readCampaignPhone(value: unknown): PhoneReading {
	const cell = typeof value === 'number' ? String(value) : value;
	if (typeof cell === 'string' && isMobile(cell)) {
		return { phone: cell, phoneKey: INDIAN_CODE + cell };
	}
	if (typeof cell === 'string' && INTERNATIONAL.test(cell)) {
		return { phone: cell, phoneKey: cell.slice(1) };
	}
	if (typeof cell === 'string' && LOST_PLUS.test(cell)) {
		const issue = 'begins with a space, which may be a + that was lost in a URL';
		return unusableCell(cell, {
			issue,
			resolution: 'Write the number with + and its country code.',
		});
	}
	const written = readWritten(value);
	if (!isWritten(written)) return isBlank(value) ? MISSING : unusableCell(value, written);
	const number = readIndian(written);
	if (!isIndian(number)) return unusableCell(value, number);
	const { subscriber, international } = number;
	const phoneKey = INDIAN_CODE + subscriber;
	if (international) return { phone: `+${phoneKey}`, phoneKey };
	if (isMobile(subscriber)) return { phone: subscriber, phoneKey };
	return unusableCell(value, {
		issue: `starts with ${subscriber.charAt(0)}, but a 10-digit mobile number starts with 6 to 9`,
		resolution: 'If the number is correct, write +91 before it.',
	});
}

/** Whether a cell is a phone number that campaigns accept. */
export function isCampaignPhone(cell: string | number): boolean {
	return isAccepted(readCampaignPhone(cell));
}

export function isAccepted(reading: PhoneReading): reading is AcceptedPhone {
	return 'phone' in reading;
}

function unusableCell(
	value: unknown,
	{ issue, resolution = ACCEPTED_FORMS }: Unreadable,
): UnusablePhone {
	const isText = typeof value === 'string' || typeof value === 'number';
	const cell = isText ? shown(String(value)) : 'The phone number';
	return { reason: `${cell} ${issue}. ${resolution}` };
}

function shown(cell: string): string {
	const text = cell.trim();
	return text.length > MAX_SHOWN_CHARACTERS
		? `"${text.slice(0, MAX_SHOWN_CHARACTERS)}..."`
		: `"${text}"`;
}
