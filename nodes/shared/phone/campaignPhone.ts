import { isIndian, isMobile, readIndian } from './india';
import { forEveryone } from '../api/modelAdvice';
import { isBlank, isWritten, readWritten, type Unreadable } from './written';

/** A number in one of the two documented forms, and what makes it the same person's in either. */
export interface AcceptedPhone {
	readonly phone: string;
	readonly key: string;
}

export interface UnusablePhone {
	readonly reason: string;
	/** The same for a model. */
	readonly forModel: string;
}

export type PhoneReading = AcceptedPhone | UnusablePhone;

const INTERNATIONAL = /^\+91\d{10}$/;
const ACCEPTED_FORMS = forEveryone(
	'Accepted are 10-digit mobile numbers that start with 6 to 9, and +91 followed by 10 digits.',
);
const MISSING: UnusablePhone = {
	reason: 'The phone number is missing in this row.',
	forModel: 'The phone number is missing.',
};
const SHOWN_CHARACTERS = 40;

/**
 * Reads a cell of a push as a contact's phone (Campaigns, rule 1): a documented form, or why it is
 * none. Most cells need no more than the first two lines; a push of 100,000 rows feels the difference.
 */
export function readCampaignPhone(value: unknown): PhoneReading {
	const cell = typeof value === 'number' ? String(value) : value;
	if (typeof cell === 'string' && isMobile(cell)) return { phone: cell, key: cell };
	if (typeof cell === 'string' && INTERNATIONAL.test(cell)) {
		return { phone: cell, key: cell.slice(3) };
	}
	const written = readWritten(value);
	if (!isWritten(written)) return isBlank(value) ? MISSING : unusableCell(value, written);
	const number = readIndian(written);
	if (!isIndian(number)) return unusableCell(value, number);
	const { subscriber, international } = number;
	if (international) return { phone: `+91${subscriber}`, key: subscriber };
	if (isMobile(subscriber)) return { phone: subscriber, key: subscriber };
	return unusableCell(value, {
		what: `starts with ${subscriber.charAt(0)}, but a 10-digit mobile number starts with 6 to 9`,
		resolution: forEveryone('Write +91 in front if the number is right.'),
	});
}

export function isAccepted(reading: PhoneReading): reading is AcceptedPhone {
	return 'phone' in reading;
}

/** Leaves the cell as it stands; only the key of the person is still worked out where it can be. */
export function readPhoneAsWritten(value: unknown): PhoneReading {
	const phone = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : '';
	const reading = readCampaignPhone(value);
	if (phone === '') return reading;
	return { phone, key: isAccepted(reading) ? reading.key : phone };
}

function unusableCell(
	value: unknown,
	{ what, resolution = ACCEPTED_FORMS }: Unreadable,
): UnusablePhone {
	const isText = typeof value === 'string' || typeof value === 'number';
	const [cell, number] = isText
		? [shown(String(value)), shown(String(value))]
		: ['The phone column', 'The phone number'];
	return {
		reason: `${cell} ${what}. ${resolution.onScreen}`,
		forModel: `${number} ${what}. ${resolution.forModel}`,
	};
}

function shown(cell: string): string {
	const text = cell.trim();
	return text.length > SHOWN_CHARACTERS ? `"${text.slice(0, SHOWN_CHARACTERS)}…"` : `"${text}"`;
}
