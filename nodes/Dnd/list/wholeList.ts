import once from 'lodash/once';
import range from 'lodash/range';
import sortedIndex from 'lodash/sortedIndex';
import type { ApiClient } from '../../shared/api/client';
import { InvalidInput, OutcomeUnknown } from '../../shared/api/errors';
import { forEveryone, onScreenOnly } from '../../shared/api/resolution';
import { asText } from '../../shared/api/parseIds';
import { LIMITS } from '../../shared/api/limits';
import type { ApiMapping } from '../../shared/apiMapping';
import type { JsonObject } from '../../shared/json';
import { hasTrunkZero, leadingCode } from '../../shared/phone/callingCodes';
import { isAccepted, readCampaignPhone } from '../../shared/phone/campaignPhone';
import { phoneKey } from '../../shared/phone/phoneKey';
import { readAllDndEntries, type DndListRequest } from './dndList';

/** The shortest possible number. */
const ENDING_DIGITS = 4;

/** Prefixes for international calls, such as 00, 011, or 0011, have up to five digits with a carrier code. */
const MAX_DIAL_PREFIX = 5;

/** Checks the mapping before anything is sent. Otherwise, only a list with a second page would fail. */
export function requireWholeList(mapping: ApiMapping): void {
	mapping.require(['dndListAgentName', 'dndListPageName']);
}

/**
 * Reads all entries of an agent's list.
 *
 * @throws OutcomeUnknown if entries may be missing
 */
export async function readWholeList(
	client: ApiClient,
	request: Pick<DndListRequest, 'agentUuid' | 'additions' | 'limiter'>,
	mapping: ApiMapping,
): Promise<WholeList> {
	const isSized = mapping.optional('dndListPerPageName') !== undefined;
	const pageSize = isSized ? LIMITS.dndEntriesPerPage : undefined;
	return new WholeList(await readAllDndEntries(client, { ...request, pageSize }, mapping));
}

/** A number in the form for comparison. */
type ComparedNumber = {
	/** All digits. Indian mobile numbers include their country code. */
	digits: string;
	/** Only without a country code: the digits after a possible country code. */
	national?: string;
};

type ListedNumber = ComparedNumber & { entry: JsonObject };

/** All entries of an agent's list, for looking up numbers. */
export class WholeList {
	private readonly byDigits = new Map<string, ListedNumber>();
	/** Entries that may lack their country code, by the end of the full number. */
	private readonly byEnding = new Map<string, ListedNumber>();
	/** The lengths of these endings. */
	private readonly lengths = new Set<number>();
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
			const ending = endingOf(listed);
			if (ending === undefined || this.byEnding.has(ending)) continue;
			this.byEnding.set(ending, listed);
			this.lengths.add(ending.length);
		}
	}

	/**
	 * The entry of a number, or `undefined` if it is certainly not on the list.
	 *
	 * @throws InvalidInput if the number may equal an entry, because one of both has no country code
	 */
	entryOf(phone: string): JsonObject | undefined {
		const wanted = compared(phone);
		const same = this.byDigits.get(wanted.digits);
		if (same !== undefined) return same.entry;
		const maybe = this.withCode(wanted) ?? this.withoutCode(wanted) ?? this.dialled(wanted);
		if (maybe === undefined) return undefined;
		throw new InvalidInput(
			`"${phone}" and "${asText(maybe.entry.phone)}" on the list may be the same number, because one of them has no country code`,
			forEveryone('Write the number with + and its country code.'),
		);
	}

	/** An entry that ends with the digits of a number without country code. */
	private withCode(wanted: ComparedNumber): ListedNumber | undefined {
		const ending = endingOf(wanted);
		if (ending === undefined) return undefined;
		const start = reversed(ending);
		const found = this.backwards()[sortedIndex(this.backwards(), start)];
		return found?.startsWith(start) === true ? this.byDigits.get(reversed(found)) : undefined;
	}

	/** An entry that equals a number after its prefix for international calls, such as 011. */
	private dialled({ digits, national }: ComparedNumber): ListedNumber | undefined {
		if (national === undefined) return undefined;
		const rests = range(1, MAX_DIAL_PREFIX + 1).map((length) => digits.slice(length));
		const listed = rests.map((rest) => this.byDigits.get(rest));
		return listed.find((one) => one !== undefined && one.digits.length >= ENDING_DIGITS);
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
		return { digits: `91${reading.key}`, ...(!hasCode && { national: reading.key }) };
	}
	const digits = phone.replace(/\D/g, '');
	if (phone.startsWith('+')) return { digits: withoutTrunkZero(digits) };
	if (phone.startsWith('00')) return { digits: withoutTrunkZero(digits.slice(2)) };
	// A leading zero is only dialled within the country.
	return { digits, national: digits.replace(/^0+/, '') };
}

/** "+44 (0) 20" may be written as +44020. The zero is only dialled within the country. */
function withoutTrunkZero(digits: string): string {
	return phoneKey(`+${digits}`) ?? digits;
}

/** Digits that the number contains in any format of the service. */
export function searchDigits(phone: string): string {
	const { digits, national } = compared(phone);
	if (national !== undefined) return national;
	const code = leadingCode(digits);
	return code !== undefined && hasTrunkZero(code) ? digits.slice(code.length) : digits;
}

/** The end of a number that may be equal with a country code. `undefined` if it has one, or has too few digits. */
function endingOf({ digits, national }: ComparedNumber): string | undefined {
	if (national === undefined || digits.length < ENDING_DIGITS) return undefined;
	return national.length < ENDING_DIGITS ? digits.slice(-ENDING_DIGITS) : national;
}

function reversed(digits: string): string {
	return digits.split('').reverse().join('');
}
