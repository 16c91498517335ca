/** Lists that other people change while they are read. */
import fc from 'fast-check';
import { dndList } from '../../nodes/Dnd/list/dndList';
import { ListedNumbers } from '../../nodes/Dnd/list/listedNumbers';
import type { ApiClient } from '../../nodes/shared/api/client';
import { OutcomeUnknown } from '../../nodes/shared/api/errors';
import type { ServiceRequest } from '../../nodes/shared/api/http';
import { ApiMapping, type MappingName } from '../../nodes/shared/apiMapping';
import { readWholeList } from '../../nodes/shared/api/paging';
import { forEveryone } from '../../nodes/shared/api/resolution';
import { callList } from '../../nodes/shared/calls/callList';
import { clientOf } from '../nodes/shared/api/clientOf';
import { RUNS } from './runs';

const SCENARIOS = RUNS * 4;
jest.setTimeout(300_000 + SCENARIOS * 500);

/** Two readings agree on a missed entry if the list changes in step with them. A single reading misses entries in 20 of 100 lists. */
const MAX_MISSED = 3 + SCENARIOS / 500;
/** The list stops changing after this many requests, because a list that always grows has no end. */
const LAST_CHANGE = 60;

/** An entry of the list. A person can have several entries, one after another. */
type Entry = { id: number; person: number };
type ChangeKind = 'add' | 'remove' | 'move' | 'replace' | 'comeBack';
/** Positions are fractions of the length of the list, from 0 to 1. */
type Change = { kind: ChangeKind; at: number; to: number };

/** Often the beginning or the end, as in lists that are sorted by time. */
const position = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const changes = (kinds: readonly ChangeKind[]) =>
	fc.record({ kind: fc.constantFrom(...kinds), at: position, to: position });

type Scenario = {
	length: number;
	pageSize: number;
	/** The changes before each request. */
	planned: Change[][];
	/** Whether the changes start again after the last one. */
	isRepeated: boolean;
	/** The duration of each request. Concurrent requests can overtake each other. */
	delays: number[];
};
const scenarios = (kinds: readonly ChangeKind[]): fc.Arbitrary<Scenario> =>
	fc.record({
		length: fc.nat(24),
		// Pages with one entry can't overlap.
		pageSize: fc.integer({ min: 2, max: 8 }),
		planned: fc.array(fc.array(changes(kinds), { maxLength: 2 }), { maxLength: 40 }),
		isRepeated: fc.boolean(),
		delays: fc.array(fc.nat(4), { minLength: 1, maxLength: 12 }),
	});

/** Knows which entries and people were always on it. */
class ChangingList {
	private entries: Entry[];
	private readonly removed: Array<{ entry: Entry; index: number }> = [];
	private lastId: number;
	private requests = 0;
	idsThatStayed: number[];
	peopleWhoStayed: number[];

	constructor(readonly scenario: Scenario) {
		this.entries = Array.from({ length: scenario.length }, (_, id) => ({ id, person: id }));
		this.lastId = scenario.length;
		this.idsThatStayed = this.entries.map(({ id }) => id);
		this.peopleWhoStayed = this.idsThatStayed;
	}

	/** @param respond the response of the service for the entries at this moment */
	client(respond: (entries: readonly Entry[], query: URLSearchParams) => object): ApiClient {
		return clientOf(async ({ path, query = {} }: ServiceRequest) => {
			const url = new URL(path, 'https://service.example');
			for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
			const body = respond(await this.entriesForRequest(), url.searchParams);
			return { status: 200, headers: {}, text: JSON.stringify(body), url: url.href };
		});
	}

	private async entriesForRequest(): Promise<readonly Entry[]> {
		const { delays, planned, isRepeated } = this.scenario;
		for (let wait = delays[this.requests % delays.length] ?? 0; wait > 0; wait--)
			await new Promise((resolve) => setImmediate(resolve));
		const request = this.requests++;
		const step = isRepeated && request < LAST_CHANGE ? request % planned.length : request;
		for (const change of planned[step] ?? []) this.apply(change);
		return [...this.entries];
	}

	private apply({ kind, at, to }: Change): void {
		const { entries } = this;
		const add = (entry: Entry, part: number) =>
			entries.splice(Math.floor(part * entries.length), 0, entry);
		if (kind === 'comeBack') {
			const back = this.removed.pop();
			if (back !== undefined) entries.splice(back.index, 0, back.entry);
		} else if (kind === 'add') {
			const id = ++this.lastId;
			add({ id, person: id }, at);
		} else {
			const index = Math.min(Math.floor(at * entries.length), entries.length - 1);
			const [entry] = entries.splice(index, 1);
			if (entry === undefined) return;
			if (kind === 'remove') this.removed.push({ entry, index });
			if (kind === 'move') add(entry, to);
			if (kind === 'replace') add({ ...entry, id: ++this.lastId }, to);
		}
		const ids = new Set(entries.map(({ id }) => id));
		const people = new Set(entries.map(({ person }) => person));
		this.idsThatStayed = this.idsThatStayed.filter((id) => ids.has(id));
		this.peopleWhoStayed = this.peopleWhoStayed.filter((person) => people.has(person));
	}
}

const number = (query: URLSearchParams, name: string, fallback: number) =>
	Number(query.get(name) ?? fallback);

