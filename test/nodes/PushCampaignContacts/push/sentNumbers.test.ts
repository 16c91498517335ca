import fc from 'fast-check';
import { excessOf } from '../../../growth/growth';
import {
	RejectedRows,
	ROW_STATUSES,
	type PushOutcome,
	type RowStatus,
} from '../../../../nodes/PushCampaignContacts/push/outcome';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import {
	isSentNumbersRecord,
	MAX_NUMBERS_KEPT,
	SentNumbers,
	type SentNumbersRecord,
} from '../../../../nodes/PushCampaignContacts/push/sentNumbers';
import { keysOf, phone } from './scripted';

type Round = {
	campaign: number;
	options: string | undefined;
	/** By row: its number, and its result if it is sent. */
	rows: Array<{ number: number; fate: RowStatus | 'pushed' }>;
	/** Whether n8n stores the execution before, and another process continues. */
	isResumed: boolean;
};

const round = fc.record<Round>({
	campaign: fc.constantFrom(4, 42),
	options: fc.constantFrom(undefined, 'x', 'y'),
	rows: fc.array(
		fc.record({
			number: fc.nat(5),
			fate: fc.constantFrom<RowStatus | 'pushed'>('pushed', 'pushed', ...ROW_STATUSES),
		}),
		{ maxLength: 5 },
	),
	isResumed: fc.boolean(),
});

const numbered = (numbers: readonly number[]) => keysOf(numbers.map(phone));

test('across the runs of an execution, leaves out exactly the numbers that are or may be in the campaign', () => {
	fc.assert(
		fc.property(fc.array(round, { maxLength: 6 }), (rounds) => {
			let record: SentNumbersRecord = { count: 0, lists: {} };
			const inCampaign = new Set<string>();
			const maybeInCampaign = new Set<string>();
			for (const { campaign, options, rows, isResumed } of rounds) {
				if (isResumed) record = structuredClone(record);
				expect(isSentNumbersRecord(record)).toBe(true);
				const keys = numbered(rows.map(({ number }) => number));
				const sent = new SentNumbers(record, campaign, options);
				const rejectedRows = new RejectedRows();
				const outcome: PushOutcome = { received: rows.length, pushed: [], rejectedRows };
				const isKnown = (number: number) =>
					maybeInCampaign.has(`${campaign} ${number}`)
						? 'unknown'
						: inCampaign.has(`${campaign} ${options ?? ''} ${number}`)
							? 'duplicate'
							: undefined;
				const indexes = rows.map((_row, index) => index);
				const left = sent.leaveOut(indexes, keys, rejectedRows);
				expect([...left]).toEqual(
					indexes.filter((index) => isKnown(rows[index]?.number ?? -1) === undefined),
				);
				expect(Array.from(rejectedRows, ({ index, status }) => [index, status])).toEqual(
					rows.flatMap(({ number }, index) => {
						const status = isKnown(number);
						return status === undefined ? [] : [[index, status]];
					}),
				);
				// The reasons for people and for models differ.
				const toModel = options === undefined ? 'in this execution' : 'MCP session';
				for (const { status, reason } of rejectedRows) {
					expect(reason).toContain(status === 'unknown' ? 'unknown outcome' : toModel);
				}
				for (const index of left) {
					const { fate = 'pushed', number = -1 } = rows[index] ?? {};
					if (fate === 'pushed')
						outcome.pushed.push({ rows: RowSet.of([index]), response: {}, unmatched: [] });
					else rejectedRows.add(index, fate, '');
					if (fate === 'unknown') maybeInCampaign.add(`${campaign} ${number}`);
					if (fate === 'pushed' || fate === 'skipped_duplicate')
						inCampaign.add(`${campaign} ${options ?? ''} ${number}`);
				}
				sent.add(outcome, keys);
			}
			const lists = Object.values(record.lists);
			expect(record.count).toBe(lists.flatMap((list) => Object.keys(list)).length);
		}),
		{ numRuns: 500 },
	);
});

test('recognizes as many numbers as are stored', () => {
	const record = { count: 0, lists: {} };
	const add = (from: number, count: number) => {
		const rows = Array.from({ length: count }, (_, row) => row);
		const keys = numbered(rows.map((row) => from + row));
		const pushed = [{ rows: RowSet.of(rows), response: {}, unmatched: [] }];
		new SentNumbers(record, 42).add(
			{ received: count, pushed, rejectedRows: new RejectedRows() },
			keys,
		);
	};
	const isKnown = (number: number) => {
		const keys = numbered([number]);
		const rejectedRows = new RejectedRows();
		const left = new SentNumbers(record, 42).leaveOut([0], keys, rejectedRows);
		return left.length === 0;
	};
	add(0, MAX_NUMBERS_KEPT);
	expect(isKnown(MAX_NUMBERS_KEPT - 1)).toBe(true);
	add(MAX_NUMBERS_KEPT, 1);
	expect(isKnown(MAX_NUMBERS_KEPT)).toBe(false);
	expect(isKnown(0)).toBe(true);
});

test('a loop with another number in each iteration takes time in proportion to its iterations', async () => {
	const loop = (rounds: number) => () => {
		const record = { count: 0, lists: {} };
		for (let round = 0; round < rounds; round++) {
			const rejectedRows = new RejectedRows();
			const pushed = [{ rows: RowSet.of([0]), response: {}, unmatched: [] }];
			const keys = numbered([round]);
			const numbers = new SentNumbers(record, 42);
			expect(numbers.leaveOut([0], keys, rejectedRows)).toHaveLength(1);
			numbers.add({ received: 1, pushed, rejectedRows }, keys);
		}
	};
	expect(await excessOf(loop, 10_000)).toBeUndefined();
});

test.each([null, 'sent', [], {}, { count: 0 }, { count: 0, lists: { sent: '9' } }])(
	"%j isn't a record of numbers",
	(stored) => {
		expect(isSentNumbersRecord(stored)).toBe(false);
	},
);
