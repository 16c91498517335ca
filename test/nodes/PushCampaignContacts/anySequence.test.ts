/** Any sequence of executions, their retries, faults of the service, and ends of n8n. */
import { AsyncLocalStorage } from 'node:async_hooks';
import nock from 'nock';
import fc from 'fast-check';
import chunk from 'lodash/chunk';
import range from 'lodash/range';
import sortBy from 'lodash/sortBy';
import {
	createRunExecutionData,
	type INodeExecutionData,
	type IRunExecutionData,
	type ITaskData,
} from 'n8n-workflow';
import { plainText } from '../../../nodes/core/values/values';
import { PUSH_LIMITS } from '../../../nodes/PushCampaignContacts/push/rows';
import { oneNodeWorkflow, resume, retryFailed, storedCopy } from '../../engine';
import { RUNS, TIMEOUT_MS } from '../../fuzz/runs';
import {
	accepted,
	accepting,
	ARCHIVED,
	BROKEN,
	OUTPUTS,
	phone,
	pushNode,
	rejection,
	rowsOfItems,
	scripted,
	type Reply,
	campaign,
	pushHarness,
} from './pushHarness';

const { store: database } = pushHarness();

/** The number of a person, or an unusable cell. */
type Row = number | '-';

/** Rejections of a whole request, after which the push stops. */
const STOPS: { [effect: string]: Reply | Error } = {
	wrongToken: [401, rejection('no')],
	archived: ARCHIVED,
	tooMany: [429, rejection('Too many requests'), { 'Retry-After': '3600' }],
	proxy: [407, ''],
	noConnection: fault('ECONNREFUSED', 'connect'),
	noTrust: fault('CERT_HAS_EXPIRED'),
};
/** What a request certainly does. */
const CERTAIN = [
	...['accept', 'accept', 'rejectFirst', 'rejectSecond', 'rejectLast', 'tooLarge'],
	...['dnd', 'duplicate', ...Object.keys(STOPS)],
];
/** What leaves its outcome open, and what happens in n8n at that moment. */
const UNCERTAIN = [
	...['lose', 'loseAccepted', 'wrongCounts', 'redirect'],
	...['kill', 'killAccepted', 'storeFails', 'storeFailsStored'],
];

function fault(code: string, syscall?: string): Error {
	return Object.assign(new Error(code), { code, syscall });
}

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
	effects: string[];
	contactsPerRequest: number;
	whatToDo: string;
	retryOnFail: boolean;
	/** Whether *On Error* is set to continue. */
	continues: boolean;
	/** Writes to n8n's database until n8n is killed. */
	writes: number;
};
const PLAIN: Attempt = {
	...{ of: 0, edit: 'same', isParallel: false, effects: [], contactsPerRequest: 2 },
	...{ whatToDo: 'release', retryOnFail: false, continues: false, writes: Infinity },
};
const effectsOf = (effects: string[]) => fc.array(fc.constantFrom(...effects), { maxLength: 8 });
const onlySometimes = fc.constantFrom(false, false, true);
const anyAttempt: fc.Arbitrary<Attempt> = fc.record({
	of: fc.nat(4),
	edit: fc.constantFrom('same', 'same', ...Object.keys(EDITS)),
	isParallel: onlySometimes,
	effects: effectsOf([...CERTAIN, ...UNCERTAIN]),
	contactsPerRequest: fc.constantFrom(3, 3, 3, 2, 1),
	whatToDo: fc.constantFrom('release', 'release', 'wait', 'check'),
	retryOnFail: onlySometimes,
	continues: onlySometimes,
	writes: fc.oneof({ weight: 4, arbitrary: fc.constant(Infinity) }, fc.nat(20)),
});
const anyRow = fc.oneof({ weight: 4, arbitrary: fc.nat(5) }, fc.constant('-' as const));
const rows = fc.array(anyRow, {
	minLength: 1,
	maxLength: 6,
});
const perRun = fc.constantFrom(6, 6, 3, 2);

/** The process of one execution. When n8n is killed, it reaches neither the service nor the database. */
type Process = {
	effects: string[];
	requests: number;
	writes: number;
	isKilled: boolean;
	/** The numbers of the request during which it was killed. */
	inFlight: string[];
};
const processes = new AsyncLocalStorage<Process>();
const currentProcess = (): Process => {
	const process = processes.getStore();
	if (process === undefined) throw new Error('no execution runs');
	return process;
};