type Details = { [name in MappingName]?: string };
/** Paging styles: their API mapping, and where a requested page starts. */
const PAGING: Array<[string, Details, start: (query: URLSearchParams, size: number) => number]> = [
	[
		'page number',
		{ callListPaging: 'pageFromOne', callListPageName: 'p' },
		(query, size) => (number(query, 'p', 1) - 1) * size,
	],
	['offset', { callListPaging: 'offset', callListPageName: 'o' }, (query) => number(query, 'o', 0)],
	[
		'cursor',
		{ callListPaging: 'cursor', callListPageName: 'c', callListCursorPath: 'next' },
		(query) => number(query, 'c', 0),
	],
];
type Sizes = { isSized: boolean; hasTotal: boolean };

const KEEPS_CHANGING = { message: 'Keeps changing', resolution: forEveryone('') };

/** @returns the IDs of the calls */
async function readCallsOf(
	list: ChangingList,
	[, details, startOf]: (typeof PAGING)[number],
	{ isSized, hasTotal }: Sizes,
): Promise<Set<unknown>> {
	const client = list.client((entries, query) => {
		const size = number(query, 'n', list.scenario.pageSize);
		const start = startOf(query, size);
		const end = Math.min(start + size, entries.length);
		return {
			success: true,
			calls: entries.slice(start, end).map(({ id }) => ({ call_id: `call-${id}` })),
			next: end >= entries.length ? null : String(end),
			...(hasTotal && { total: entries.length }),
		};
	});
	const mapping = new ApiMapping({
		callListPath: 'calls',
		...details,
		...(isSized && { callListPageSizeName: 'n' }),
		...(hasTotal && { callListTotalPath: 'total' }),
	});
	const calls = callList(client, { limit: Infinity }, mapping);
	const { entries } = await readWholeList(calls, KEEPS_CHANGING);
	return new Set(entries.map(({ call_id: id }) => id));
}

const phoneOf = (person: number) => `+9198${String(10_000_000 + person)}`;

/** Pages with `meta`, as documented. If the node requests 100 entries, the service uses its own page size. */
async function readDndOf(list: ChangingList, isSized: boolean): Promise<ListedNumbers> {
	const client = list.client((entries, query) => {
		const requested = number(query, 'n', 100);
		const size = requested === 100 ? list.scenario.pageSize : requested;
		const page = number(query, 'p', 1);
		return {
			success: true,
			data: entries
				.slice((page - 1) * size, page * size)
				.map(({ id, person }) => ({ id, phone: phoneOf(person) })),
			meta: {
				current_page: page,
				total_pages: Math.ceil(entries.length / size),
				total_count: entries.length,
				per_page: size,
			},
		};
	});
	const names = { dndListAgentName: 'a', dndListPageName: 'p' };
	const mapping = new ApiMapping({ ...names, ...(isSized && { dndListPerPageName: 'n' }) });
	const request = { agentUuid: 'agent_a1', pageSize: isSized ? 100 : undefined };
	const numbers = dndList(client, request, mapping);
	return new ListedNumbers((await readWholeList(numbers, KEEPS_CHANGING)).entries);
}

describe.each<[string, ChangeKind[]]>([
	['whose entries never come back as the same entry', ['add', 'remove', 'replace', 'move']],
	['that keeps its order', ['add', 'remove', 'comeBack']],
	['that changes in any way', ['add', 'remove', 'replace', 'move', 'comeBack']],
])('a list %s', (_name, kinds) => {
	/** @param missed reads the list and returns the missing ones of those that were always on it */
	async function expectNoneMissed(missed: (list: ChangingList) => Promise<number[]>) {
		const outcomes = { read: 0, stopped: 0, missed: 0 };
		const property = fc.asyncProperty(scenarios(kinds), async (scenario) => {
			const missing = await missed(new ChangingList(scenario)).catch((error: unknown) => {
				if (error instanceof OutcomeUnknown) return undefined;
				throw error;
			});
			if (missing === undefined) outcomes.stopped++;
			else if (missing.length > 0) outcomes.missed++;
			else outcomes.read++;
		});
		await fc.assert(property, { numRuns: SCENARIOS });
		expect(outcomes.missed).toBeLessThanOrEqual(MAX_MISSED);
		expect(outcomes.read).toBeGreaterThan(SCENARIOS / 4);
	}

	const sizes: Sizes[] = [
		{ isSized: true, hasTotal: true },
		{ isSized: false, hasTotal: false },
	];
	test.each(PAGING.flatMap((paging) => sizes.map((size) => [paging[0], size, paging] as const)))(
		'of calls by %s, %j: misses almost no entry, or stops',
		async (_style, size, paging) => {
			await expectNoneMissed(async (list) => {
				const ids = await readCallsOf(list, paging, size);
				return list.idsThatStayed.filter((id) => !ids.has(`call-${id}`));
			});
		},
	);

	test.each([true, false])(
		'of do-not-disturb numbers, page size can be set: %p: misses almost nobody, or stops',
		async (isSized) => {
			await expectNoneMissed(async (list) => {
				const whole = await readDndOf(list, isSized);
				return list.peopleWhoStayed.filter(
					(person) => whole.entryOf(phoneOf(person)) === undefined,
				);
			});
		},
	);
});
