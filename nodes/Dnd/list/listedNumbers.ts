import once from 'lodash/once';
import range from 'lodash/range';
import sortedIndex from 'lodash/sortedIndex';
import uniq from 'lodash/uniq';
import { InvalidInput, OutcomeUnknown } from '../../shared/api/errors';
import { forEveryone, onScreenOnly } from '../../shared/api/resolution';
import { asText } from '../../shared/api/parseIds';
import type { JsonObject } from '../../shared/json';
import { isAccepted, readCampaignPhone } from '../../shared/phone/campaignPhone';
import { leadingCode } from '../../shared/phone/countries';
import { phoneKey } from '../../shared/phone/phoneKey';
import { digitsIn, isMasked, isWritten, readWritten } from '../../shared/phone/written';

/** The shortest possible number. */
const ENDING_DIGITS = 4;

/** Prefixes for international calls, such as 00, 011, or 0011, have up to five digits with a carrier code. */
const MAX_DIAL_PREFIX = 5;

/** A number that is compared without its country, so there's no key that equal numbers have in common. */
type ComparedNumber = {
	/** All digits. Indian mobile numbers include their country code. */
	digits: string;
	/** How the full number may end. Empty if the number has its country code. */
	endings: string[];
};

type ListedNumber = ComparedNumber & { entry: JsonObject };

/** The entries of an agent's list, for looking up numbers. */
export class ListedNumbers {
	private readonly byDigits = new Map<string, ListedNumber>();
	/** Entries that may lack their country code, by the end of the full number. */
	private readonly byEnding = new Map<string, ListedNumber>();
	/** The lengths of these endings. */
	private readonly lengths = new Set<number>();
	/** Entries that aren't a single number, such as two numbers, or a number with an extension. */
	private readonly unclear: ListedNumber[] = [];
	/** Entries that hide digits, by the last digits that they show. */
	private readonly masked = new Map<string, ListedNumber[]>();
	/** The lengths of these digits. */
	private readonly shownLengths = new Set<number>();
	/** Reversed digits, sorted, so that numbers with the same ending are adjacent. */
	private readonly backwards = once(() => [...this.byDigits.keys()].map(reversed).sort());

	/** @throws OutcomeUnknown if an entry has no number, because it could be about any number */
	constructor(entries: readonly JsonObject[]) {
		for (const entry of entries) {
			const phone = asText(entry.phone);
			if (!/\d/.test(phone)) {
				throw new OutcomeUnknown(
					"An entry of the do-not-disturb list has no phone number, so numbers can't be compared with it",
					onScreenOnly(
						'According to its documentation, the service returns phone in each entry. Ask your service provider.',
					),
				);
			}
			const listed = { ...compared(phone), entry };
			if (!this.byDigits.has(listed.digits)) this.byDigits.set(listed.digits, listed);
			if (isMasked(phone)) {
				const shown = phone.split(/\D+/).at(-1) ?? '';
				const alike = this.masked.get(shown) ?? [];
				alike.push(listed);
				this.masked.set(shown, alike);
				this.shownLengths.add(shown.length);
			} else if (!isWritten(readWritten(phone))) this.unclear.push(listed);
			for (const ending of listed.endings) {
				if (this.byEnding.has(ending)) continue;
				this.byEnding.set(ending, listed);
				this.lengths.add(ending.length);
			}
		}
	}

	/**
	 * The entry of a number, or `undefined` if it is certainly not on the list.
	 *
	 * @throws InvalidInput if the number may equal an entry, because one of both has no country code, or the entry isn't a
	 * single number
	 */
	entryOf(phone: string): JsonObject | undefined {
		const wanted = compared(phone);
		const same = this.byDigits.get(wanted.digits);
		if (same !== undefined) return same.entry;
		const unclear =
			this.unclear.find(({ digits }) => mayContain(digits, wanted)) ?? this.maskedLike(wanted);
		if (unclear !== undefined) {
			throw new InvalidInput(
				`"${phone}" may be listed, because the entry "${asText(unclear.entry.phone)}" on the list isn't a single phone number`,
				forEveryone('Correct this entry on the list.'),
			);
		}
		const maybe = this.withCode(wanted) ?? this.withoutCode(wanted) ?? this.dialed(wanted);
		if (maybe === undefined) return undefined;
		throw new InvalidInput(
			`"${phone}" and "${asText(maybe.entry.phone)}" on the list may be the same number, because one of them has no country code`,
			forEveryone('Write the number with + and its country code.'),
		);
	}