/** The service and n8n's database, which outlive executions. */
class World {
	/** How often the service accepted each number. */
	readonly accepted = new Map<string, number>();
	/** Numbers that the service skipped as duplicates. */
	readonly duplicates = new Set<string>();
	/** What the last execution reported. */
	reported: Reported[] = [];
	/** Numbers that any attempt reported as pushed, or that an earlier execution sent. */
	private readonly known = new Set<string>();
	private readonly sent = new Set<string>();
	/** Whether any request was sent, also by an earlier attempt. */
	private isSent = false;
	private failing = 0;

	/** @param isOpen whether outcomes can be unknown */
	constructor(private readonly isOpen = true) {
		nock.cleanAll();
		database.clear();
		database.beforeCall = () => {
			const process = currentProcess();
			process.isKilled ||= process.writes-- <= 0;
			if (process.isKilled || this.failing-- > 0) throw new Error('The database is locked');
		};
		scripted((phones, request) => this.respond(phones, request));
		campaign();
	}

	private respond(phones: string[], request: number): Reply | Error {
		const process = currentProcess();
		if (process.isKilled) return STOPS.noConnection ?? BROKEN;
		this.isSent = true;
		for (const one of phones) this.sent.add(one);
		const effect = process.effects[process.requests++] ?? 'accept';
		const [first = '', ...others] = phones;
		const named = (index: number): Reply => [400, rejection(`contacts[${index}].city is invalid`)];
		const stop = STOPS[effect];
		if (stop !== undefined) return stop;
		if (effect === 'rejectFirst') return named(0);
		if (effect === 'rejectSecond') return named(1);
		if (effect === 'rejectLast') return named(phones.length);
		if (effect === 'tooLarge' && phones.length > 1) return [413, ''];
		if (effect === 'kill' || effect === 'killAccepted') {
			process.isKilled = true;
			process.inFlight = phones;
		}
		// Longer than the node tries again.
		if (effect === 'storeFails') this.failing = 10;
		if (effect === 'storeFailsStored') database.failAfterNextAdd();
		if (effect === 'redirect') return [307, '', { Location: '/' }];
		if (effect === 'kill' || effect === 'lose') return BROKEN;
		const isSkipping = effect === 'dnd' || effect === 'duplicate';
		if (effect === 'duplicate') this.duplicates.add(first);
		for (const one of isSkipping ? others : phones) {
			this.accepted.set(one, (this.accepted.get(one) ?? 0) + 1);
		}
		if (effect === 'loseAccepted') return BROKEN;
		if (effect === 'wrongCounts') return accepting([...phones, first], request);
		const skipped = {
			contacts_accepted: others.length,
			...(effect === 'dnd' && { dnd_skipped: [{ phone: first }] }),
			...(effect === 'duplicate' && { engine_skipped_duplicates: [first] }),
		};
		const data = { enqueued: true, ...(isSkipping && skipped) };
		return [200, accepted(phones.length, data)];
	}

	beginExecution(): void {
		for (const number of this.sent) this.known.add(number);
	}

	/**
	 * Runs the execution, and checks what it reports.
	 *
	 * @returns it as n8n stores it. Undefined if it succeeded.
	 */
	async run(stored: Stored, attempt: Attempt, isSkipping: boolean): Promise<Stored | undefined> {
		const { effects, writes, contactsPerRequest, whatToDo, continues, retryOnFail } = attempt;
		const process: Process = { effects, requests: 0, writes, isKilled: false, inFlight: [] };
		const form = {
			...{ whatToDo, personNameColumn: '' },
			numbersPushedBefore: isSkipping ? 'skipNumbers' : 'pushAgain',
			options: { output: 'rows', contactsPerRequest },
		};
		const node = pushNode(form, {
			...{ retryOnFail, maxTries: 2, waitBetweenTries: 1 },
			...(continues && { onError: 'continueRegularOutput' as const }),
		});
		const { workflow } = oneNodeWorkflow(node, OUTPUTS);
		const before = storedCopy(stored.data);
		if (before.executionData !== undefined)
			before.executionData.nodeExecutionStack = stored.batches.map((batch) => ({
				...{ node, source: null },
				data: { main: [batch.map((row) => ({ json: { phone: numberOf(row) } }))] },
			}));
		const { data } = await processes.run(process, async () =>
			stored.isRetry
				? await retryFailed({ data: before }, workflow)
				: await resume(workflow, before),
		);
		if (process.isKilled) {
			// Of a large push with the option, only those of the campaign are claimed.
			const inFlight = isSkipping ? [] : process.inFlight;
			return { ...stored, isRetry: true, unknown: [...stored.unknown, ...inFlight] };
		}
		const runs = data.resultData.runData.Node?.slice(stored.runs) ?? [];
		this.reported = runs.flatMap(reportIn);
		for (const [nth, task] of runs.entries()) {
			const [batch = [], ...later] = stored.batches.slice(nth);
			this.requireTrue({ batch, later: later.flat() }, task, attempt, isSkipping);
		}
		const withStatus = (status: string) =>
			runs.flatMap((task, nth) =>
				reportIn(task)
					.filter((one) => one.status === status)
					.map(({ row }) => numberOf(stored.batches[nth]?.[row] ?? '-')),
			);
		for (const number of withStatus('pushed')) this.known.add(number);
		// What is unknown stays so.
		const told = withStatus('sent_before').filter(
			(number) => stored.unknown.includes(number) && !this.known.has(number),
		);
		expect(told).toEqual([]);
		const unknown = [...stored.unknown, ...withStatus('unknown')];
		if (data.resultData.error === undefined) return undefined;
		const done = runs.length - 1;
		const batches = stored.batches.slice(done);
		return { data, batches, runs: stored.runs + done, isRetry: true, isBegun: true, unknown };
	}

