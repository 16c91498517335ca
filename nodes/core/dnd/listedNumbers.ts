import compact from 'lodash/compact';
import memoize from 'lodash/memoize';
import partition from 'lodash/partition';
import uniq from 'lodash/uniq';
import { InvalidInput } from '../service/errors';
import { givenAs } from '../service/modelFormats';
import { forEveryone, type Resolution, USER } from '../service/resolution';
import { asText, isUnset, quoted } from '../values/values';
import type { JsonObject } from '../values/json';
import { isAccepted, readCampaignPhone } from '../phone/campaignPhone';
import { INDIAN_CODE, isIndian, readIndian } from '../phone/india';
import { nationalEndings, phoneKey, withoutPrefixes } from '../phone/phoneKey';
import { columnAdvice, digitsIn, isWritten, readWritten, type Unreadable } from '../phone/written';
import { withLatinDigits } from '../values/text';

/** The shortest possible number. */
const MIN_DIGITS = 4;

const CORRECT_ENTRY = {
	onScreen: 'Correct this entry on the list.',
	forModel: `Treat the number as listed. Tell ${USER} that this entry of the list must be corrected.`,
};

/** As `+54 9 11 …` and `+54 11 …`. */
const SAME_FORM = {
	onScreen: "If it's the same person, write the number as it is on the list.",
	forModel: CORRECT_ENTRY.forModel,
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
	/** How the full number may end: all digits, or without country code, those that aren't only dialed within the country. */
	endings: string[];
};

type ListedNumber = ComparedNumber & { entry: JsonObject };

/** The entries of an agent's list, for looking up numbers. */
export class ListedNumbers {
	private readonly byDigits: ReadonlyMap<string, ListedNumber>;
	/** Those with their country codes, by what is equal if they may be the same. */
	private readonly byLooseKey: ReadonlyMap<string, ListedNumber>;
	private readonly withCode: NumbersByEnding;
	private readonly withoutCode: NumbersByEnding;
	/** An entry that isn't a single number, such as two numbers, or one that hides digits. It could be about any number. */
	private readonly unclear: JsonObject | undefined;

	constructor(entries: readonly JsonObject[]) {
		const listed = entries.map((entry) => ({ ...compared(asText(entry.phone)), entry }));
		const [withCode, withoutCode] = partition(listed, 'hasCode');
		this.byDigits = new Map(listed.map((one) => [one.digits, one] as const).reverse());
		this.byLooseKey = new Map(withCode.map((one) => [withoutPrefixes(one.digits), one]));
		this.withCode = new NumbersByEnding(withCode);
		this.withoutCode = new NumbersByEnding(withoutCode);
		this.unclear = entries.find(({ phone }) => !isWritten(readWritten(asText(phone))));
	}

	/**
	 * The entry of a number, or `undefined` if it is certainly not on the list.
	 *
	 * @throws InvalidInput if the number may equal an entry, because one of both has no country code, or a prefix that isn't
	 * always dialed, or an entry isn't a single number
	 */
	entryOf(phone: string): JsonObject | undefined {
		const wanted = compared(phone);
		const same = this.byDigits.get(wanted.digits);
		if (same !== undefined) return same.entry;
		if (this.unclear !== undefined) {
			throw new InvalidInput(
				`"${phone}" may be listed, because the entry "${asText(this.unclear.phone)}" on the list isn't a single phone number`,
				CORRECT_ENTRY,
			);
		}
		const { hasCode, digits } = wanted;
		const prefixed = hasCode ? this.byLooseKey.get(withoutPrefixes(digits)) : undefined;
		if (prefixed !== undefined)
			throw maybeListed(phone, prefixed, "has a prefix that isn't always dialed", SAME_FORM);
		// With their country codes, different digits are different numbers.
		const alike =
			this.withoutCode.find(wanted) ?? (hasCode ? undefined : this.withCode.find(wanted));
		if (alike === undefined) return undefined;
		const resolution = hasCode
			? CORRECT_ENTRY
			: forEveryone('Write the number with + and its country code.');
		throw maybeListed(phone, alike, 'has no country code', resolution);
	}
}

function maybeListed(
	phone: string,
	{ entry }: ListedNumber,
	why: string,
	resolution: Resolution,
): InvalidInput {
	return new InvalidInput(
		`"${phone}" and "${asText(entry.phone)}" on the list may be the same number, because one of them ${why}`,
		resolution,
	);
}

/** Finds a number that ends like another one, in a time that doesn't depend on how many end alike. */
class NumbersByEnding {
	private readonly byEnding: ReadonlyMap<string, ListedNumber>;
	private readonly lengths: number[];
	/** By the last digits, this many. */
	private readonly byLast = memoize(
		(count: number) => new Map(this.listed.map((one) => [one.digits.slice(-count), one])),
	);

	constructor(private readonly listed: ListedNumber[]) {
		const entries = listed.flatMap((one) =>
			longEndings(one).map((ending) => [ending, one] as const),
		);
		this.byEnding = new Map(entries);
		this.lengths = uniq(entries.map(([{ length }]) => length));
	}

	/** One of both may have a prefix, such as 011. */
	find(wanted: ComparedNumber): ListedNumber | undefined {
		const endings = longEndings(wanted);
		const ends = [...endings, ...this.lengths.map((length) => wanted.digits.slice(-length))];
		const shorter = ends.map((end) => this.byEnding.get(end));
		const longer = endings.map((ending) => this.byLast(ending.length).get(ending));
		return compact([...shorter, ...longer])[0];
	}
}

function longEndings({ endings }: ComparedNumber): string[] {
	return endings.filter(({ length }) => length >= MIN_DIGITS);
}

function compared(phone: string): ComparedNumber {
	const reading = readCampaignPhone(phone);
	if (isAccepted(reading)) {
		const { phone: accepted, phoneKey: digits } = reading;
		const hasCode = accepted.startsWith('+');
		return { digits, hasCode, endings: [hasCode ? digits : accepted] };
	}
	// 0011 is a prefix itself, and no number with its country code starts with 11.
	const international = withLatinDigits(phone).replace(/^00(?!11)/, '+');
	const written = digitsIn(international);
	if (!international.startsWith('+')) {
		const endings = nationalEndings(written);
		const isLong = endings.every(({ length }) => length >= MIN_DIGITS);
		return {
			digits: written,
			hasCode: false,
			endings: isLong ? endings : [written.slice(-MIN_DIGITS)],
		};
	}
	// "+44 (0) 20" may be written as +44020. The zero is only dialed within the country.
	const digits = phoneKey(`+${written}`) ?? written;
	return { digits, hasCode: true, endings: [digits] };
}