	/** An entry with hidden digits that begins and ends like the number. */
	private maskedLike({ digits, endings }: ComparedNumber): ListedNumber | undefined {
		for (const length of this.shownLengths) {
			const alike = this.masked.get(digits.slice(digits.length - length));
			const found = alike?.find(({ entry }) => {
				const [, start = ''] = /^\+(\d+)/.exec(asText(entry.phone)) ?? [];
				return endings.length > 0 || digits.startsWith(start);
			});
			if (found !== undefined) return found;
		}
		return undefined;
	}

	/** An entry that ends with the digits of a number without country code. */
	private withCode({ endings }: ComparedNumber): ListedNumber | undefined {
		for (const ending of endings) {
			for (const listed of this.endingWith(ending)) return listed;
		}
		return undefined;
	}

	/** An equal number, if one of both has a prefix for international calls, such as 011. */
	private dialed({ digits, endings }: ComparedNumber): ListedNumber | undefined {
		if (endings.length === 0) {
			const maxLength = digits.length + MAX_DIAL_PREFIX;
			for (const listed of this.endingWith(digits)) {
				if (listed.endings.length > 0 && listed.digits.length <= maxLength) return listed;
			}
			return undefined;
		}
		const rests = range(1, MAX_DIAL_PREFIX + 1).map((length) => digits.slice(length));
		const listed = rests.map((rest) => this.byDigits.get(rest));
		return listed.find((one) => one !== undefined && one.digits.length >= ENDING_DIGITS);
	}

	private *endingWith(ending: string): Generator<ListedNumber> {
		const all = this.backwards();
		const start = reversed(ending);
		for (let at = sortedIndex(all, start); all[at]?.startsWith(start) === true; at++) {
			const listed = this.byDigits.get(reversed(all[at] ?? ''));
			if (listed !== undefined) yield listed;
		}
	}

	/** An entry without country code, if the number ends with its digits. */
	private withoutCode({ digits }: ComparedNumber): ListedNumber | undefined {
		for (const length of this.lengths) {
			const found = length <= digits.length && this.byEnding.get(digits.slice(-length));
			if (found) return found;
		}
		return undefined;
	}
}

function compared(phone: string): ComparedNumber {
	const reading = readCampaignPhone(phone);
	if (isAccepted(reading)) {
		const hasCode = reading.phone.startsWith('+');
		return { digits: reading.phoneKey, endings: hasCode ? [] : [reading.phone] };
	}
	const digits = digitsIn(phone);
	if (phone.startsWith('+')) return { digits: withoutTrunkZero(digits), endings: [] };
	// 0011 is a prefix itself, and no number with its country code starts with 11.
	if (/^00(?!11)/.test(phone)) return { digits: withoutTrunkZero(digits.slice(2)), endings: [] };
	return { digits, endings: endingsOf(digits) };
}

/** "+44 (0) 20" may be written as +44020. The zero is only dialed within the country. */
function withoutTrunkZero(digits: string): string {
	return phoneKey(`+${digits}`) ?? digits;
}

/** How the full number may end, without the zero or 8 that is only dialed within the country. */
function endingsOf(digits: string): string[] {
	if (digits.length < ENDING_DIGITS) return [];
	const endings = [digits.replace(/^0+/, ''), digits.replace(/^8/, '')];
	const long = uniq(endings).filter(
		(ending) => ending.length >= ENDING_DIGITS && !ending.startsWith('0'),
	);
	return long.length > 0 ? long : [digits.slice(-ENDING_DIGITS)];
}

/** Whether an entry has the digits of the number, with or without its country code. */
function mayContain(listed: string, { digits, endings }: ComparedNumber): boolean {
	const national = digits.slice(leadingCode(digits)?.length ?? 0);
	const wanted = endings.length > 0 ? endings : [national];
	return wanted.some((some) => some.length >= ENDING_DIGITS && listed.includes(some));
}

function reversed(digits: string): string {
	return digits.split('').reverse().join('');
}