	/** Each row is reported once, and if nothing else can have pushed it, as it is at this moment. */
	private requireTrue(
		{ batch, later }: { batch: Row[]; later: Row[] },
		task: ITaskData,
		attempt: Attempt,
		isSkipping: boolean,
	): void {
		const reported = reportIn(task);
		// An error before the first request names no rows.
		if (reported.length === 0 && task.error !== undefined) return;
		expect(reported.map(({ row }) => row)).toEqual([...batch.keys()]);
		const isAlone = !isSkipping && !attempt.isParallel;
		const wrong = reported.filter(({ row, status }) => {
			const number = numberOf(batch[row] ?? '-');
			if (status === 'sent_before' && !this.isOpen && this.duplicates.has(number)) return false;
			return this.accepted.has(number)
				? isAlone && NOT_THERE.includes(status) && !later.includes(batch[row] ?? '-')
				: (this.isOpen ? THERE : [...THERE, 'sent_before']).includes(status);
		});
		expect(wrong).toEqual([]);
		if (attempt.whatToDo !== 'check') this.requireTrueTexts(reported, task);
	}

	private requireTrueTexts(reported: Reported[], { data, error, hints = [] }: ITaskData): void {
		const reasons = itemsIn(data).map(({ json }) => plainText(json.rejection_reason));
		const ofError = error === undefined ? [] : [error.message, error.description ?? ''];
		const texts = [...ofError, ...hints.map(({ message }) => message), ...reasons];
		const pushed = reported.filter(({ status }) => status === 'pushed').length;
		for (const text of texts) {
			if (this.isSent)
				expect(text).not.toMatch(/\bnothing (was|is|has been) (done|sent|pushed)\b/i);
			for (const [, count] of text.matchAll(/\b(\d+) pushed\b(?! before)/g)) {
				expect(count).toBe(String(pushed));
			}
		}
	}
}

const numberOf = (row: Row) => (row === '-' ? row : phone(row));

type Reported = { row: number; status: string };
/** Statuses of rows that are in the campaign. */
const THERE = ['pushed'];
/** Statuses of rows that aren't. */
const NOT_THERE = ['rejected', 'not_sent', 'do_not_disturb'];
/** Statuses of rows that a person must look after. */
const OPEN = ['unknown', 'not_sent'];

const itemsIn = (data: ITaskData['data']): INodeExecutionData[] =>
	data?.main?.flatMap((items) => items ?? []) ?? [];

