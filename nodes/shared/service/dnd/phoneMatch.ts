import { isUnset, PHONE_FORMATTING, quoted } from '../calls/callRequestFields';
import { InvalidInput } from '../core/explained';
import { asText } from '../core/identifiers';
import { isAccepted, readPhone } from '../phone';

const WRITTEN = /^\+?\d{4,}$/;

/**
 * The number as the person wrote it, without formatting; which form the service takes is open.
 *
 * @throws InvalidInput when it holds anything but a number
 */
export function parseDndPhone(value: unknown): string {
	if (isUnset(value)) {
		throw new InvalidInput('Phone is empty', 'Enter the phone number, with its country code.');
	}
	const written = asText(value);
	const phone = written.replace(PHONE_FORMATTING, '');
	if (WRITTEN.test(phone) && !/^\d+\.0+$/.test(written)) return phone;
	throw new InvalidInput(
		`Phone holds ${quoted(value)}, which is not a phone number`,
		'Enter digits only, with a leading + where your service wants one. A spreadsheet column must be formatted as text.',
	);
}

/**
 * What makes a number the same in every way of writing it: the ten digits of an Indian mobile
 * number, all digits of any other.
 */
export function phoneKey(phone: string): string {
	const reading = readPhone(phone);
	return isAccepted(reading) ? reading.key : phone.replace(/\D/g, '');
}
