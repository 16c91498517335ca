import once from 'lodash/once';
import range from 'lodash/range';
import sortedIndex from 'lodash/sortedIndex';
import type { ApiClient } from '../../shared/api/client';
import { InvalidInput, OutcomeUnknown } from '../../shared/api/errors';
import { forEveryone, onScreenOnly } from '../../shared/api/modelAdvice';
import { asText } from '../../shared/api/parseIds';
import { LIMITS } from '../../shared/api/limits';
import type { ApiMapping } from '../../shared/apiMapping';
import type { JsonObject } from '../../shared/json';
import { hasTrunkZero, leadingCode } from '../../shared/phone/callingCodes';
import { isAccepted, readCampaignPhone } from '../../shared/phone/campaignPhone';
import { phoneKey } from '../../shared/phone/phoneKey';
import { readAllDndEntries, type DndListRequest } from './dndList';

/** No number is shorter. */
const ENDING_DIGITS = 4;

/** Dialled before a country code, such as 00, 011 or 0011; with the code of a carrier, up to five digits. */
const LONGEST_DIAL_PREFIX = 5;

/** Fails before anything is sent, rather than at the first list that has a second page. */
export function requireWholeList(details: ApiMapping): void {
	details.require(['dndListAgentName', 'dndListPageName']);
}

/**
 * Every entry of an agent's list.
 *
 * @throws OutcomeUnknown if entries may be missing
 */
export async function readWholeList(
	client: ApiClient,
	request: Pick<DndListRequest, 'agentUuid' | 'additions' | 'limiter'>,
	details: ApiMapping,
): Promise<WholeList> {
	const isSized = details.optional('dndListPerPageName') !== undefined;
	const pageSize = isSized ? LIMITS.dndEntriesPerPage : undefined;
	return new WholeList(await readAllDndEntries(client, { ...request, pageSize }, details));
}

/** A number as it is compared. */
type Compared = {
	/** All digits; those of a mobile number of India with its country code. */
	digits: string;
	/** Where no country code is written: the digits that one may stand before. */
	national?: string;
};

type Listed = Compared & { entry: JsonObject };

/** An agent's whole list, to look many numbers up in. */
export class WholeList {
	private readonly byDigits = new Map<string, Listed>();
	/** Those that may lack their country code, by what the whole number ends with. */
	private readonly byEnding = new Map<string, Listed>();
	/** How long these endings are. */
	private readonly lengths = new Set<number>();
	/** Digits from the last to the first, in order: those with one ending are together. */
	private readonly backwards = once(() => [...this.byDigits.keys()].map(reversed).sort());

	/** @throws OutcomeUnknown where an entry shows no number: nobody could say whom it protects */
	constructor(entries: readonly JsonObject[]) {
		for (const entry of entries) {
			const phone = asText(entry.phone);
			if (!/\d/.test(phone)) {
				throw new OutcomeUnknown(
					'An entry of the do-not-disturb list shows no phone number, so nothing can be compared with it',
					onScreenOnly(
						'The service’s document promises phone in each entry. Ask whoever provides your service.',
					),
				);
			}
			const listed = { ...compared(phone), entry };
			if (!this.byDigits.has(listed.digits)) this.byDigits.set(listed.digits, listed);
			const ending = endingOf(listed);
			if (ending === undefined || this.byEnding.has(ending)) continue;
			this.byEnding.set(ending, listed);
			this.lengths.add(ending.length);
		}
	}

	/**
	 * The entry of a number; `undefined` where it is surely not on the list.
	 *
	 * @throws InvalidInput where the country code that is missing in one of two numbers could make them the same
	 */
	entryOf(phone: string): JsonObject | undefined {
		const wanted = compared(phone);
		const same = this.byDigits.get(wanted.digits);
		if (same !== undefined) return same.entry;
		const maybe = this.withCode(wanted) ?? this.withoutCode(wanted) ?? this.dialled(wanted);
		if (maybe === undefined) return undefined;
		throw new InvalidInput(
			`Phone "${phone}" cannot be told from ${asText(maybe.entry.phone)}, which is on the list: one may be the other without its country code`,
			forEveryone('Write the number with + and its country code.'),
		);
	}

	/** One that ends with the digits of a number without country code. */
	private withCode(wanted: Compared): Listed | undefined {
		const ending = endingOf(wanted);
		if (ending === undefined) return undefined;
		const start = reversed(ending);
		const found = this.backwards()[sortedIndex(this.backwards(), start)];
		return found?.startsWith(start) === true ? this.byDigits.get(reversed(found)) : undefined;
	}

	/** One that a number without country code may dial from abroad, such as with 011. */
	private dialled({ digits, national }: Compared): Listed | undefined {
		if (national === undefined) return undefined;
		const rests = range(1, LONGEST_DIAL_PREFIX + 1).map((length) => digits.slice(length));
		const listed = rests.map((rest) => this.byDigits.get(rest));
		return listed.find((one) => one !== undefined && one.digits.length >= ENDING_DIGITS);
	}

	/** One without country code, with whose digits the number ends. */
	private withoutCode({ digits }: Compared): Listed | undefined {
		for (const length of this.lengths) {
			const found = length <= digits.length && this.byEnding.get(digits.slice(-length));
			if (found) return found;
		}
		return undefined;
	}
}

function compared(phone: string): Compared {
	const reading = readCampaignPhone(phone);
	if (isAccepted(reading)) {
		const hasCode = reading.phone.startsWith('+');
		return { digits: `91${reading.key}`, ...(!hasCode && { national: reading.key }) };
	}
	const digits = phone.replace(/\D/g, '');
	if (phone.startsWith('+')) return { digits: withoutTrunkZero(digits) };
	if (phone.startsWith('00')) return { digits: withoutTrunkZero(digits.slice(2)) };
	// A zero in front is only dialled at home.
	return { digits, national: digits.replace(/^0+/, '') };
}

/** "+44 (0) 20 …" may come as +44020…: that zero is only dialled at home. */
function withoutTrunkZero(digits: string): string {
	return phoneKey(`+${digits}`) ?? digits;
}

/** Digits of a number that are part of it in whichever form the service keeps it. */
export function searchDigits(phone: string): string {
	const reading = readCampaignPhone(phone);
	if (isAccepted(reading)) return reading.key;
	const { digits, national } = compared(phone);
	if (national !== undefined) return national;
	const code = leadingCode(digits);
	return code !== undefined && hasTrunkZero(code) ? digits.slice(code.length) : digits;
}

/** What a number ends with that may be the same with a country code in front; `undefined` where one is written, or there are too few digits to tell. */
function endingOf({ digits, national }: Compared): string | undefined {
	if (national === undefined || digits.length < ENDING_DIGITS) return undefined;
	return national.length < ENDING_DIGITS ? digits.slice(-ENDING_DIGITS) : national;
}

function reversed(digits: string): string {
	return digits.split('').reverse().join('');
}
