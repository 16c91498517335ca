/** Any sequence of executions, their retries, faults of the service, and ends of n8n. */
import fc from 'fast-check';
import chunk from 'lodash/chunk';
import uniq from 'lodash/uniq';
import type { ApiClient } from '../../../nodes/shared/api/client';
import { NotSent } from '../../../nodes/shared/api/errors';
import { type HttpResponse, TransportFault } from '../../../nodes/shared/api/http';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import { type DeduplicationStore, findByAdding } from '../../../nodes/shared/deduplicationStore';
import { noLimit, runExclusive } from '../../../nodes/shared/keyedMutex';
import { AttemptState, Notes } from '../../../nodes/shared/n8n/once/notes';
import {
	NumbersOfExecution,
	type NumbersRecord,
} from '../../../nodes/PushCampaignContacts/push/numbersOfExecution';
import type { PushOutcome } from '../../../nodes/PushCampaignContacts/push/outcome';
import type { PushRecord } from '../../../nodes/PushCampaignContacts/push/pushRecord';
import { clientOf } from '../shared/api/clientOf';
import { accept, json, phone, phonesOf, push, reject, scripted } from './push/scripted';
import { MANY_RUNS, TIMEOUT_MS } from '../../fuzz/runs';

/** The number of a person, or an unusable cell. */
type Row = number | '-';

/** What a request does, and what happens in n8n at that moment. */
const EFFECTS = [
	...['accept', 'accept', 'stop', 'rejectFirst', 'rejectSecond', 'rejectLast', 'tooLarge'],
	...['dnd', 'duplicate', 'lose', 'loseAccepted', 'wrongCounts'],
	...['kill', 'killAccepted', 'storeFails', 'storeFailsStored'],
] as const;
type Effect = (typeof EFFECTS)[number];

/** How the rows change before a retry. */
const EDITS: { [edit: string]: (rows: Row[]) => Row[] } = {
	same: (rows) => rows,
	reversed: (rows) => rows.toReversed(),
	withoutFirst: ([, ...others]) => others,
	withAnother: (rows) => [8, ...rows],
	rotated: ([first, ...others]) => (first === undefined ? [] : [...others, first]),
};

/** One execution: the first one, or a retry. */
type Attempt = {
	/** Which stored execution it retries. */
	of: number;
	edit: string;
	/** Whether the next one runs at the same time. */
	isParallel: boolean;
	effects: Effect[];
	contactsPerRequest: number;
	/** Other ones change what a row sends. */
	settings: number;
	/** Whether *Retry On Fail* is on. */
	triesAgain: boolean;
	/** Whether *On Error* is set to continue. */
	continues: boolean;
	/** Writes to n8n's database until n8n is killed. */
	writes: number;
};
const attempt: fc.Arbitrary<Attempt> = fc.record({
	of: fc.nat(4),
	edit: fc.constantFrom('same', 'same', ...Object.keys(EDITS)),
	isParallel: fc.constantFrom(false, false, true),
	effects: fc.array(fc.constantFrom(...EFFECTS), { maxLength: 8 }),
	contactsPerRequest: fc.constantFrom(3, 3, 3, 2, 1),
	settings: fc.constantFrom(0, 0, 1),
	triesAgain: fc.constantFrom(false, false, true),
	continues: fc.constantFrom(false, false, true),
	writes: fc.oneof({ weight: 4, arbitrary: fc.constant(Infinity) }, fc.nat(12)),
});

/** What n8n has stored of an execution. */
type Execution = {
	batches: Row[][];
	/** The run of the node, as in a loop. */
	run: number;
	record: PushRecord;
	numbers: NumbersRecord;
};
const newExecution = (batches: Row[][]): Execution => ({
	batches,
	run: 0,
	record: {},
	numbers: { count: 0, lists: {}, runs: {} },
});

/** The process of one execution, which ends when n8n is killed. */
class Process {
	isKilled = false;
	fails: 'before' | 'after' | undefined;

	constructor(private writes: number) {}

	/** A list in n8n's database. */
	open(texts: Set<string>): DeduplicationStore {
		const add = async (given: string[]) =>
			await this.write(() => {
				const added = given.filter((text) => !texts.has(text));
				for (const text of added) texts.add(text);
				return added;
			});
		const remove = async (given: string[]) => {
			await this.write(() => given.map((text) => texts.delete(text)));
		};
		return {
			...{ add, remove },
			find: async (given, mark) => await findByAdding({ add, remove }, given, mark),
			clear: async () => await this.write(() => texts.clear()),
			count: async () => await Promise.resolve(texts.size),
		};
	}

