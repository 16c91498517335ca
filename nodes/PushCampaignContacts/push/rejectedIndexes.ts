import uniq from 'lodash/uniq';
import { ServiceRejection, type ExplainedError } from '../../shared/api/errors';
import {
	isJsonObject,
	parseJson,
	valuesIn,
	type JsonObject,
	type JsonValue,
} from '../../shared/json';
import { LIMITS } from '../../shared/api/limits';
import { isMobile } from '../../shared/phone/india';
import type { ByRow } from './phoneArrays';
import type { RejectedRow } from './pushTypes';

/** What the service calls its first contact: the document leaves open whether it counts from 0 or from 1. */
export type IndexBase = 0 | 1;

/** Statuses documented for validation; at any other a rejection is no word about single rows. */
const VALIDATION_STATUSES = new Set([400, 422]);
/** How much of a rejection is compared with the cells of a request. */
const MAX_TEXTS_COMPARED = 20;
const MAX_CHARACTERS_COMPARED = 2_000;
/** Not inside another, as in `contacts[3].contacts[0]`, which names a field of the fourth contact. */
const CONTACT_INDEX = /(?<!\]\.)\bcontacts\s*\[\s*(\d+)\s*\]/gi;

/** Whether the rejection is about the contacts of the request, and so none of them was taken. */
export function isAboutContacts(error: ExplainedError): error is ServiceRejection {
	return error instanceof ServiceRejection && VALIDATION_STATUSES.has(error.status);
}

/** Indexes of contacts in the words of a rejection, each with its text, in the order of the words. */
export type NamedIndexes = {
	/** No row has such words in it, so the service means the contact. */
	certain: ReadonlyMap<number, string>;
	/** A row has the same words in it, so the service may only repeat them. */
	doubtful: ReadonlyMap<number, string>;
};

/** Each index that a rejection names as `contacts[<index>]`. */
export function namedIndexes(error: ExplainedError, repeatable: RepeatableText): NamedIndexes {
	const certain = new Map<number, string>();
	const doubtful = new Map<number, string>();
	if (!isAboutContacts(error)) return { certain, doubtful };
	const { texts } = error.rejection;
	const add = (words: string, text: string) => {
		for (const index of indexesIn(words)) {
			const named = repeatable.indexes.has(index) ? doubtful : certain;
			if (!named.has(index)) named.set(index, text);
		}
	};
	// What isn't the text of a cell comes first, as it is the most likely to be meant.
	for (const text of texts.slice(0, MAX_TEXTS_COMPARED)) add(repeatable.without(text), text);
	for (const text of texts) add(text, text);
	return { certain, doubtful };
}

function indexesIn(text: string): number[] {
	return [...text.matchAll(CONTACT_INDEX)]
		.map(([, index]) => Number(index))
		.filter((index) => index <= LIMITS.contactsPerRequest);
}

/** What a service may repeat of a request and looks like the name of a contact: a cell with `contacts[0]` in it. */
export class RepeatableText {
	/** The longest first, as one may contain another. */
	private readonly texts: readonly string[];
	readonly indexes: ReadonlySet<number>;

	/** @param contacts as JSON, with commas in between */
	static of(contacts: Buffer, additions: JsonObject): RepeatableText {
		// Most requests have no such word in them, and reading them takes long.
		const text = contacts.toString();
		const isWorthReading = /contacts/i.test(text);
		const sent = isWorthReading ? parseJson(`[${text}]`) : undefined;
		return new RepeatableText([sent ?? [], additions]);
	}

	constructor(sent: JsonValue) {
		const texts = new Set<string>();
		for (const value of valuesIn(sent)) {
			const own = isJsonObject(value) ? Object.keys(value) : [value];
			for (const text of own) {
				if (typeof text === 'string' && indexesIn(text).length > 0) texts.add(text);
			}
		}
		this.texts = [...texts].sort((one, other) => other.length - one.length);
		this.indexes = new Set(this.texts.flatMap(indexesIn));
	}

	/** The beginning of a text, without what is in the request. */
	without(text: string): string {
		const begin = text.slice(0, MAX_CHARACTERS_COMPARED);
		return this.texts.reduce((left, own) => left.replaceAll(own, ' '), begin);
	}
}

/** The rows that a doubtful index may mean, the most likely one first. */
export function candidatesFor(
	{ doubtful }: NamedIndexes,
	rows: readonly number[],
	firstIndex: IndexBase | undefined,
): number[] {
	const firsts = firstIndex === undefined ? [1, 0] : [firstIndex];
	const candidates = [...doubtful.keys()].flatMap((index) =>
		firsts.map((first) => rows[index - first]).filter((row) => row !== undefined),
	);
	return uniq(candidates);
}

/** What the indexes themselves tell: nothing but 0 has a 0, and nothing but 1 the number of contacts. */
export function indexBaseOf(
	named: ReadonlyMap<number, string>,
	contacts: number,
): IndexBase | undefined {
	if (named.has(0)) return 0;
	return named.has(contacts) ? 1 : undefined;
}

/** A row that is sent alone to find out: `ifTaken` is what the service counts from when it accepts it, if that shows. */
export type Probe = { row: number; ifTaken?: IndexBase };

/**
 * Of the rows that are meant only under one of both readings, one for either: the last that is named
 * from 0, and the first that is named from 1. The doubtful one is taken, since a rejection leaves nothing
 * behind in the campaign.
 */
export function probeFor(
	named: ReadonlyMap<number, string>,
	rows: readonly number[],
	keys: ByRow<string>,
): Probe | undefined {
	// Not by Math.max: a text can name more contacts than a function takes arguments.
	const indexes = [...named.keys()].sort((one, other) => one - other);
	const fromZero = rows[indexes.at(-1) ?? -1];
	const fromOne = rows[(indexes[0] ?? 0) - 1];
	if (fromOne === undefined) return undefined;
	const isDoubtful = (row: number) => !isMobile(keys.at(row) ?? '');
	return fromZero !== undefined && isDoubtful(fromZero) && !isDoubtful(fromOne)
		? { row: fromZero, ifTaken: 1 }
		: { row: fromOne, ifTaken: 0 };
}

/** The rows that are meant: none as long as it is open which, and none by an index beyond the request. */
export function rowsAtIndexes(
	named: ReadonlyMap<number, string>,
	rows: readonly number[],
	firstIndex: IndexBase | undefined,
): RejectedRow[] {
	if (firstIndex === undefined) return [];
	return [...named].flatMap(([position, text]) => {
		const index = rows[position - firstIndex];
		return index === undefined ? [] : [rejected(index, text)];
	});
}

const MAX_CHARACTERS_SAID = 1_000;

/** One text may name thousands of rows, and each of them comes out with it. */
function shortened(text: string): string {
	return text.length > MAX_CHARACTERS_SAID ? `${text.slice(0, MAX_CHARACTERS_SAID)}…` : text;
}

export function rejected(index: number, text: string): RejectedRow {
	return {
		index,
		status: 'rejected',
		reason: `The service does not accept this row. It said: ${shortened(text)}`,
	};
}
