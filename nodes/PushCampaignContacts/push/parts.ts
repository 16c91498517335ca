import chunk from 'lodash/chunk';
import sortBy from 'lodash/sortBy';
import sortedIndexBy from 'lodash/sortedIndexBy';
import uniq from 'lodash/uniq';
import {
	type ExplainedError,
	InvalidInput,
	OutcomeUnknown,
	ServiceRejection,
} from '../../core/service/errors';
import { VALIDATION_STATUSES } from '../../core/service/http';
import { forEveryone, onScreenOnly, type Resolution } from '../../core/service/resolution';
import type { JsonObject } from '../../core/values/json';
import { messageOf } from '../../core/values/values';
import { PUSH_LIMITS, type Row } from './rows';

/** Rows to send in one request: a chunk of the push, or a part of one that was rejected. */
export type Part = {
	/** The number of the chunk, and then of each part in the one before, such as "3.0". */
	readonly key: string;
	readonly rows: readonly Row[];
	readonly chunk: Chunk;
	/** Whether it's a row that a rejection may have named. */
	readonly isAlone: boolean;
};

/** What the parts of a chunk share: how many of its rows are sent alone because of rejections, also in an earlier attempt. */
type Chunk = { sentAlone: number };

/**
 * What became of a part, stored with the execution. It has no rows and no phone numbers: rows are stored by their position in
 * the part.
 * - `accepted`: the service accepted the request. `rows`: those that it had, if not all.
 * - `rejected`: the service rejected the row.
 * - `split`: the request was rejected, and is sent in parts. The rows in `alone` are sent alone, or without any, halves.
 */
export type PartResult =
	| AcceptedPart
	| { kind: 'rejected'; reason: string }
	| { kind: 'split'; alone: number[] };

export type AcceptedPart = { kind: 'accepted'; response: JsonObject; rows?: number[] };

/** The chunks of a push. */
export function chunksOf(rows: readonly Row[], contactsPerRequest: number): Part[] {
	return chunk(rows, contactsPerRequest).map((own, index) => ({
		key: String(index),
		rows: own,
		chunk: { sentAlone: 0 },
		isAlone: false,
	}));
}

/** The parts of a part that was rejected: the rows at these positions, and the others. Without any, halves. */
export function partsOf(part: Part, positions: readonly number[]): Part[] {
	const { key, rows } = part;
	const alone = new Set(positions);
	const lists =
		alone.size === 0
			? chunk(rows, Math.ceil(rows.length / 2))
			: [
					...positions.map((at) => rows.slice(at, at + 1)),
					rows.filter((_row, at) => !alone.has(at)),
				];
	return lists
		.map((own, nth) => ({ ...part, key: `${key}.${nth}`, rows: own, isAlone: nth < alone.size }))
		.filter((one) => one.rows.length > 0);
}

/** How many rows more are sent alone because of this result. */
export function countAlone({ isAlone }: Part, result: PartResult): number {
	if (result.kind === 'split') return result.alone.length;
	return result.kind === 'rejected' && !isAlone ? 1 : 0;
}

/** The rest of a part whose other rows an earlier attempt sent. */
export function restOf(part: Part, rows: readonly Row[]): Part {
	return { ...part, key: `${part.key} rest`, rows };
}

/** The positions of some rows of a part. Both are in order. */
export function positionsOf(some: readonly Row[], { rows }: Part): number[] {
	return some.map((row) => sortedIndexBy(rows, row, 'index'));
}

/** What a person can do if an earlier attempt may have pushed rows. */
export const COMPARE_LISTS =
	"Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists). Then push the missing rows in a new execution.";

export const BEGUN_EARLIER: Resolution = {
	onScreen: `An earlier attempt of this execution may have pushed this row, and n8n has no record of the result. It wasn't sent again. ${COMPARE_LISTS}`,
	forModel:
		'This contact may have been pushed before, but the result is unknown. It was not sent again.',
};

/**
 * No row is sent, because any of them may be in the campaign. In a retry that continues a loop over a sub-workflow, the first
 * batch differs from that of the first attempt, although nothing was changed.
 */