	private async write<T>(run: () => T): Promise<T> {
		await Promise.resolve();
		this.isKilled ||= this.writes-- <= 0;
		if (this.isKilled) throw new Error('killed');
		const { fails } = this;
		this.fails = undefined;
		const fault = new NotSent('The database is locked', forEveryone('Try again.'));
		if (fails === 'before') throw fault;
		const result = run();
		if (fails === 'after') throw fault;
		return result;
	}
}

/** The service and n8n's database, which outlive executions. */
class World {
	/** How often the service accepted each number. */
	readonly accepted = new Map<string, number>();
	private readonly notes = new Set<string>();
	private readonly pushedBefore = new Set<string>();
	private lists = 500;

	/** @param onOutcome called for each run of the node that n8n stores */
	constructor(private readonly onOutcome: (batch: Row[], outcome: PushOutcome) => void) {}

	/** @returns what n8n has stored, or how it ended otherwise */
	async run(
		stored: Execution,
		attempt: Attempt,
		{ isFirst, isSkipping }: { isFirst: boolean; isSkipping: boolean },
	): Promise<Execution | 'succeeded' | 'killed'> {
		const execution = structuredClone(stored);
		const process = new Process(attempt.writes);
		const store = process.open(this.notes);
		const notes = new Notes(store, new AttemptState('execution', isFirst), () => 0, noLimit);
		const client = this.clientFor(process, attempt.effects);
		const pushedBefore = isSkipping ? this.exclusive(process.open(this.pushedBefore)) : undefined;
		for (; execution.run < execution.batches.length; execution.run++) {
			const batch = execution.batches[execution.run] ?? [];
			const items = batch.map((row) => ({ json: { phone: row === '-' ? row : phone(row) } }));
			const options = {
				...scripted(accept).options,
				client,
				contactsPerRequest: attempt.contactsPerRequest,
				additions: attempt.settings === 0 ? {} : { body: { settings: attempt.settings } },
				note: async (part: [number, number], content: string) =>
					await notes.addPart(['push', 42, execution.run, ...part], content),
				numbersPushedBefore: pushedBefore,
			};
			const pushOnce = async () => {
				const numbersOfExecution = new NumbersOfExecution(execution.numbers, 42);
				return await push(items, { ...options, numbersOfExecution }, execution.record);
			};
			let outcome: PushOutcome;
			try {
				outcome = await pushOnce();
				if (outcome.stopped !== undefined && !process.isKilled && attempt.triesAgain) {
					outcome = await pushOnce();
				}
			} catch (error) {
				if (process.isKilled) return 'killed';
				throw error;
			}
			if (process.isKilled) return 'killed';
			this.onOutcome(batch, outcome);
			if (outcome.stopped !== undefined && !attempt.continues) {
				// n8n has stored the execution by then.
				if (isFirst) await notes.release();
				return execution;
			}
			execution.record = {};
		}
		return 'succeeded';
	}

	private exclusive(store: DeduplicationStore): DeduplicationStore {
		const { pushedBefore } = this;
		return {
			...store,
			add: async (texts) => await runExclusive(pushedBefore, async () => await store.add(texts)),
			find: async (texts, mark) =>
				await runExclusive(pushedBefore, async () => await store.find(texts, mark)),
			remove: async (texts) =>
				await runExclusive(pushedBefore, async () => await store.remove(texts)),
		};
	}

	private clientFor(process: Process, effects: readonly Effect[]): ApiClient {
		let requests = 0;
		return clientOf(async (request) => {
			await Promise.resolve();
			if (process.isKilled) throw new TransportFault('ECONNREFUSED', 'ECONNREFUSED');
			return this.respond(phonesOf(request), effects[requests++] ?? 'accept', process);
		});
	}

	private respond(phones: string[], effect: Effect, process: Process): HttpResponse {
		const [first = '', ...others] = phones;
		const named = (index: number) => reject(`contacts[${index}].city is invalid`);
		if (effect === 'rejectFirst') return named(0);
		if (effect === 'rejectSecond') return named(1);
		if (effect === 'rejectLast') return named(phones.length);
		if (effect === 'stop') return json(401, {});
		if (effect === 'tooLarge' && phones.length > 1) return json(413, {});
		if (effect === 'kill' || effect === 'killAccepted') process.isKilled = true;
		if (effect === 'storeFails') process.fails = 'before';
		if (effect === 'storeFailsStored') process.fails = 'after';
		if (effect === 'kill' || effect === 'lose') throw new TransportFault('ECONNRESET', '');
		const isSkipping = effect === 'dnd' || effect === 'duplicate';
		for (const one of isSkipping ? others : phones) {
			this.accepted.set(one, (this.accepted.get(one) ?? 0) + 1);
		}
		if (effect === 'loseAccepted') throw new TransportFault('ECONNRESET', '');
		if (effect === 'wrongCounts') return accept([...phones, first], ++this.lists);
		const data = {
			campaign_upload_id: ++this.lists,
			contacts_accepted: isSkipping ? others.length : phones.length,
			enqueued: true,
			...(effect === 'dnd' && { dnd_skipped: [{ phone: first }] }),
			...(effect === 'duplicate' && { engine_skipped_duplicates: [first] }),
		};
		return json(200, { success: true, data });
	}
}

