import isEmpty from 'lodash/isEmpty';
import sumBy from 'lodash/sumBy';
import { NotSent } from '../../shared/api/errors';
import { USER } from '../../shared/api/resolution';
import { isJsonObject } from '../../shared/json';
import type { KeyNumberOf } from './phones';
import { RowSet } from './rowSet';
import type { PushOutcome } from './outcome';
import type { PreparedRows } from './prepareRows';

/** What an execution pushed to its campaigns, for all runs of the node. Stored with the execution. */
export type NumbersRecord = {
	count: number;
	/** By result and campaign. */
	lists: { [list: string]: NumberList };
	/** The runs of the node that push to each campaign, in ascending order. Empty for a model. */
	runs: { [campaign: string]: number[] };
};
/** By their remainder, because an object with a key for each number takes seven times as long to fill. */
export type NumberList = { [remainder: string]: number[] };

/** A prime, so that numbers at regular distances have many remainders. */
const REMAINDERS = 65_521;

/** About 4 MB in the stored execution. */
export const MAX_NUMBERS_KEPT = 250_000;

const SENT =
	"This number was pushed to the campaign earlier in this execution or session, so it wasn't pushed again.";
const UNKNOWN =
	"This number may be in the campaign, because an earlier push of it has an unknown outcome. It wasn't pushed again.";

const UNKNOWN_BEFORE =
	"A row with this number has the status unknown: an earlier push may have added it to a campaign, so it wasn't pushed. Look for the number there. To push it, empty push_status and rejection_status of that row.";

/**
 * The rows of a check without those that a push would leave out.
 *
 * @param unknown the numbers that may have been pushed in this execution
 */
export function withoutUnknown(
	{
		rows,
		phones,
		notPushed,
		unknownBefore,
	}: Pick<PreparedRows, 'rows' | 'phones' | 'notPushed' | 'unknownBefore'>,
	unknown: NumberList,
): RowSet {
	if (unknownBefore.size === 0 && isEmpty(unknown)) return rows;
	const others = new RowSet();
	for (const row of rows) {
		const key = phones.keyNumberAt(row);
		if (unknownBefore.has(key)) notPushed.add(row, 'unknown', UNKNOWN_BEFORE);
		else if (has(unknown, key)) notPushed.add(row, 'unknown', UNKNOWN);
		else others.addRange(row, row);
	}
	return others;
}

/**
 * The numbers that any run of the node pushed to a campaign in this execution, such as the iterations of a loop, several
 * input branches, or several requests of a model.
 */
export class NumbersOfExecution {
	private readonly sent: NumberList;

	/**
	 * @param record changed in place
	 * @param options a fingerprint of what is sent besides the rows, if a number may be pushed again with other options
	 * @param unknown changed in place. Default: those of this node.
	 */
	constructor(
		readonly record: NumbersRecord,
		campaign: number,
		options?: string,
		private readonly unknown: NumberList = (record.lists[`unknown ${campaign}`] ??= {}),
	) {
		const { lists } = record;
		const ofOptions = options === undefined ? '' : ` ${options}`;
		this.sent = lists[`sent ${campaign}${ofOptions}`] ??= {};
	}

	/** @throws NotSent if these rows of a model couldn't all be remembered, so that it could push them twice */
	requireRoom(rows: number): void {
		if (this.record.count + rows <= MAX_NUMBERS_KEPT) return;
		throw new NotSent(
			'This agent run or MCP session has pushed as many contacts as it can, so nothing was sent',
			{ onScreen: '', forModel: `Tell ${USER} which contacts were not pushed.` },
			{ isTransient: false, origin: 'n8n' },
		);
	}

	/** Adds rows with sent numbers, and those that may have been sent, to the rejected ones. @returns the other rows */
	leaveOut(
		rows: readonly number[],
		keyOf: KeyNumberOf,
		{ notPushed, unknownBefore }: Pick<PreparedRows, 'notPushed' | 'unknownBefore'>,
	): readonly number[] {
		if (this.record.count === 0 && unknownBefore.size === 0 && isEmpty(this.unknown)) return rows;
		return rows.filter((index) => {
			const key = keyOf(index);
			if (unknownBefore.has(key)) notPushed.add(index, 'unknown', UNKNOWN_BEFORE);
			else if (has(this.unknown, key)) notPushed.add(index, 'unknown', UNKNOWN);
			else if (has(this.sent, key)) notPushed.add(index, 'duplicate', SENT);
			else return true;
			return false;
		});
	}

	/** Remembers the sent rows, unless there are too many in total. */
	add({ pushed, notPushed }: PushOutcome, keyOf: KeyNumberOf): void {
		// A number that the service skipped as a duplicate is in the campaign too.
		const sent = [...pushed.map(({ rows }) => rows), notPushed.rowsWith('skipped_duplicate')];
		const unknown = notPushed.rowsWith('unknown');
		const { record } = this;
		if (record.count + sumBy([...sent, unknown], 'size') > MAX_NUMBERS_KEPT) return;
		const addTo = (list: NumberList, rows: Iterable<number>) => {
			for (const row of rows) {
				const key = keyOf(row);
				const remainder = key % REMAINDERS;
				const numbers = list[remainder];
				if (numbers?.includes(key) === true) continue;
				if (numbers === undefined) list[remainder] = [key];
				else numbers.push(key);
				record.count++;
			}
		};
		for (const rows of sent) addTo(this.sent, rows);
		addTo(this.unknown, unknown);
	}
}

function has(list: NumberList, key: number): boolean {
	return list[key % REMAINDERS]?.includes(key) === true;
}

/** n8n stores what `NumbersOfExecution` wrote, so its lists aren't checked, which may be long. */
export function isNumbersRecord(stored: unknown): stored is NumbersRecord {
	return isJsonObject(stored) && isJsonObject(stored.lists) && isJsonObject(stored.runs);
}