export function rowsChanged(): OutcomeUnknown {
	return new OutcomeUnknown(
		"The rows or the options differ from those of an earlier attempt of this execution, so the node can't know which rows it pushed",
		{
			onScreen: `No row was sent again. ${COMPARE_LISTS}`,
			forModel: 'No row was sent again.',
		},
		{ origin: 'n8n' },
	);
}

/** The execution was stopped, or a tool ran out of time. */
export function pushInterrupted(): ExplainedError {
	return new InvalidInput(
		"The push was stopped, so the remaining rows weren't sent",
		forEveryone('You can push the remaining rows again.'),
	);
}

export function unexpectedError(error: unknown): OutcomeUnknown {
	return new OutcomeUnknown(
		"Something unexpected happened while a request was in flight, so it's unknown whether it took effect",
		onScreenOnly('Check the campaign in the service before you push these rows again.'),
		{ originalMessage: messageOf(error), origin: 'n8n' },
	);
}

const PAYLOAD_TOO_LARGE = 413;
/** Ignores nested ones: `contacts[3].contacts[0]` names a field of a contact. */
const CONTACT_INDEX = /(?<!\]\.)\bcontacts\s*\[\s*(\d+)\s*\]/gi;
const MAX_REASON_CHARACTERS = 1_000;

/**
 * What a rejection means for the rows of its request. Rows that it may have named are sent alone, and then the others. If the
 * request was too large, its halves are sent.
 *
 * @param rows of the part that were sent
 * @returns undefined if it isn't about single rows, so that the push must stop
 */
export function readRejection(
	error: ExplainedError,
	part: Part,
	rows: readonly Row[],
): Exclude<PartResult, { kind: 'accepted' }> | undefined {
	const isTooLarge = error instanceof ServiceRejection && error.status === PAYLOAD_TOO_LARGE;
	const named = rowsNamedIn(error, rows);
	const areNamed = named.length > 0 || (part.isAlone && isAboutContacts(error));
	if (!isTooLarge && !areNamed) return undefined;
	if (rows.length === 1)
		return {
			kind: 'rejected',
			reason: isTooLarge ? reasonOfTooLarge(error) : rejectionReason(error),
		};
	return { kind: 'split', alone: isTooLarge ? [] : positionsOf(named, part) };
}

/** Why the push stops although each rejection named its rows. Undefined if it goes on. */
export function tooManyRejected(
	{ originalMessage }: ExplainedError,
	sentAlone: number,
): ExplainedError | undefined {
	if (sentAlone <= PUSH_LIMITS.sentAlone) return undefined;
	return new InvalidInput(
		`The service may reject more than ${PUSH_LIMITS.sentAlone} rows of one request, so the remaining rows weren't sent`,
		onScreenOnly("The rows probably have the same fault, such as a wrong 'Phone Column'."),
		{ originalMessage },
	);
}

function reasonOfTooLarge({ originalMessage }: ExplainedError): string {
	const said = originalMessage === undefined ? '' : ` The service said: ${originalMessage}`;
	return `The row is too large for the service, even in a request of its own. Shorten its texts, or send fewer of them.${said}`;
}

/**
 * Whether the rejection is about contacts, so that the service accepted none of them. A rejection with another status isn't
 * about single rows.
 */
function isAboutContacts(error: ExplainedError): error is ServiceRejection {
	return error instanceof ServiceRejection && VALIDATION_STATUSES.has(error.status);
}

/**
 * The rows that a rejection may name as `contacts[<index>]`. The document doesn't say whether the service counts from 0 or
 * 1, so an index can mean two rows. The service may also quote the text of a cell. So each of these rows must be sent alone.
 *
 * @param rows of the request
 */
export function rowsNamedIn(error: ExplainedError, rows: readonly Row[]): Row[] {
	if (!isAboutContacts(error)) return [];
	const text = error.rejection.texts.join('\n');
	const indexes = uniq([...text.matchAll(CONTACT_INDEX)].map(([, index]) => Number(index)));
	const positions = indexes.flatMap((index) => [index, index - 1]);
	return sortBy(uniq(positions.flatMap((position) => rows[position] ?? [])), 'index');
}

/** The reason of a row that the service rejected when it was sent alone. */
function rejectionReason(error: ExplainedError): string {
	const text = isAboutContacts(error) ? error.rejection.texts.join(' · ') : error.message;
	const shown =
		text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}...` : text;
	return `The service rejected this row: ${shown}`;
}
