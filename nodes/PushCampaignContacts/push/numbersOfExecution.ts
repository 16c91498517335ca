import isEmpty from 'lodash/isEmpty';
import { NotSent } from '../../core/service/errors';
import { USER } from '../../core/service/resolution';
import { isJsonObject } from '../../core/values/json';
import type { RowsByStatus } from './outcome';
import type { PreparedRows } from './prepareRows';
import { phoneKeyOf, type Row, settle } from './rows';

/** What an execution pushed to its campaigns, for all runs of the node. Stored with the execution. */
export type NumbersMemory = {
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

const MARKED_UNKNOWN =
	"A row with this number has the status unknown: an earlier push may have added it to a campaign, so it wasn't pushed. Look for the number there. To push it, empty push_status and rejection_status of that row.";

/**
 * The rows of a check without those that a push would leave out.
 *
 * @param unknown the numbers that may have been pushed in this execution
 */
export function withoutUnknown(
	{ rows, markedUnknown }: PreparedRows,
	unknown: NumberList,
): readonly Row[] {
	if (markedUnknown.size === 0 && isEmpty(unknown)) return rows;
	return rows.filter((row) => {
		const reason = whyUnknown(row, markedUnknown, unknown);
		if (reason !== undefined) settle(row, 'unknown', reason);
		return reason === undefined;
	});
}

function whyUnknown(
	row: Row,
	markedUnknown: ReadonlySet<string>,
	unknown: NumberList,
): string | undefined {
	const key = phoneKeyOf(row);
	if (markedUnknown.has(key)) return MARKED_UNKNOWN;
	return has(unknown, key) ? UNKNOWN : undefined;
}

/**
 * The numbers that any run of the node pushed to a campaign in this execution, such as the iterations of a loop, several
 * input branches, or several requests of a model.
 */
export class NumbersOfExecution {
	private readonly sent: NumberList;

	/**
	 * @param memory changed in place
	 * @param options a fingerprint of what is sent besides the rows, if a number may be pushed again with other options
	 * @param unknown changed in place. Default: those of this node.
	 */
	constructor(
		readonly memory: NumbersMemory,
		campaign: number,
		options?: string,
		private readonly unknown: NumberList = (memory.lists[`unknown ${campaign}`] ??= {}),
	) {
		const { lists } = memory;
		const ofOptions = options === undefined ? '' : ` ${options}`;
		this.sent = lists[`sent ${campaign}${ofOptions}`] ??= {};
	}

	/** @throws NotSent if these rows of a model couldn't all be remembered, so that it could push them twice */
	requireRoom(rows: number): void {
		if (this.memory.count + rows <= MAX_NUMBERS_KEPT) return;
		throw new NotSent(
			'This agent run or MCP session has pushed as many contacts as it can, so nothing was sent',
			{ onScreen: '', forModel: `Tell ${USER} which contacts were not pushed.` },
			{ isTransient: false, origin: 'n8n' },
		);
	}

	/** Settles rows with sent numbers, and with those that may have been sent. @returns the other rows */
	leaveOut(rows: readonly Row[], { markedUnknown }: PreparedRows): readonly Row[] {
		if (this.memory.count === 0 && markedUnknown.size === 0 && isEmpty(this.unknown)) return rows;
		return rows.filter((row) => {
			const reason = whyUnknown(row, markedUnknown, this.unknown);
			if (reason !== undefined) settle(row, 'unknown', reason);
			else if (has(this.sent, phoneKeyOf(row))) settle(row, 'duplicate', SENT);
			else return true;
			return false;
		});
	}

	/** Remembers the sent rows, unless there are too many in total. First those that a person must look after. */
	add(rows: RowsByStatus): void {
		this.addTo(this.unknown, rows.with('unknown'));
		// A number that the service skipped as a duplicate is in the campaign too.
		this.addTo(this.sent, rows.with('pushed', 'skipped_duplicate'));
	}

	private addTo(list: NumberList, rows: readonly Row[]): void {
		if (this.memory.count + rows.length > MAX_NUMBERS_KEPT) return;
		for (const row of rows) {
			const key = Number(phoneKeyOf(row));
			const remainder = key % REMAINDERS;
			const numbers = list[remainder] ?? [];
			list[remainder] = numbers;
			if (numbers.includes(key)) continue;
			numbers.push(key);
			this.memory.count++;
		}
	}
}

function has(list: NumberList, key: string): boolean {
	const number = Number(key);
	return list[number % REMAINDERS]?.includes(number) === true;
}

/** n8n stores what `NumbersOfExecution` wrote, so its lists aren't checked, which may be long. */
export function isNumbersMemory(stored: unknown): stored is NumbersMemory {
	return isJsonObject(stored) && isJsonObject(stored.lists) && isJsonObject(stored.runs);
}
