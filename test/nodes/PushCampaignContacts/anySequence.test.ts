import fc from 'fast-check';
import chunk from 'lodash/chunk';
import uniq from 'lodash/uniq';
import type { PushOutcome } from '../../../nodes/PushCampaignContacts/push/outcome';
import {
	EFFECTS,
	newExecution,
	World,
	type Attempt,
	type Effect,
	type Execution,
	type Row,
} from './attempts';
import { phone } from './push/scripted';

/** How the rows change before a retry. */
const EDITS: { [edit: string]: (rows: Row[]) => Row[] } = {
	same: (rows) => rows,
	reversed: (rows) => rows.toReversed(),
	withoutFirst: ([, ...others]) => others,
	withAnother: (rows) => [8, ...rows],
	rotated: ([first, ...others]) => (first === undefined ? [] : [...others, first]),
};

type Retry = Attempt & {
	/** Which stored execution it retries. */
	of: number;
	edit: string;
	/** Whether the next one runs at the same time. */
	isParallel: boolean;
};
type Skipping = 'never' | 'always' | 'in retries';

const retryWith = (effects: readonly Effect[]) =>
	fc.record({
		of: fc.nat(4),
		edit: fc.constantFrom('same', 'same', ...Object.keys(EDITS)),
		isParallel: fc.constantFrom(false, false, true),
		effects: fc.array(fc.constantFrom(...effects), { maxLength: 8 }),
		contactsPerRequest: fc.constantFrom(3, 3, 3, 2, 1),
		settings: fc.constantFrom(0, 0, 1),
		triesAgain: fc.constantFrom(false, false, true),
		continues: fc.constantFrom(false, false, true),
		writes: fc.oneof({ weight: 4, arbitrary: fc.constant(Infinity) }, fc.nat(12)),
	});
const row = fc.oneof<[fc.Arbitrary<number>, fc.Arbitrary<'-'>]>(fc.nat(5), fc.constant('-'));

/** @returns the status of each row, by index */
function statusesOf(batch: readonly Row[], { pushed, notPushed }: PushOutcome): string[] {
	const all = [
		...pushed.flatMap(({ rows }) => Array.from(rows, (index) => ({ index, status: 'pushed' }))),
		...notPushed,
	].sort((one, other) => one.index - other.index);
	expect(all.map(({ index }) => index)).toEqual([...batch.keys()]);
	return all.map(({ status }) => status);
}

/** Requires that each row is reported as it is at this moment. */
function requireTrue(
	batch: readonly Row[],
	statuses: readonly string[],
	accepted: ReadonlyMap<string, number>,
): void {
	for (const [index, number] of batch.entries()) {
		const isAccepted = accepted.has(phone(Number(number)));
		if (statuses[index] === 'pushed') expect([number, isAccepted]).toEqual([number, true]);
		if (['rejected', 'not_sent', 'do_not_disturb'].includes(statuses[index] ?? '')) {
			expect([number, statuses[index], isAccepted]).toEqual([number, statuses[index], false]);
		}
	}
}

/**
 * Runs an execution and its retries.
 *
 * @param areJson whether the rows are in the form, so that any retry can have other ones. Otherwise, they are read again
 * only if n8n has stored nothing
 */
async function runAll(
	rows: Row[],
	perBatch: number,
	all: readonly Retry[],
	{ skipping, areJson }: { skipping: Skipping; areJson: boolean },
): Promise<void> {
	let isSkipping = false;
	const world = new World((batch, outcome) => {
		const statuses = statusesOf(batch, outcome);
		// With Skip Numbers Pushed Before, n8n's store shows only later whether another execution has pushed a row.
		if (!isSkipping) requireTrue(batch, statuses, world.accepted);
	});
	const stored: Execution[] = [];
	const runOne = async (retry: Retry) => {
		const isFirst = stored.length === 0;
		const before = stored[retry.of % stored.length] ?? newExecution(chunk(rows, perBatch));
		const edit = EDITS[retry.edit] ?? ((same) => same);
		const { run, batches, record } = before;
		const isNew = Object.keys(record).length === 0 && run === 0;
		const ofRun = areJson ? batches.with(run, edit(batches[run] ?? [])) : batches;
		const edited = isNew ? chunk(edit(batches.flat()), perBatch) : ofRun;
		return await world.run({ ...before, batches: isFirst ? batches : edited }, retry, isFirst);
	};
	for (let at = 0; at < all.length; at++) {
		isSkipping = skipping === 'always' || (skipping === 'in retries' && stored.length > 0);
		const [one, next] = all.slice(at, at + 2);
		if (one === undefined) break;
		const isPair = next !== undefined && one.isParallel && stored.length > 0;
		if (isPair) at++;
		const pair = isPair ? [one, next].map((each) => ({ ...each, settings: 0 })) : [one];
		const results = await Promise.all(
			pair.map(async (each) => await runOne({ ...each, skipPushedBefore: isSkipping })),
		);
		if (stored.length === 0 && results[0] === 'succeeded') return;
		for (const result of results) if (typeof result !== 'string') stored.push(result);
		if (stored.length === 0) stored.push(newExecution(chunk(rows, perBatch)));
		expect([...world.accepted].filter(([, count]) => count > 1)).toEqual([]);
	}
}

test.each([
	['', false],
	[' whose contacts are edited', true],
])(
	'over any retries of a push%s, no number is pushed twice, and each row is reported once, as it is',
	async (_what, areJson) => {
		const cases = fc.record({
			rows: fc.array(row, { minLength: 1, maxLength: 6 }),
			perBatch: fc.constantFrom(6, 6, 3, 2),
			skipping: fc.constantFrom<Skipping>('never', 'always', 'in retries'),
			all: fc.array(retryWith(EFFECTS), { minLength: 2, maxLength: 5 }),
		});
		await fc.assert(
			fc.asyncProperty(cases, async ({ rows, perBatch, skipping, all }) => {
				// A number that is in several batches may be pushed as often.
				const sent = perBatch >= rows.length ? rows : uniq(rows);
				const attempts = all.map((each) => ({ ...each, skipPushedBefore: false }));
				await runAll(sent, perBatch, attempts, { skipping, areJson });
			}),
			{ numRuns: 1_000 },
		);
	},
);
