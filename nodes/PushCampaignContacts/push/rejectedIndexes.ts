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
import type { ByRow } from './phonesByRow';
import type { RejectedRow } from './rejectedRows';

/** The index of the first contact in the service's messages. The document doesn't say whether it counts from 0 or 1. */
export type IndexBase = 0 | 1;

/** The documented statuses of validation errors. A rejection with another status isn't about single rows. */
const VALIDATION_STATUSES = new Set([400, 422]);
/** Limits of the comparison between a rejection and the cells of the request. */
const MAX_TEXTS_COMPARED = 20;
const MAX_CHARACTERS_COMPARED = 2_000;
/** Ignores nested ones: `contacts[3].contacts[0]` names a field of a contact. */
const CONTACT_INDEX = /(?<!\]\.)\bcontacts\s*\[\s*(\d+)\s*\]/gi;

/** Whether the rejection is about contacts, so that the service accepted none of them. */
export function isAboutContacts(error: ExplainedError): error is ServiceRejection {
	return error instanceof ServiceRejection && VALIDATION_STATUSES.has(error.status);
}

/** The contact indexes in a rejection with their texts, in order of appearance. */
export type NamedIndexes = {
	/** No row contains this text, so the service means the contact. */
	certain: ReadonlyMap<number, string>;
	/** A row contains the same text, so the service may only quote it. */
	doubtful: ReadonlyMap<number, string>;
};

/** Finds each `contacts[<index>]` in a rejection. */
export function namedIndexes(error: ExplainedError, repeatable: RepeatableText): NamedIndexes {
	const certain = new Map<number, string>();
	const doubtful = new Map<number, string>();
	if (!isAboutContacts(error)) return { certain, doubtful };
	const { texts } = error.rejection;
	const add = (part: string, text: string) => {
		for (const index of indexesIn(part)) {
			const named = repeatable.indexes.has(index) ? doubtful : certain;
			if (!named.has(index)) named.set(index, text);
		}
	};
	// First the parts that aren't text of a cell, because the service most likely means them.
	for (const text of texts.slice(0, MAX_TEXTS_COMPARED)) add(repeatable.without(text), text);
	for (const text of texts) add(text, text);
	return { certain, doubtful };
}

function indexesIn(text: string): number[] {
	return [...text.matchAll(CONTACT_INDEX)]
		.map(([, index]) => Number(index))
		.filter((index) => index <= LIMITS.contactsPerRequest);
}

/** Cell texts that contain something like `contacts[0]`. The service may quote them in a rejection. */
export class RepeatableText {
	/** The longest first, because one may contain another. */
	private readonly texts: readonly string[];
	readonly indexes: ReadonlySet<number>;

	/** @param contacts as JSON, with commas in between */
	static of(contacts: Buffer, additions: JsonObject): RepeatableText {
		// Most requests don't contain the word, and parsing takes long.
		const text = contacts.toString();
		const mayContainIndex = /contacts/i.test(text);
		const sent = mayContainIndex ? parseJson(`[${text}]`) : undefined;
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

	/** The beginning of a text, without the texts of the request. */
	without(text: string): string {
		const begin = text.slice(0, MAX_CHARACTERS_COMPARED);
		return this.texts.reduce((rest, own) => rest.replaceAll(own, ' '), begin);
	}
}

/** The rows that a doubtful index may mean, the most likely first. */
export function candidatesFor(
	{ doubtful }: NamedIndexes,
	rows: readonly number[],
	indexBase: IndexBase | undefined,
): number[] {
	const bases = indexBase === undefined ? [1, 0] : [indexBase];
	const candidates = [...doubtful.keys()].flatMap((index) =>
		bases.map((base) => rows[index - base]).filter((row) => row !== undefined),
	);
	return uniq(candidates);
}

/** Index 0 only exists when counting from 0, and an index equal to the number of contacts only when counting from 1. */
export function indexBaseOf(
	named: ReadonlyMap<number, string>,
	contacts: number,
): IndexBase | undefined {
	if (named.has(0)) return 0;
	return named.has(contacts) ? 1 : undefined;
}

/** A row to send alone. `ifAccepted`: the index base if the service accepts it, if that shows. */
export type Probe = { row: number; ifAccepted?: IndexBase };

/**
 * Chooses a row that is named only when counting from 0 (the last one) or only when counting from 1 (the first one).
 * Prefers a row that isn't a mobile number, because a rejected row doesn't change the campaign.
 */
export function probeFor(
	named: ReadonlyMap<number, string>,
	rows: readonly number[],
	keys: ByRow<string>,
): Probe | undefined {
	// Math.max can't take as many arguments as a text may have indexes.
	const indexes = [...named.keys()].sort((one, other) => one - other);
	const fromZero = rows[indexes.at(-1) ?? -1];
	const fromOne = rows[(indexes[0] ?? 0) - 1];
	if (fromOne === undefined) return undefined;
	const isDoubtful = (row: number) => !isMobile(keys.at(row) ?? '');
	return fromZero !== undefined && isDoubtful(fromZero) && !isDoubtful(fromOne)
		? { row: fromZero, ifAccepted: 1 }
		: { row: fromOne, ifAccepted: 0 };
}

/** The named rows. Empty if the index base isn't known. Ignores indexes beyond the request. */
export function rowsAtIndexes(
	named: ReadonlyMap<number, string>,
	rows: readonly number[],
	indexBase: IndexBase | undefined,
): RejectedRow[] {
	if (indexBase === undefined) return [];
	return [...named].flatMap(([position, text]) => {
		const index = rows[position - indexBase];
		return index === undefined ? [] : [rejected(index, text)];
	});
}

const MAX_REASON_CHARACTERS = 1_000;

/** One text may name thousands of rows, and each of them gets it as its reason. */
function truncated(text: string): string {
	return text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}...` : text;
}

export function rejected(index: number, text: string): RejectedRow {
	return {
		index,
		status: 'rejected',
		reason: `The service rejected this row: ${truncated(text)}`,
	};
}
