/** Any history of executions, their runs, branches, retries, and sub-executions, of a service that fails, and of ends of n8n. */
import chunk from 'lodash/chunk';
import { DateTime } from 'luxon';
import { Batches } from '../../../../nodes/core/claims/batches';
import { CLAIM_LIMITS, Claims, ClaimState } from '../../../../nodes/core/claims/claims';
import {
	Deliveries,
	type DeliveryRecord,
	type Job,
	type JobOutcome,
	outcomeByError,
} from '../../../../nodes/core/claims/deliveries';
import type { TextList } from '../../../../nodes/core/claims/textList';
import { ExplainedError, NotSent, OutcomeUnknown } from '../../../../nodes/core/service/errors';
import type { JsonObject } from '../../../../nodes/core/values/json';
import { noLimit } from '../../../../nodes/core/values/keyedMutex';
import { CallLimiter } from '../../../../nodes/PlaceCall/callLimiter';
import { NotPlaced } from '../../../../nodes/PlaceCall/notPlaced';
import { RUNS, TIMEOUT_MS } from '../../../fuzz/runs';

const HISTORIES = RUNS * 80;

const EFFECTS = [
	...['accept', 'accept', 'accept', 'reject', 'lose', 'acceptThenLose', 'kill', 'acceptThenKill'],
	...['lock', 'lockAfter', 'busy'],
] as const;

const NOW = Date.UTC(2026, 11, 1);

/** n8n was killed. */
class Killed extends Error {}

type Kind = JobOutcome['kind'] | 'duplicate' | 'limit';

class Random {
	constructor(private seed: number) {}

	next(): number {
		this.seed = (Math.imul(this.seed, 1_103_515_245) + 12_345) & 0x7fffffff;
		return this.seed / 0x80000000;
	}

	below(count: number): number {
		return Math.floor(this.next() * count);
	}

	is(probability: number): boolean {
		return this.next() < probability;
	}

	pick<T>(from: readonly [T, ...T[]]): T {
		return from[this.below(from.length)] ?? from[0];
	}
}

/** n8n as one process, until it's killed at one of its writes or requests. */
class Process {
	isKilled = false;
	/** How the next write fails. */
	fails: 'before' | 'after' | undefined;

	constructor(private writes: number) {}

	list(texts: Set<string>): TextList {
		const dropOldest = (max: number) => {
			for (const oldest of texts) if (texts.size > max) texts.delete(oldest);
		};
		return {
			add: async (all, max = Infinity) =>
				await this.write(() => {
					const added = all.filter((text) => !texts.has(text));
					for (const text of all) texts.add(text);
					dropOldest(max);
					return added;
				}),
			remove: async (all) => await this.write(() => all.forEach((text) => texts.delete(text))),
			clear: async () => await this.write(() => texts.clear()),
			count: async () => texts.size,
		};
	}

	private async write<T>(action: () => T): Promise<T> {
		await Promise.resolve();
		if (this.isKilled || --this.writes < 0) {
			this.isKilled = true;
			throw new Killed();
		}
		const { fails } = this;
		this.fails = undefined;
		if (fails === 'before') throw locked();
		const result = action();
		if (fails === 'after') throw locked();
		return result;
	}
}

function locked(): NotSent {
	return new NotSent('database is locked', '');
}

/** What n8n stores with an execution. */
type Stored = { record: DeliveryRecord; results: Array<{ [who: string]: JsonObject[] }> };

type Setting = {
	isFirst: boolean;
	/** Each run is in a sub-execution of its own. */
	isSub: boolean;
	limit: number | undefined;
	day: DateTime;
};

