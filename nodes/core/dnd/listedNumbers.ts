import memoize from 'lodash/memoize';
import range from 'lodash/range';
import { InvalidInput } from '../service/errors';
import { enter } from '../service/modelFormats';
import { asText, isUnset, quoted } from '../values/values';
import type { JsonObject } from '../values/json';
import { INDIAN_CODE, isAccepted, readCampaignPhone, readIndian } from '../phone/india';
import { lastDigits, readWritten, type Unreadable } from '../phone/written';

/** The shortest possible number. */
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
		throw new InvalidInput("'Phone' is empty", enter('Phone'));
	}
	const written = readWritten(value);
	if ('issue' in written) throw notUsable(value, written);
	const { digits, plus } = written;
	if (digits.length < MIN_DIGITS) throw notUsable(value, { issue: "isn't a phone number" });
	const number = readIndian(written);
	if (plus && digits.startsWith(INDIAN_CODE) && 'issue' in number) throw notUsable(value, number);
	const reading = readCampaignPhone(value);
	// Other digits without + are kept as written, because the service may expect the country code without it.
	const isClear = plus || digits.startsWith('0');
	return isClear && isAccepted(reading) ? reading.phone : `${plus ? '+' : ''}${digits}`;
}

function notUsable(value: unknown, { issue, resolution = ENTER_DIGITS }: Unreadable): InvalidInput {
	return new InvalidInput(`'Phone' ${quoted(value)} ${issue}`, resolution);
}

/** The entries of an agent's list, for looking up numbers by their last digits. */
export class ListedNumbers {
	private readonly byDigits = new Map<string, JsonObject>();
	/** By the last digits of the entries, this many. */
	private readonly byEnding = memoize(
		(length: number) =>
			new Map([...this.byDigits].map(([digits, entry]) => [digits.slice(-length), entry])),
	);
	/** An entry that isn't a single number, such as two numbers, or one that hides digits. It could be about any number. */
	private readonly unclear: JsonObject | undefined;

	constructor(entries: readonly JsonObject[]) {
		const isSingle = ({ phone }: JsonObject) => 'digits' in readWritten(asText(phone));
		for (const entry of entries.filter(isSingle).reverse()) {
			const digits = lastDigits(asText(entry.phone));
			if (digits.length >= MIN_DIGITS) this.byDigits.set(digits, entry);
		}
		this.unclear = entries.find((entry) => !isSingle(entry));
	}

	/**
	 * The entry of a number, or of another one with the same last digits, because either may lack its country code. `undefined`
	 * if it is certainly not on the list.
	 *
	 * @throws InvalidInput if an entry isn't a single number
	 */
	entryOf(phone: string): JsonObject | undefined {
		const digits = lastDigits(phone);
		const endings = range(digits.length, MIN_DIGITS - 1, -1).map((length) => digits.slice(-length));
		const ending = endings.find((one) => this.byDigits.has(one)) ?? '';
		const entry = this.byDigits.get(ending) ?? this.byEnding(digits.length).get(digits);
		if (entry !== undefined || this.unclear === undefined) return entry;
		throw new InvalidInput(
			`"${phone}" may be listed, because the entry "${asText(this.unclear.phone)}" on the list isn't a single phone number`,
			'Treat the number as listed, and correct this entry of the list.',
		);
	}
}
