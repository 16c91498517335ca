import groupBy from 'lodash/groupBy';
import { InvalidInput } from '../service/errors';
import { givenAs } from '../service/modelFormats';
import { forEveryone, USER } from '../service/resolution';
import { asText, isUnset, quoted } from '../values/values';
import type { JsonObject } from '../values/json';
import { isAccepted, readCampaignPhone } from '../phone/campaignPhone';
import { INDIAN_CODE, isIndian, readIndian } from '../phone/india';
import { phoneKey } from '../phone/phoneKey';
import { columnAdvice, digitsIn, isWritten, readWritten, type Unreadable } from '../phone/written';
import { withLatinDigits } from '../values/text';

/** The shortest possible number. */
const MIN_DIGITS = 4;

const CORRECT_ENTRY = {
	onScreen: 'Correct this entry on the list.',
	forModel: `Treat the number as listed. Tell ${USER} that this entry of the list must be corrected.`,
};

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

/** A number that is compared without its country, so there's no key that equal numbers have in common. */
type ComparedNumber = {
	/** All digits. Indian mobile numbers include their country code. */
	digits: string;
	hasCode: boolean;
	/** How the full number ends: all digits, or without country code, those that aren't only dialed within the country. */
	ending: string;
};

type ListedNumber = ComparedNumber & { entry: JsonObject };

/** The entries of an agent's list, for looking up numbers. */
export class ListedNumbers {
	/** By their last digits, which all that may be the same number have in common. */
	private readonly byLastDigits: { [lastDigits: string]: ListedNumber[] };
	/** An entry that isn't a single number, such as two numbers, or one that hides digits. It could be about any number. */
	private readonly unclear: JsonObject | undefined;

	constructor(entries: readonly JsonObject[]) {
		const listed = entries.map((entry) => ({ ...compared(asText(entry.phone)), entry }));
		this.byLastDigits = groupBy(listed, ({ digits }) => digits.slice(-MIN_DIGITS));
		this.unclear = entries.find(({ phone }) => !isWritten(readWritten(asText(phone))));
	}

	/**
	 * The entry of a number, or `undefined` if it is certainly not on the list.
	 *
	 * @throws InvalidInput if the number may equal an entry, because one of both has no country code, or an entry isn't a
	 * single number
	 */
	entryOf(phone: string): JsonObject | undefined {
		const wanted = compared(phone);
		const alike = this.byLastDigits[wanted.digits.slice(-MIN_DIGITS)] ?? [];
		const same = alike.find(({ digits }) => digits === wanted.digits);
		if (same !== undefined) return same.entry;
		if (this.unclear !== undefined) {
			throw new InvalidInput(
				`"${phone}" may be listed, because the entry "${asText(this.unclear.phone)}" on the list isn't a single phone number`,
				CORRECT_ENTRY,
			);
		}
		const similar = alike.find((listed) => mayBeSame(listed, wanted));
		if (similar === undefined) return undefined;
		throw new InvalidInput(
			`"${phone}" and "${asText(similar.entry.phone)}" on the list may be the same number, because one of them has no country code`,
			wanted.hasCode ? CORRECT_ENTRY : forEveryone('Write the number with + and its country code.'),
		);
	}
}

/** Whether one number ends like the other. One of both may have a prefix, such as 011. */
function mayBeSame(one: ComparedNumber, other: ComparedNumber): boolean {
	// With their country codes, different digits are different numbers.
	if (one.hasCode && other.hasCode) return false;
	const endsLike = ({ digits }: ComparedNumber, { ending }: ComparedNumber) =>
		ending.length >= MIN_DIGITS && digits.endsWith(ending);
	return endsLike(one, other) || endsLike(other, one);
}

function compared(phone: string): ComparedNumber {
	const reading = readCampaignPhone(phone);
	if (isAccepted(reading)) {
		const { phone: accepted, phoneKey: digits } = reading;
		const hasCode = accepted.startsWith('+');
		return { digits, hasCode, ending: hasCode ? digits : accepted };
	}
	// 0011 is a prefix itself, and no number with its country code starts with 11.
	const international = withLatinDigits(phone).replace(/^00(?!11)/, '+');
	const written = digitsIn(international);
	if (!international.startsWith('+')) {
		const ending = written.replace(/^(?:0+|80*)/, '');
		const isLong = ending.length >= MIN_DIGITS;
		return {
			digits: written,
			hasCode: false,
			ending: isLong ? ending : written.slice(-MIN_DIGITS),
		};
	}
	// "+44 (0) 20" may be written as +44020. The zero is only dialed within the country.
	const digits = phoneKey(`+${written}`) ?? written;
	return { digits, hasCode: true, ending: digits };
}