/** A run of the node, as `deliverEachItem` and *Place Call* do it. */
async function runNode(
	people: readonly string[],
	run: number,
	{ isFirst, limit, day }: Setting,
	{ record, results }: Stored,
	claims: Claims,
	called: TextList,
	call: (who: string) => Promise<void>,
): Promise<Kind[]> {
	const deliveries = new Deliveries(record, (results[run] ??= {}), async () => claims);
	const limiter = new CallLimiter(called, 'utc', noLimit);
	const sendable = new Map<number, Job>();
	const first = new Set<string>();
	const jobs = people.map((who, index): { job: Job; instead: Kind | undefined } => {
		const job = { who, id: `${run}#${index}`, isOnce: true };
		const isSettled = deliveries.isSettled(job);
		const other = deliveries.ofOther(job);
		const isAgain = !isSettled && (first.has(who) || other !== undefined);
		if (isAgain && !first.has(who) && other?.isUnknown === true) return { job, instead: 'unknown' };
		if (isAgain) return { job, instead: 'duplicate' };
		first.add(who);
		sendable.set(index, job);
		if (limit !== undefined) {
			limiter.plan(index, who, { calls: limit, period: 'day' }, day);
		}
		return { job, instead: undefined };
	});
	const reserve = async (indexes: number[]) => await limiter.reserve(indexes);
	const batches = new Batches(deliveries, jobs.length, sendable, reserve, 2);
	if (!isFirst) await batches.lookUp();
	const deliver = async ({ job, instead }: (typeof jobs)[number], index: number): Promise<Kind> => {
		try {
			if (instead !== undefined) return instead;
			if (!deliveries.isSettled(job)) await batches.claim(index);
			const outcome = await deliveries.deliver(job, async () => {
				try {
					limiter.use(index, 'utc');
					await call(job.who);
					return { kind: 'done', result: [{ call_id: job.who }] };
				} catch (error) {
					if (error instanceof ExplainedError && error.outcome !== 'unknown')
						limiter.giveBack(index);
					return outcomeByError(error);
				}
			});
			return 'error' in outcome && outcome.error instanceof NotPlaced ? 'limit' : outcome.kind;
		} catch (error) {
			if (!(error instanceof ExplainedError)) throw error;
			return error.outcome;
		} finally {
			await batches.end(index);
		}
	};
	const kinds: Kind[] = [];
	for (const two of chunk([...jobs.entries()], 2)) {
		kinds.push(...(await Promise.all(two.map(async ([index, job]) => await deliver(job, index)))));
	}
	await deliveries.free([...sendable.values()]);
	await limiter.releaseUnused();
	return kinds;
}

/** The service: an effect decides what a request does. */
function service(random: Random, n8n: Process, accepted: string[], log: string[]) {
	return async (who: string): Promise<void> => {
		await Promise.resolve();
		if (n8n.isKilled) throw new Killed();
		const effect = random.pick(EFFECTS);
		log.push(`${effect} ${who}`);
		if (effect === 'lock' || effect === 'lockAfter') {
			n8n.fails = effect === 'lock' ? 'before' : 'after';
		}
		if (/^(?:accept|lock)/.test(effect)) accepted.push(who);
		if (/kill/i.test(effect)) {
			n8n.isKilled = true;
			throw new Killed();
		}
		if (effect === 'reject') throw new ExplainedError('rejected', 'rejected', '');
		if (effect === 'busy') throw new NotSent('busy', '');
		if (/lose/i.test(effect)) throw new OutcomeUnknown('lost', '');
	};
}

type Violation = (what: string) => never;

/** What a run says of its people must be true. */
function expectTrue(
	results: ReadonlyArray<[string, Kind]>,
	accepted: string[],
	violated: Violation,
) {
	for (const [who, kind] of results) {
		const wasCalled = accepted.includes(who);
		if (kind === 'done' && !wasCalled) violated(`${who} done, but not called`);
		const isTold = results.some(
			([other, one]) => other === who && (one === 'done' || one === 'unknown'),
		);
		if (['rejected', 'not_sent', 'limit'].includes(kind) && wasCalled && !isTold)
			violated(`${who} ${kind}, but called`);
	}
}

