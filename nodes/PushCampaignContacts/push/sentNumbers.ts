import type { Additions } from '../../shared/api/endpoints';
import { shortFingerprint } from '../../shared/hash';
import { isJsonObject } from '../../shared/json';
import type { ByRow } from './phones';
import type { PreparedRows } from './prepareRows';
import type { CampaignTarget, PushOutcome } from './pushTypes';
import type { RejectedRows, RowStatus } from './rejectedRows';

/** Numbers by result and campaign, separated by spaces. Stored with the execution. */
export type SentNumbersRecord = { [list: string]: string };

/** About 3 MB in the stored execution. */
export const MAX_NUMBERS_KEPT = 250_000;

const SENT =
	"An earlier run of this node in this execution pushed this number to the campaign, so it wasn't pushed again.";
const SENT_FOR_MODEL =
	'This number is in the campaign already. It was pushed before in this agent run or MCP session, and not again.';
const UNKNOWN =
	"This number may be in the campaign, because an earlier push of it has an unknown outcome. It wasn't pushed again.";

/** A number that the service skipped as a duplicate is in the campaign too. */
const IN_CAMPAIGN: readonly RowStatus[] = ['skipped_duplicate'];

/**
 * The numbers that any run of the node pushed to a campaign in this execution, such as the iterations of a loop, several
 * input branches, or several requests of a model.
 */
export class SentNumbers {
	private readonly sentList: string;
	private readonly unknownList: string;

	/**
	 * @param record changed in place
	 * @param options a fingerprint of what is sent besides the rows, if a number may be pushed again with other options
	 */
	constructor(
		private readonly record: SentNumbersRecord,
		campaign: number,
		private readonly options?: string,
	) {
		this.sentList = ['sent', campaign, ...(options === undefined ? [] : [options])].join(' ');
		this.unknownList = `unknown ${campaign}`;
	}

	/** Adds rows with sent numbers to the rejected ones. @returns the other rows */
	leaveOut(
		rows: readonly number[],
		keys: ByRow<string>,
		rejectedRows: RejectedRows,
	): readonly number[] {
		const [sent, unknown] = [this.read(this.sentList), this.read(this.unknownList)];
		if (sent.size + unknown.size === 0) return rows;
		const reasonOfSent = this.options === undefined ? SENT : SENT_FOR_MODEL;
		return rows.filter((index) => {
			const key = keys.at(index) ?? '';
			if (unknown.has(key)) rejectedRows.add({ index, status: 'unknown', reason: UNKNOWN });
			else if (sent.has(key))
				rejectedRows.add({ index, status: 'duplicate', reason: reasonOfSent });
			else return true;
			return false;
		});
	}

	/** Remembers the sent rows, unless there are too many in total. */
	add({ pushed, rejectedRows }: PushOutcome, { keys }: Pick<PreparedRows, 'keys'>): void {
		const [sent, unknown] = [this.read(this.sentList), this.read(this.unknownList)];
		const count = pushed.reduce((sum, { rows }) => sum + rows.size, sent.size + unknown.size);
		if (count > MAX_NUMBERS_KEPT) return;
		const keysWith = (statuses: readonly RowStatus[]) =>
			Array.from(rejectedRows.rowsWith(...statuses), (row) => keys.at(row) ?? '');
		const keysOfPushed = pushed.flatMap(({ rows }) =>
			Array.from(rows, (row) => keys.at(row) ?? ''),
		);
		this.write(this.sentList, [...keysOfPushed, ...keysWith(IN_CAMPAIGN)]);
		this.write(this.unknownList, keysWith(['unknown']));
	}

	private read(list: string): Set<string> {
		const known = setsOf(this.record).get(list);
		if (known !== undefined) return known;
		const text = this.record[list];
		const numbers = new Set(text === undefined ? [] : text.split(' '));
		setsOf(this.record).set(list, numbers);
		return numbers;
	}

	private write(list: string, keys: readonly string[]): void {
		const numbers = this.read(list);
		const fresh: string[] = [];
		for (const key of keys) {
			if (numbers.has(key)) continue;
			numbers.add(key);
			fresh.push(key);
		}
		if (fresh.length === 0) return;
		const before = this.record[list];
		const text = fresh.join(' ');
		this.record[list] = before === undefined ? text : `${before} ${text}`;
	}
}

/** The parsed lists of each record, because a loop may have many iterations. */
const sets = new WeakMap<SentNumbersRecord, Map<string, Set<string>>>();

function setsOf(record: SentNumbersRecord): Map<string, Set<string>> {
	const known = sets.get(record) ?? new Map<string, Set<string>>();
	sets.set(record, known);
	return known;
}

export function isSentNumbersRecord(stored: unknown): stored is SentNumbersRecord {
	return isJsonObject(stored) && Object.values(stored).every((list) => typeof list === 'string');
}

/** A fingerprint of what is sent besides the rows: campaign, agent, release, additional fields. */
export function optionsFingerprint(campaign: CampaignTarget, additions: Additions): string {
	return shortFingerprint([JSON.stringify([campaign, additions])], 16);
}
