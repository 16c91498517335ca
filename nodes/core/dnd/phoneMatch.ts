import { isUnset, quoted } from '../values/values';
import { InvalidInput } from '../service/errors';
import { givenAs } from '../service/modelFormats';
import { isAccepted, readCampaignPhone } from '../phone/campaignPhone';
import { INDIAN_CODE, isIndian, readIndian } from '../phone/india';
import { columnAdvice, digitsIn, isWritten, readWritten, type Unreadable } from '../phone/written';

const MIN_DIGITS = 4;

const ENTER_DIGITS = 'Enter its digits, with + and country code if your service expects them.';

/**
 * The number without formatting. The document doesn't define the format for this list. Indian numbers must have the right
 * length, so that no impossible number is added.
 *
 * @throws InvalidInput if it isn't a single number
 */
export function parseDndPhone(value: unknown): string {
	if (isUnset(value)) {
		throw new InvalidInput(
			"'Phone' is empty",
			givenAs('Phone', 'Enter the phone number, with its country code.'),
		);
	}
	const written = readWritten(value);
	if (!isWritten(written)) throw notUsable(value, written);
	const { digits, plus } = written;
	if (digits.length < MIN_DIGITS) throw notUsable(value, { issue: "isn't a phone number" });
	const number = readIndian(written);
	if (plus && digits.startsWith(INDIAN_CODE) && !isIndian(number)) throw notUsable(value, number);
	const reading = readCampaignPhone(value);
	// Other digits without + are kept as written, because the service may expect the country code without it.
	const isClear = plus || digits.startsWith('0');
	return isClear && isAccepted(reading) ? reading.phone : `${plus ? '+' : ''}${digits}`;
}

function notUsable(value: unknown, { issue, resolution = ENTER_DIGITS }: Unreadable): InvalidInput {
	return new InvalidInput(
		`'Phone' ${quoted(value)} ${issue}`,
		givenAs('Phone', resolution + columnAdvice(value, 'Phone')),
	);
}

/**
 * Digits that every format of a number contains: the ten digits of an Indian mobile number, or all digits of another number.
 */
export function commonDigits(phone: string): string {
	const reading = readCampaignPhone(phone);
	return isAccepted(reading) ? reading.phoneKey.slice(INDIAN_CODE.length) : digitsIn(phone);
}
