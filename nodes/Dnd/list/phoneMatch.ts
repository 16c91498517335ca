import { isUnset, quoted } from '../../shared/values';
import { InvalidInput } from '../../shared/api/errors';
import { forEveryone } from '../../shared/api/modelAdvice';
import { givenAs } from '../../shared/modelForms';
import { isAccepted, readCampaignPhone } from '../../shared/phone/campaignPhone';
import { isIndian, isMobile, readIndian } from '../../shared/phone/india';
import { isWritten, readWritten, type Unreadable } from '../../shared/phone/written';

const FEWEST_DIGITS = 4;
const TODO = forEveryone(
	'Enter its digits, with a leading + and country code where your service wants one.',
);

/**
 * The number as the person wrote it, without formatting; which form the service takes is open. Of
 * India's numbers the length is known, so that none is protected that nobody has.
 *
 * @throws InvalidInput when it holds anything but one number
 */
export function parseDndPhone(value: unknown): string {
	if (isUnset(value)) {
		throw new InvalidInput(
			'Phone is empty',
			givenAs('Phone', 'Enter the phone number, with its country code.'),
		);
	}
	const written = readWritten(value);
	if (!isWritten(written)) throw notUsable(value, written);
	const { digits, plus } = written;
	if (digits.length < FEWEST_DIGITS) throw notUsable(value, { what: 'is not a phone number' });
	const number = readIndian(written);
	if (plus && digits.startsWith('91')) {
		if (isIndian(number)) return `+91${number.subscriber}`;
		throw notUsable(value, number);
	}
	const isDialledFromAbroad = digits.startsWith('00') && isIndian(number);
	if (isDialledFromAbroad && isMobile(number.subscriber)) return `+91${number.subscriber}`;
	return plus ? `+${digits}` : digits;
}

function notUsable(value: unknown, { what, resolution = TODO }: Unreadable): InvalidInput {
	return new InvalidInput(`Phone ${quoted(value)} ${what}`, givenAs('Phone', resolution.onScreen));
}

/**
 * What makes a number the same in every way of writing it: the ten digits of an Indian mobile
 * number, all digits of any other.
 */
export function comparedDigits(phone: string): string {
	const reading = readCampaignPhone(phone);
	return isAccepted(reading) ? reading.key : phone.replace(/\D/g, '');
}