/** What a run of the node reports of each row, in its outputs or in its error. */
function reportIn({ data, error }: ITaskData): Reported[] {
	const ofItems = itemsIn(data).flatMap((item) => {
		const status = plainText(item.json.push_status);
		return rowsOfItems([item]).map((row) => ({ row, status }));
	});
	const lines =
		/^(Pushed|Unknown|Not sent|Rejected|Sent before|Skipped): .*?\(rows? (\d[\d, to]*\d|\d)/gm;
	const ofLines = [...(error?.description ?? '').matchAll(lines)].flatMap(([, name, list]) => {
		const status = name?.toLowerCase().replace(' ', '_') ?? '';
		return (list ?? '').split(', ').flatMap((part) => {
			const [first = 0, last = first] = part.split(' to ').map(Number);
			return range(first - 1, last).map((row) => ({ row, status }));
		});
	});
	return sortBy([...ofItems, ...ofLines], 'row');
}

/** An execution as n8n stores it. */
type Stored = {
	data: IRunExecutionData;
	/** The rows of the runs of the node that are to come, as in a loop. */
	batches: Row[][];
	/** How many of them have ended. */
	runs: number;
	isRetry: boolean;
	/** Whether n8n has stored what the node did. Otherwise, the nodes before it run again. */
	isBegun: boolean;
	/** The numbers that it reported as unknown. */
	unknown: string[];
};

let starts = 0;
function executionOf(batches: Row[][]): Stored {
	const runtimeData = { version: 1 as const, establishedAt: ++starts, source: 'trigger' as const };
	const data = createRunExecutionData({ executionData: { runtimeData } });
	return { data, batches, runs: 0, isRetry: false, isBegun: false, unknown: [] };
}

const SKIPPING = ['never', 'always', 'in retries'] as const;
const scenario = fc.record({
	rows,
	perRun,
	skipping: fc.constantFrom(...SKIPPING),
	/** Larger pushes claim no number for the execution. */
	claimed: fc.constantFrom(6, 6, 2, 1),
	attempts: fc.array(anyAttempt, { minLength: 2, maxLength: 5 }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

/**
 * Runs an execution and its retries, and with *Numbers Pushed Before: Skip*, then another one.
 *
 * @param areJson whether the contacts are in the form, so that any retry can have other ones
 */
async function runAll(each: Scenario, areJson: boolean) {
	jest.replaceProperty(PUSH_LIMITS, 'claimed', each.claimed);
	const world = new World();
	await runAttempts(world, each, areJson);
	if (each.skipping !== 'always') return;
	world.beginExecution();
	await runAttempts(world, each, areJson);
}

async function runAttempts(
	world: World,
	{ rows: given, perRun: size, skipping, attempts }: Scenario,
	areJson: boolean,
) {
	const first = executionOf(chunk(given, size));
	const stored: Stored[] = [];
	const runOne = async (attempt: Attempt) => {
		const isSkipping = skipping === 'always' || (skipping === 'in retries' && stored.length > 0);
		const before = stored[attempt.of % stored.length];
		if (before === undefined) {
			return await world.run(first, { ...attempt, isParallel: false }, isSkipping);
		}
		const edit = EDITS[attempt.edit] ?? ((same: Row[]) => same);
		const [next = [], ...others] = before.batches;
		const ofBatch = areJson ? [edit(next), ...others] : before.batches;
		// n8n doesn't run a node without items.
		const batches = before.isBegun
			? ofBatch.filter(({ length }) => length > 0)
			: chunk(edit(before.batches.flat()), size);
		return await world.run({ ...before, batches }, attempt, isSkipping);
	};
	for (let at = 0; at < attempts.length; at++) {
		const [one, next] = attempts.slice(at, at + 2);
		if (one === undefined) break;
		const isPair = next !== undefined && one.isParallel && stored.length > 0;
		if (isPair) at++;
		const pair = isPair ? [one, { ...next, isParallel: true }] : [{ ...one, isParallel: false }];
		const results = await Promise.all(pair.map(runOne));
		if (stored.length === 0 && results[0] === undefined) break;
		for (const result of results) if (result !== undefined) stored.push(result);
		expect([...world.accepted].filter(([, count]) => count > 1)).toEqual([]);
	}
}

test.each([
	['', false],
	[' whose contacts are edited', true],
])(
	'over any retries of a push%s, no number is pushed twice, and each row is reported once, as it is',
	async (_what, areJson) => {
		const property = fc.asyncProperty(scenario, async (each) => {
			await runAll(each, areJson);
		});
		await fc.assert(property, { numRuns: RUNS });
	},
	TIMEOUT_MS,
);

test(
	'after any retries of a push in which no outcome was open, each row is pushed, rejected, or skipped',
	async () => {
		const attempts = fc.array(effectsOf(CERTAIN), { maxLength: 4 });
		const property = fc.asyncProperty(rows, perRun, attempts, fc.boolean(), async (...given) => {
			const [all, size, faulty, isSkipping] = given;
			const world = new World(false);
			let execution: Stored | undefined = executionOf(chunk(all, size));
			for (const effects of [...faulty, []]) {
				if (execution === undefined) break;
				execution = await world.run(execution, { ...PLAIN, effects }, isSkipping);
			}
			expect(world.reported.filter(({ status }) => OPEN.includes(status))).toEqual([]);
		});
		await fc.assert(property, { numRuns: RUNS });
	},
	TIMEOUT_MS,
);