/** Requires that each row is reported once, and if nothing else runs, as it is at this moment. */
function requireTrue(
	batch: readonly Row[],
	{ pushed, notPushed }: PushOutcome,
	accepted: ReadonlyMap<string, number>,
	isAlone: boolean,
): void {
	const all = [
		...pushed.flatMap(({ rows }) => Array.from(rows, (index) => ({ index, status: 'pushed' }))),
		...notPushed,
	].sort((one, other) => one.index - other.index);
	expect(all.map(({ index }) => index)).toEqual([...batch.keys()]);
	const isAcceptedAt = (index: number) => accepted.has(phone(Number(batch[index])));
	const isProven = (status: string) => ['pushed_before', 'waiting_before'].includes(status);
	const unproven = all.filter(({ index, status }) => isProven(status) && !isAcceptedAt(index));
	expect(unproven).toEqual([]);
	if (!isAlone) return;
	const wrong = all.filter(({ index, status }) => {
		const isExcluded = ['rejected', 'not_sent', 'do_not_disturb'].includes(status);
		return isAcceptedAt(index) ? isExcluded : status === 'pushed';
	});
	expect(wrong).toEqual([]);
}

const SKIPPING = ['never', 'always', 'in retries'] as const;
const scenario = fc.record({
	rows: fc.array(fc.oneof(fc.nat(5), fc.constant('-' as const)), { minLength: 1, maxLength: 6 }),
	perBatch: fc.constantFrom(6, 6, 3, 2),
	skipping: fc.constantFrom(...SKIPPING),
	attempts: fc.array(attempt, { minLength: 2, maxLength: 5 }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

/**
 * Runs an execution and its retries.
 *
 * @param areJson whether the rows are in the form, so that any retry can have other ones. Otherwise, they are read again
 * only if n8n has stored nothing
 */
async function runAll(
	{ rows, perBatch, skipping, attempts }: Scenario,
	areJson: boolean,
): Promise<void> {
	// A number that is in several batches may be pushed as often.
	const first = newExecution(chunk(perBatch >= rows.length ? rows : uniq(rows), perBatch));
	let isSkipping = false;
	const world = new World((batch, outcome) => {
		// With Skip Numbers Pushed Before, n8n's store shows only later whether another execution has pushed a row.
		requireTrue(batch, outcome, world.accepted, !isSkipping);
	});
	const stored: Execution[] = [];
	const runOne = async (attempt: Attempt) => {
		const before = stored[attempt.of % stored.length];
		if (before === undefined) return await world.run(first, attempt, { isFirst: true, isSkipping });
		const edit = EDITS[attempt.edit] ?? ((same: Row[]) => same);
		const { run, batches, record } = before;
		const isNew = Object.keys(record).length === 0 && run === 0;
		const ofRun = areJson ? batches.with(run, edit(batches[run] ?? [])) : batches;
		const edited = isNew ? chunk(edit(batches.flat()), perBatch) : ofRun;
		return await world.run({ ...before, batches: edited }, attempt, { isFirst: false, isSkipping });
	};
	for (let at = 0; at < attempts.length; at++) {
		isSkipping = skipping === 'always' || (skipping === 'in retries' && stored.length > 0);
		const [one, next] = attempts.slice(at, at + 2);
		if (one === undefined) break;
		const isPair = next !== undefined && one.isParallel && stored.length > 0;
		if (isPair) at++;
		const pair = isPair ? [one, next].map((each) => ({ ...each, settings: 0 })) : [one];
		const results = await Promise.all(pair.map(runOne));
		if (stored.length === 0 && results[0] === 'succeeded') return;
		for (const result of results) if (typeof result !== 'string') stored.push(result);
		if (stored.length === 0) stored.push(first);
		expect([...world.accepted].filter(([, count]) => count > 1)).toEqual([]);
	}
}

test.each([
	['', false],
	[' whose contacts are edited', true],
])(
	'over any retries of a push%s, no number is pushed twice, and each row is reported once, as it is',
	async (_what, areJson) => {
		const property = fc.asyncProperty(scenario, async (each) => await runAll(each, areJson));
		await fc.assert(property, { numRuns: 2 * MANY_RUNS });
	},
	TIMEOUT_MS,
);