/** Three executions on two days, each with up to four attempts. */
async function history(seed: number, seen: Set<string>): Promise<void> {
	const random = new Random(seed);
	const texts = new Set<string>();
	const called = new Set<string>();
	const onDay = new Map<string, number>();
	const limit = random.pick([undefined, 1, 2]);
	CLAIM_LIMITS.others = random.pick([Infinity, 8, 14]);
	const isSub = random.is(0.3);
	let start = 0;
	for (let execution = 0; execution < 3; execution++) {
		const accepted: string[] = [];
		// Two executions can start in the same millisecond.
		if (random.is(0.8)) start = execution;
		const day = random.pick([DateTime.utc(2026, 11, 30), DateTime.utc(2026, 12, 1)]);
		const stored: Stored[] = [{ record: {}, results: [] }];
		const letters = ['a', 'b', 'c', 'd'] as const;
		const runs = Array.from({ length: 1 + random.below(3) }, () =>
			Array.from({ length: 1 + random.below(5) }, () => random.pick(letters)),
		);
		for (let attempt = 0; attempt < 4; attempt++) {
			// So many claims of others don't come within an hour.
			if (!isSub && random.is(0.3)) fill(texts, seed + attempt * 10);
			const isFirst = attempt === 0 && !isSub;
			const setting = { isFirst, isSub, limit, day };
			const log: string[] = [];
			const n8n = new Process(random.is(0.5) ? Infinity : random.below(14));
			const state = new ClaimState();
			const occasion = {
				name: `start ${start}`,
				isFirst,
				...(isSub && { parentStartedAt: NOW }),
			};
			const list = n8n.list(texts);
			const claims = new Claims(
				list,
				occasion,
				state,
				() => state.count,
				{ now: () => NOW },
				noLimit,
			);
			const call = service(random, n8n, accepted, log);
			const kept = structuredClone(stored[attempt === 0 ? 0 : random.below(stored.length)]);
			const results: Array<[string, Kind]> = [];
			try {
				for (const [run, people] of runs.entries()) {
					const edits: [string[], ...string[][]] = [
						people,
						people,
						people.toReversed(),
						['e', ...people],
					];
					const edited = attempt === 0 ? people : random.pick(edits);
					const memory = isSub || kept === undefined ? { record: {}, results: [] } : kept;
					const kinds = await runNode(edited, run, setting, memory, claims, n8n.list(called), call);
					results.push(...kinds.map((kind, index): [string, Kind] => [edited[index] ?? '', kind]));
				}
			} catch (error) {
				if (!(error instanceof Killed)) throw error;
			}
			const violated: Violation = (what) => {
				throw new Error(
					`${what}: ${JSON.stringify({ seed, setting, runs, log, results, accepted })}`,
				);
			};
			for (const who of 'abcde') {
				const times = accepted.filter((one) => one === who).length;
				if (times > 1) violated(`${who} called ${times} times`);
				const before = onDay.get(`${day.toISODate()} ${who}`) ?? 0;
				if (limit !== undefined && before + times > limit)
					violated(`${who} called above the limit`);
			}
			if (n8n.isKilled) {
				seen.add('killed');
				continue;
			}
			for (const [, kind] of results) seen.add(kind);
			expectTrue(results, accepted, violated);
			if (kept !== undefined) stored.push(kept);
			if (random.is(0.3)) {
				if (isFirst && random.is(0.5)) await claims.close().catch(() => undefined);
				break;
			}
		}
		for (const who of accepted) {
			const key = `${day.toISODate()} ${who}`;
			onDay.set(key, (onDay.get(key) ?? 0) + 1);
		}
	}
}

/** Other executions of the node fill the list. */
function fill(texts: Set<string>, nth: number): void {
	for (let one = 0; one < 10; one++) texts.add(`other ${nth} ${one}`);
	for (const oldest of texts) if (texts.size > CLAIM_LIMITS.others + 2) texts.delete(oldest);
}

const { others } = CLAIM_LIMITS;
afterEach(() => {
	CLAIM_LIMITS.others = others;
});

it(
	'nobody is called twice or above the limit, and nothing untrue is reported',
	async () => {
		const seen = new Set<string>();
		for (let seed = 1; seed <= HISTORIES; seed++) await history(seed, seen);
		expect([...seen].sort()).toEqual(
			['done', 'duplicate', 'killed', 'limit', 'not_sent', 'rejected', 'unknown'].sort(),
		);
	},
	TIMEOUT_MS,
);
