/** Any history of executions, their runs, branches, retries, and sub-executions, of a service that fails, and of ends of n8n. */
import chunk from 'lodash/chunk';
import { DateTime } from 'luxon';
import {
	CLAIM_LIMITS,
	Claims,
	ClaimState,
	type TextList,
} from '../../../../nodes/core/claims/claims';
import {
	Deliveries,
	type DeliveryRecord,
	type Job,
	type JobOutcome,
	outcomeByError,
} from '../../../../nodes/core/claims/deliveries';
import {
	explained,
	ExplainedError,
	NotSent,
	OutcomeUnknown,
} from '../../../../nodes/core/service/errors';
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

const DUPLICATE = new ExplainedError('not_sent', 'duplicate', '');

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
	record: DeliveryRecord,
	claims: Claims,
	called: TextList,
	call: (who: string) => Promise<void>,
): Promise<Kind[]> {
	const deliveries = new Deliveries(record, async () => claims);
	const limiter = new CallLimiter(called, 'utc', noLimit);
	const first = new Set<string>();
	const jobs = people.map((who, index) => {
		const again = (isUnknown: boolean) => (isUnknown ? new OutcomeUnknown('again', '') : DUPLICATE);
		const job: Job = { who, id: `${run}#${index}`, isClaimed: true, again };
		const instead = first.has(who) && !deliveries.isSettled(job) ? DUPLICATE : undefined;
		if (instead === undefined) first.add(who);
		job.isClaimed = !isFirst || instead === undefined;
		if (limit !== undefined) limiter.plan(index, who, { calls: limit, period: 'day' }, day);
		return { index, job, instead };
	});
	const kinds: Kind[] = [];
	for (const batch of chunk(jobs, 2)) {
		const claimed = await deliveries.claim(batch.map(({ job }) => job));
		const sent = batch.filter(({ job, instead }) => claimed.includes(job) && instead === undefined);
		const failure = await limiter
			.claim(sent.map(({ index }) => index))
			.then(() => undefined, explained);
		const deliver = async ({ index, job, instead }: (typeof jobs)[number]): Promise<Kind> => {
			const send = async (): Promise<JobOutcome> => {
				try {
					limiter.isClaimed(index, 'utc');
					await call(job.who);
					return { kind: 'done', result: [{ call_id: job.who }] };
				} catch (error) {
					return outcomeByError(error);
				}
			};
			const outcome = await deliveries.deliver(job, send, instead ?? failure);
			if (outcome.kind !== 'not_sent') return outcome.kind;
			if (outcome.error === DUPLICATE) return 'duplicate';
			return outcome.error instanceof NotPlaced ? 'limit' : 'not_sent';
		};
		kinds.push(...(await Promise.all(batch.map(deliver))));
		const unused = await deliveries.free(batch.map(({ job }) => job));
		await limiter.free(batch.filter(({ job }) => unused.includes(job)).map(({ index }) => index));
	}
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
		const stored: DeliveryRecord[] = [{}];
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
					const record = isSub || kept === undefined ? {} : kept;
					const kinds = await runNode(edited, run, setting, record, claims, n8n.list(called), call);
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
