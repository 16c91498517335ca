import fc from 'fast-check';
import chunk from 'lodash/chunk';
import isEqual from 'lodash/isEqual';
import partition from 'lodash/partition';
import uniq from 'lodash/uniq';
import type { DeduplicationStore } from '../../../nodes/shared/deduplicationStore';
import { OutcomeUnknown } from '../../../nodes/shared/api/errors';
import { WriteAheadLog } from '../../../nodes/shared/n8n/idempotency/writeAheadLog';
import {
	isRowsMemory,
	type PushLog,
	type RowsMemory,
} from '../../../nodes/PushCampaignContacts/push/begunPush';
import {
	BegunRows,
	type BegunRowsOptions,
} from '../../../nodes/PushCampaignContacts/push/begunRows';
import { KeysByRow, PhonesByRow } from '../../../nodes/PushCampaignContacts/push/phonesByRow';
import { AllRows } from '../../../nodes/PushCampaignContacts/push/rowQueue';
import { RowSet } from '../../../nodes/PushCampaignContacts/push/rowSet';
import { Killed, KillableStore } from './killableStore';
import { phone } from './pushHarness';

describe('rows that are recorded in blocks', () => {
	const numbersOf = (count: number, shift = 0) => {
		const phones = new PhonesByRow();
		for (let row = 0; row < count; row++) phones.set(row, phone(row + shift));
		const all = RowSet.ofRanges([0, count - 1]);
		return { keys: new KeysByRow(phones), rows: all };
	};

	/** What attempts note, over all of them. */
	function log() {
		const noted = new Set<string>();
		return (): PushLog => {
			const own = new Map<string, number>();
			return {
				begin: async (target) => {
					const name = JSON.stringify(target);
					const nth = own.get(name) ?? 0;
					own.set(name, nth + 1);
					const text = `${name} ${nth}`;
					const isNoted = noted.has(text);
					noted.add(text);
					return await Promise.resolve(isNoted);
				},
				release: async (target) => {
					const name = JSON.stringify(target);
					const nth = (own.get(name) ?? 0) - 1;
					own.set(name, nth);
					noted.delete(`${name} ${nth}`);
					await Promise.resolve();
				},
				findBegun: async (targets) => {
					const areBegun = targets.map((target) => {
						const name = JSON.stringify(target);
						const nth = own.get(name) ?? 0;
						const isNoted = noted.has(`${name} ${nth}`);
						if (isNoted) own.set(name, nth + 1);
						return isNoted;
					});
					return await Promise.resolve(areBegun);
				},
				wasBegun: async (target) => {
					const name = JSON.stringify(target);
					return await Promise.resolve(noted.has(`${name} ${own.get(name) ?? 0}`));
				},
			};
		};
	}

	/** n8n's store, which outlives executions. */
	function memoryStore(): DeduplicationStore {
		const texts = new Set<string>();
		return {
			add: async (more) => {
				const added = more.filter((text) => !texts.has(text));
				for (const text of more) texts.add(text);
				return await Promise.resolve(added);
			},
			remove: async (some) => {
				for (const text of some) texts.delete(text);
				await Promise.resolve();
			},
			clear: async () => {
				texts.clear();
				await Promise.resolve();
			},
			count: async () => await Promise.resolve(texts.size),
		};
	}

	/** The logs of an execution and its retries. */
	function attemptsOn(store: DeduplicationStore) {
		let isFirstAttempt = true;
		return (executionId: string) => {
			const origin = { startedAt: 1, executionId, isSubExecution: false };
			const log = new WriteAheadLog(store, origin, { isFirstAttempt });
			isFirstAttempt = false;
			return log;
		};
	}

	test('for any number of rows and request size, exactly the rows that were not begun are fresh', async () => {
		const cases = fc.record({
			count: fc.integer({ min: 1, max: 5_000 }),
			size: fc.integer({ min: 1, max: 700 }),
			part: fc.double({ min: 0, max: 1, noNaN: true }),
		});
		await fc.assert(
			fc.asyncProperty(cases, async ({ count, size, part }) => {
				const attempt = log();
				const { keys, rows } = numbersOf(count);
				const open = async () =>
					await BegunRows.open(
						{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory: {} },
						{ keys, rows },
						size,
						async () => {},
					);
				const first = await open();
				const begun = new Set<number>();
				for (let start = 0; start < part * count; start += size) {
					const { fresh, known } = await first.reserve(rows.slice(start, start + size));
					expect(known).toEqual([]);
					for (const row of fresh) begun.add(row);
				}
				const second = await open();
				const [known, fresh] = [new Set<number>(), new Set<number>()];
				for (let start = 0; start < count; start += size) {
					const found = await second.reserve(rows.slice(start, start + size));
					for (const row of found.known) known.add(row);
					for (const row of found.fresh) fresh.add(row);
				}
				for (const row of begun) expect(known.has(row)).toBe(true);
				expect(known.size + fresh.size).toBe(count);
				// A block may be larger than a request, where a push has more than a thousand of them.
				const block = Math.max(size, Math.ceil(count / 1_000));
				expect(known.size - begun.size).toBeLessThan(block);
			}),
		);
	});

	test('a row that was or may have been pushed is never fresh again', async () => {
		const cases = fc.record({
			gaps: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 300 }),
			blockSize: fc.integer({ min: 1, max: 40 }),
			requestSize: fc.integer({ min: 1, max: 50 }),
			/** How many requests are noted before the result of an earlier one is known. */
			ahead: fc.nat(2),
			rejected: fc.func(fc.boolean()),
		});
		await fc.assert(
			fc.asyncProperty(cases, async ({ gaps, blockSize, requestSize, ahead, rejected }) => {
				const attempt = log();
				let last = -1;
				const rows = gaps.map((gap) => (last += gap));
				const { keys } = numbersOf(last + 1);
				const open = async () =>
					await BegunRows.open(
						{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory: {} },
						{ keys, rows: RowSet.of(rows) },
						blockSize,
						async () => {},
					);
				const first = await open();
				const requests = chunk(rows, requestSize);
				const inFlight: number[][] = [];
				for (const request of requests) {
					inFlight.push((await first.reserve(request)).fresh);
					if (inFlight.length <= ahead) continue;
					const sent = inFlight.shift() ?? [];
					await first.settle(
						sent,
						sent.filter((row) => rejected(row)),
					);
				}
				const isSent = (row: number) => inFlight.flat().includes(row) || !rejected(row);
				const known = chunk(rows, blockSize).filter((block) => block.some(isSent));
				const second = await open();
				for (const request of requests) {
					const { fresh } = await second.reserve(request);
					expect(fresh).toEqual(request.filter((row) => !known.flat().includes(row)));
				}
			}),
		);
	});

	test('in several pushes, no begun row is fresh again, and a retry stops if begun rows are missing', async () => {
		const push = fc.record({ campaign: fc.constantFrom(1, 2), list: fc.nat(2) });
		const cases = fc.record({
			pushes: fc.array(push, { minLength: 1, maxLength: 5 }),
			killedAfter: fc.nat(12),
			/** By push, the list that a retry has instead. */
			changes: fc.array(fc.constantFrom(undefined, undefined, undefined, 0, 3), { maxLength: 5 }),
		});
		const size = 2;
		const count = (names: readonly string[], name: string) =>
			names.filter((one) => one === name).length;
		await fc.assert(
			fc.asyncProperty(cases, async ({ pushes, killedAfter, changes }) => {
				const attempt = log();
				const opener = () => {
					const [own, memory]: [PushLog, RowsMemory] = [attempt(), {}];
					return async (campaign: number, prepared: ReturnType<typeof numbersOf>) =>
						await BegunRows.open(
							{ log: own, campaign, executionId: 'e', push: {}, memory },
							prepared,
							size,
							async () => {},
						);
				};
				const preparedOf = (list: number) => numbersOf(3 + list, 10 * list);
				const [begun, begunPushes]: [string[], string[]] = [[], []];
				const openFirst = opener();
				let reservations = 0;
				for (const { campaign, list } of pushes) {
					const prepared = preparedOf(list);
					const first = await openFirst(campaign, prepared);
					if (reservations < killedAfter) begunPushes.push(`${campaign} ${list}`);
					for (const request of chunk([...prepared.rows], size)) {
						if (++reservations > killedAfter) break;
						expect(await first.reserve(request)).toEqual({ fresh: request, known: [] });
						for (const row of request) begun.push(`${campaign} ${list} ${row}`);
					}
				}
				const [asked, fresh]: [string[], string[]] = [[], []];
				const openSecond = opener();
				let hasStopped = false;
				for (const [index, { campaign, ...before }] of pushes.entries()) {
					const { [index]: list = before.list } = changes;
					const prepared = preparedOf(list);
					const second = await openSecond(campaign, prepared);
					for (const request of chunk([...prepared.rows], size)) {
						const reserved = await second.reserve(request).catch(() => undefined);
						hasStopped ||= reserved === undefined;
						// Once it has stopped, it goes on with no other push.
						expect(reserved === undefined).toBe(hasStopped);
						for (const row of request) asked.push(`${campaign} ${list} ${row}`);
						for (const row of reserved?.fresh ?? []) fresh.push(`${campaign} ${list} ${row}`);
					}
					const isBegun = index < begunPushes.length;
					if (isBegun && !begunPushes.includes(`${campaign} ${list}`))
						expect(hasStopped).toBe(true);
				}
				if (changes.every((list) => list === undefined)) expect(hasStopped).toBe(false);
				for (const row of new Set(asked)) {
					const left = Math.max(0, count(asked, row) - count(begun, row));
					if (hasStopped) expect(count(fresh, row)).toBeLessThanOrEqual(left);
					else expect(count(fresh, row)).toBe(left);
				}
			}),
			{ numRuns: 500 },
		);
	});

	test('in a loop, also with pushes that send nothing, no number is fresh again if rows moved or were corrected', async () => {
		const cell = fc.oneof(fc.nat(6), fc.constant('-'));
		const cases = fc.record({
			cells: fc.array(cell, { minLength: 1, maxLength: 12 }),
			perPush: fc.integer({ min: 1, max: 4 }),
			killedAfter: fc.nat(12),
			/** Of the sheet, before the retry. */
			inserted: fc.array(fc.record({ at: fc.nat(12), number: fc.nat(9) }), { maxLength: 2 }),
			areInvalidRemoved: fc.boolean(),
		});
		await fc.assert(
			fc.asyncProperty(cases, async ({ cells, perPush, killedAfter, ...edits }) => {
				const attempt = attemptsOn(memoryStore());
				const fresh: number[] = [];
				let [reservations, hasStopped] = [0, false];
				const pushAll = async (
					executionId: string,
					sheet: typeof cells,
					maxReservations: number,
				) => {
					const log = attempt(executionId);
					const memory: RowsMemory = {};
					const sentNow = new Set<number>();
					for (const batch of chunk(sheet, perPush)) {
						const numbers = uniq(batch.filter((one) => one !== '-'));
						const phones = new PhonesByRow();
						for (const [row, number] of numbers.entries()) phones.set(row, phone(number));
						const rows = RowSet.ofRanges([0, numbers.length - 1]);
						const options = { log, campaign: 1, executionId, push: {}, memory };
						const prepared = { keys: new KeysByRow(phones), rows };
						const push = await BegunRows.open(options, prepared, 2, async () => {});
						// As `SentNumbers` does with those of earlier pushes.
						const unsent = [...rows].filter((row) => !sentNow.has(numbers[row] ?? 0));
						for (const request of chunk(unsent, 2)) {
							if (reservations++ >= maxReservations) return;
							const reserved = await push.reserve(request).catch(() => undefined);
							hasStopped ||= reserved === undefined;
							for (const row of reserved?.fresh ?? []) fresh.push(numbers[row] ?? 0);
							for (const row of request) sentNow.add(numbers[row] ?? 0);
						}
					}
				};
				await pushAll('first', cells, killedAfter);
				const sheet = edits.areInvalidRemoved ? cells.filter((one) => one !== '-') : [...cells];
				for (const { at, number } of edits.inserted) sheet.splice(at, 0, number);
				await pushAll('retry', sheet, Infinity);
				expect(uniq(fresh)).toEqual(fresh);
				if (isEqual(sheet, cells)) expect(hasStopped).toBe(false);
			}),
			{ numRuns: 1_000 },
		);
	});

	test('over any number of retries, each with its own rows, no row is fresh twice', async () => {
		const attempts = fc.array(
			fc.record({
				list: fc.constantFrom(0, 0, 0, 1, 2),
				/** The number of requests before n8n is killed. */
				killedAfter: fc.nat(6),
				/** Whether it retries the attempt before, which n8n has stored. Otherwise, it retries the first execution. */
				retriesLast: fc.boolean(),
			}),
			{ minLength: 2, maxLength: 6 },
		);
		const size = 2;
		await fc.assert(
			fc.asyncProperty(attempts, async (all) => {
				const attempt = attemptsOn(memoryStore());
				let stored: Pick<BegunRowsOptions, 'push' | 'memory'> | undefined;
				const sent: string[] = [];
				for (const [index, { list, killedAfter, retriesLast }] of all.entries()) {
					const executionId = `e${index}`;
					const { push, memory } = (retriesLast ? stored : undefined) ?? { push: {}, memory: {} };
					const log = attempt(executionId);
					const prepared = numbersOf(5 + list, list);
					const options = { log, campaign: 1, executionId, push, memory };
					const rows = await BegunRows.open(options, prepared, size, async () => {});
					const requests = chunk([...prepared.rows], size).slice(0, killedAfter);
					for (const request of requests) {
						const reserved = await rows.reserve(request).catch(() => undefined);
						for (const row of reserved?.fresh ?? []) sent.push(phone(row + list));
					}
					stored = killedAfter > 3 ? { push, memory } : undefined;
				}
				expect(uniq(sent)).toEqual(sent);
			}),
			{ numRuns: 500 },
		);
	});

	describe('and of which some were pushed and others not sent', () => {
		type Row = 'pushed' | 'unknown' | 'not sent';
		/** One push of an attempt, or one of its tries with *Retry On Fail*. */
		type Try = { requestSize: number; requests: number; rows: Row[] };
		type Attempt = {
			/** The execution that it retries. */
			of: number;
			tries: Try[];
			/** Whether the node pushes the same rows again in a later run, as with *Continue*. */
			continues: boolean;
			/** How often it writes to n8n's database before n8n is killed. */
			writes: number;
			/** Whether n8n stores the execution. Otherwise, it's killed at the end. */
			isStored: boolean;
		};
		/** The progress of a run. */
		type Run = { push: BegunRowsOptions['push']; sent: number[]; unknown: number[] };
		type Execution = { memory: RowsMemory; runs: Run[] };
		const COUNT = 6;
		const newRun = (): Run => ({ push: {}, sent: [], unknown: [] });
		const copyOf = (execution: Execution): Execution => structuredClone(execution);

		/** Pushes the rows without a result, and adds those that were or may have been pushed to `effects`. */
		async function pushOnce(
			options: Omit<BegunRowsOptions, 'push'>,
			run: Run,
			{ requestSize, requests, rows }: Try,
			{
				blockSize,
				effects,
				leftOut = [],
			}: { blockSize: number; effects: number[]; leftOut?: number[] },
			requireAlive: () => void,
		): Promise<void> {
			const prepared = numbersOf(COUNT);
			const sent = [{ campaign: 1, rows: RowSet.of(run.sent.toSorted()).toRanges() }];
			run.push = { ...run.push, sent };
			const begun = await BegunRows.open(
				{ ...options, push: run.push },
				prepared,
				blockSize,
				async () => {},
			);
			requireAlive();
			run.unknown.push(...begun.begunRows());
			const done = new Set([...run.sent, ...run.unknown, ...leftOut]);
			const queue = new AllRows(
				prepared.rows.filter((row) => !done.has(row)),
				'onScreen',
				begun,
			);
			for (let count = 0; count < requests; count++) {
				const request = await queue.take(requestSize);
				requireAlive();
				const isSent = (row: number) => (rows[row % rows.length] ?? 'not sent') !== 'not sent';
				const [sent, unsent] = partition(request, isSent);
				effects.push(...sent);
				run.sent.push(...sent);
				await queue.settle(request, unsent);
				requireAlive();
			}
			await queue.close();
			for (const { rows: skipped } of queue.skipped()) run.unknown.push(...skipped);
		}

		/** @returns the rows that were or may have been pushed, and those that the last attempt reports as unknown */
		async function pushAll(attempts: readonly Attempt[], blockSize: number) {
			const store = new KillableStore();
			const attempt = attemptsOn(store);
			const effects: number[] = [];
			let stored: Execution[] = [{ memory: {}, runs: [newRun()] }];
			let unknown: number[] = [];
			for (const [index, { of, tries, continues, writes, isStored }] of attempts.entries()) {
				const earlier = stored[of % stored.length] ?? { memory: {}, runs: [newRun()] };
				const { memory, runs } = copyOf(earlier);
				const executionId = `e${index}`;
				const log = attempt(executionId);
				const options = { log, campaign: 1, executionId, memory };
				store.left = writes;
				const requireAlive = () => {
					if (store.left < 0) throw new Killed();
				};
				try {
					for (let round = continues ? 2 : 1; round > 0; round--) {
						const run = runs.at(-1) ?? newRun();
						// As `SentNumbers` does.
						const leftOut = runs.slice(0, -1).flatMap(({ sent, unknown }) => [...sent, ...unknown]);
						for (const one of tries) {
							await pushOnce(options, run, one, { blockSize, effects, leftOut }, requireAlive);
						}
						if (round > 1) runs.push(newRun());
					}
					if (!isStored) throw new Killed();
					if (index === 0) await log.clear();
					requireAlive();
					stored = index === 0 ? [{ memory, runs }] : [...stored, { memory, runs }];
					unknown = runs.flatMap((run) => run.unknown);
				} catch (error) {
					// If it's killed while it looks for a push, the next attempt finds one with other rows, and stops.
					if (!(error instanceof Killed)) expect(error).toBeInstanceOf(OutcomeUnknown);
				}
				store.left = Infinity;
			}
			return { effects, unknown };
		}

		const row = fc.constantFrom<Row>('pushed', 'unknown', 'not sent', 'not sent');
		const oneTry = fc.record({
			requestSize: fc.integer({ min: 1, max: 3 }),
			requests: fc.nat(4),
			rows: fc.array(row, { minLength: COUNT, maxLength: COUNT }),
		});
		const tries = fc.array(oneTry, { minLength: 1, maxLength: 2 });
		const blockSizes = fc.integer({ min: 3, max: 6 });

		test('no row is pushed twice, whichever attempts are retried, and whenever n8n is killed', async () => {
			const one = fc.record({
				of: fc.nat(3),
				tries,
				continues: fc.boolean(),
				writes: fc.oneof({ weight: 2, arbitrary: fc.constant(Infinity) }, fc.nat(25)),
				isStored: fc.boolean(),
			});
			const all = fc.array(one, { minLength: 2, maxLength: 5 });
			await fc.assert(
				fc.asyncProperty(all, blockSizes, async (attempts, blockSize) => {
					const { effects } = await pushAll(attempts, blockSize);
					expect(effects.toSorted()).toEqual(uniq(effects).toSorted());
				}),
				{ numRuns: 500 },
			);
		});

		test('none is unknown if each retry is stored and retried in turn', async () => {
			const all = fc.array(tries, { minLength: 2, maxLength: 5 });
			await fc.assert(
				fc.asyncProperty(all, blockSizes, async (triesOfAll, blockSize) => {
					const attempts = triesOfAll.map((ofOne, index) => ({
						of: Math.max(0, index - 1),
						tries: ofOne,
						continues: false,
						writes: Infinity,
						isStored: true,
					}));
					const finish = { requestSize: COUNT, requests: 2, rows: ['pushed' as const] };
					const last = { of: attempts.length - 1, tries: [finish], continues: false };
					const { effects, unknown } = await pushAll(
						[...attempts, { ...last, writes: Infinity, isStored: true }],
						blockSize,
					);
					expect(unknown).toEqual([]);
					expect(effects.toSorted()).toEqual([...numbersOf(COUNT).rows]);
				}),
				{ numRuns: 500 },
			);
		});
	});

	test('a rejected request releases no row of a block while another request of the block is in flight', async () => {
		const attempt = log();
		const open = async () =>
			await BegunRows.open(
				{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory: {} },
				numbersOf(4),
				4,
				async () => {},
			);
		const first = await open();
		await first.reserve([0, 1]);
		await first.reserve([2, 3]);
		await first.settle([0, 1], [0, 1]);
		expect(await (await open()).reserve([0, 1, 2, 3])).toEqual({ fresh: [], known: [0, 1, 2, 3] });
	});

	test('results of unrecorded rows do not prevent recording them', async () => {
		const attempt = log();
		const open = async () =>
			await BegunRows.open(
				{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory: {} },
				numbersOf(3),
				3,
				async () => {},
			);
		const first = await open();
		await first.settle([0], []);
		await first.reserve([0, 1, 2]);
		expect(await (await open()).reserve([0, 1, 2])).toEqual({ fresh: [], known: [0, 1, 2] });
	});

	test.each([
		['a row less', 0, 9],
		['a row more', 0, 11],
		['other rows', 5, 10],
	])('with %s, nothing is fresh', async (_what, shift, count) => {
		const attempt = log();
		// Of the retry: what the killed attempt remembered is lost.
		const kept = {};
		const open = async (prepared: ReturnType<typeof numbersOf>, memory: RowsMemory = kept) =>
			await BegunRows.open(
				{ log: attempt(), campaign: 1, executionId: 'e', push: {}, memory },
				prepared,
				3,
				async () => {},
			);
		await (await open(numbersOf(10), {})).reserve([0, 1, 2]);
		const changed = numbersOf(count, shift);
		await expect((await open(changed)).reserve([0, 1, 2])).rejects.toThrow("can't know");
		// Nor in any later round of a loop, whose rows have moved as well.
		await expect((await open(numbersOf(4, 100))).reserve([0, 1])).rejects.toThrow("can't know");
	});

	const push = { campaign: 42, pushIndex: 0, fingerprint: 'f', blockSize: 10 };
	test.each([
		{},
		{ areChanged: true },
		{ pushes: {} },
		{ pushes: { 42: 1 } },
		{ unrecorded: [push] },
	])('%j is a memory of pushes', (stored) => {
		expect(isRowsMemory(stored)).toBe(true);
	});

	test.each([
		undefined,
		null,
		'pushes',
		[],
		{ areChanged: false },
		{ areChanged: 'yes' },
		{ pushes: null },
		{ pushes: [] },
		{ pushes: { 42: '1' } },
		{ pushes: { 4: 1, 42: null } },
		{ unrecorded: {} },
		{ unrecorded: [{ ...push, pushIndex: '0' }] },
		{ unrecorded: [{ ...push, fingerprint: 1 }] },
		{ unrecorded: [null] },
	])('%j is not a valid record', (stored) => {
		expect(isRowsMemory(stored)).toBe(false);
	});
});
