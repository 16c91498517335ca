import fc from 'fast-check';
import { readWholeDndList } from '../../nodes/Dnd/list/dndList';
import { ListedNumbers } from '../../nodes/Dnd/list/listedNumbers';
import { latestOfEachNumber } from '../../nodes/GetCall/latestCalls';
import { OutcomeUnknown } from '../../nodes/shared/api/errors';
import { ApiMapping, type MappingName } from '../../nodes/shared/apiMapping';
import { readCalls } from '../../nodes/shared/calls/callList';
import type { JsonObject } from '../../nodes/shared/json';
import { plainText } from '../../nodes/shared/values';
import { ChangingList, scenarios, serviceOf, type ChangeKind, type Entry } from './changingList';
import { RUNS, printCounts, type Counts } from './runs';

const SCENARIOS = RUNS * 4;
jest.setTimeout(300_000 + SCENARIOS * 500);

type Adversary = { name: string; kinds: ChangeKind[] };
const ADVERSARIES: Adversary[] = [
	{
		name: 'whose entries never come back as the same entry',
		kinds: ['add', 'remove', 'replace', 'move'],
	},
	{
		name: 'that keeps its order',
		kinds: ['add', 'remove', 'leave', 'comeBack'],
	},
	{
		name: 'that changes in any way',
		kinds: ['add', 'remove', 'replace', 'move', 'leave', 'comeBack'],
	},
];
/** Two readings agree on a missed entry if the list changes in step with them. A single reading misses entries in 20 of 100 lists. */
const MAX_MISSED = 3 + SCENARIOS / 500;

/** A paging style, and its API mapping. */
type PagingStyle = {
	details: { [name in MappingName]?: string };
	/** The index of the first entry on the requested page. */
	startOf: (query: URLSearchParams, size: number, entries: readonly Entry[]) => number;
	/** The cursor or link to the next page in the response. */
	next?: (end: number, last: Entry | undefined, query: URLSearchParams) => string;
	/** Whether the service sorts the list, newest first. */
	isSorted?: boolean;
	/** Minimum page size, if pages with one entry can't overlap. */
	smallestPage?: number;
};

const number = (query: URLSearchParams, name: string, fallback: number) =>
	Number(query.get(name) ?? fallback);
const byPage = (first: 0 | 1): PagingStyle => ({
	details: { callListPaging: first === 0 ? 'pageFromZero' : 'pageFromOne', callListPageName: 'p' },
	startOf: (query, size) => (number(query, 'p', first) - first) * size,
});
const byCursor = { callListPaging: 'cursor', callListPageName: 'c', callListCursorPath: 'next' };
const PAGING_STYLES: { [name: string]: PagingStyle } = {
	'page number from 1': byPage(1),
	'page number from 0': byPage(0),
	offset: {
		details: { callListPaging: 'offset', callListPageName: 'o' },
		startOf: (query) => number(query, 'o', 0),
		smallestPage: 2,
	},
	'cursor that is an index': {
		details: byCursor,
		startOf: (query) => number(query, 'c', 0),
		next: (end) => String(end),
	},
	'cursor that is the last call': {
		details: byCursor,
		startOf: (query, _size, entries) =>
			entries.filter(({ id }) => id >= number(query, 'c', Infinity)).length,
		next: (_end, last) => String(last?.id),
		isSorted: true,
	},
	'link to the next page': {
		details: { callListPaging: 'nextLink', callListCursorPath: 'next' },
		startOf: (query) => number(query, 'c', 0),
		next: (end, _last, query) =>
			`?${new URLSearchParams({ ...Object.fromEntries(query), c: String(end) }).toString()}`,
	},
};

const phoneOf = (person: number) => `+9198${String(10_000_000 + person)}`;
const timeOf = (id: number) => new Date(Date.UTC(2027, 0, 1) + id * 60_000).toISOString();
/** Several people share a number, so that one call can hide another. */
const numberOf = ({ person }: Entry) => phoneOf(person % 7);

type Paging = {
	isSized: boolean;
	hasTotal: boolean;
	/** Whether the total is always 0, because the service doesn't count. */
	isUncounted?: boolean;
};

async function readCallsOf(
	list: ChangingList,
	{ details, startOf, next, isSorted = false }: PagingStyle,
	{ isSized, hasTotal, isUncounted = false }: Paging,
): Promise<JsonObject[]> {
	const client = serviceOf(list, (unsorted, query) => {
		const entries = isSorted ? [...unsorted].sort((a, b) => b.id - a.id) : unsorted;
		const size = number(query, 'n', list.pageSize);
		const start = startOf(query, size, entries);
		const page = entries.slice(start, start + size);
		const end = start + page.length;
		return {
			success: true,
			calls: page.map((entry) => ({
				call_id: `call-${entry.id}`,
				phone_number: numberOf(entry),
				created_at: timeOf(entry.id),
			})),
			...(hasTotal && { total: isUncounted ? 0 : entries.length }),
			...(next && { next: end >= entries.length ? null : next(end, page.at(-1), query) }),
		};
	});
	const mapping = new ApiMapping({
		callListPath: 'calls',
		...details,
		...(isSized && { callListPageSizeName: 'n' }),
		...(hasTotal && { callListTotalPath: 'total' }),
	});
	const request = { query: {}, limit: Infinity, ifChanging: '' };
	return (await readCalls(client, request, mapping)).calls;
}

/** Pages with `meta`, as documented. If the node requests 100 entries, the service uses its own page size. */
async function readDndOf(list: ChangingList, isSized: boolean) {
	const client = serviceOf(list, (entries, query) => {
		const requested = number(query, 'n', 100);
		const size = requested === 100 ? list.pageSize : requested;
		const page = number(query, 'p', 1);
		const start = (page - 1) * size;
		return {
			success: true,
			data: entries
				.slice(start, start + size)
				.map(({ id, person }) => ({ id, phone: phoneOf(person), created_at: timeOf(id) })),
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
	return new ListedNumbers(await readWholeDndList(client, request, mapping));
}

const counts: Counts = {};
afterAll(() => printCounts('Lists that change while they are read', counts));

/** @param missed reads the list and returns the missing entries or people of those that were always on it */
async function expectNoneMissed(
	label: string,
	{ name, kinds }: Adversary,
	missed: (list: ChangingList) => Promise<unknown[]>,
	smallestPage?: number,
): Promise<void> {
	const outcomes = { read: 0, stopped: 0, missed: 0 };
	const property = fc.asyncProperty(scenarios(kinds, smallestPage), async (scenario) => {
		const missing = await missed(new ChangingList(scenario)).catch((error: unknown) => {
			if (error instanceof OutcomeUnknown) return undefined;
			throw error;
		});
		if (missing === undefined) outcomes.stopped++;
		else if (missing.length > 0) outcomes.missed++;
		else outcomes.read++;
	});
	await fc.assert(property, { numRuns: SCENARIOS });
	for (const [outcome, count] of Object.entries(outcomes))
		counts[`${label}, ${name}: ${outcome}`] = count;
	expect(outcomes.missed).toBeLessThanOrEqual(MAX_MISSED);
	expect(outcomes.read).toBeGreaterThan(SCENARIOS / 4);
}

describe.each(Object.entries(PAGING_STYLES))('calls by %s', (way, paged) => {
	describe.each<Paging>([
		{ isSized: true, hasTotal: true },
		{ isSized: true, hasTotal: false },
		{ isSized: false, hasTotal: true },
		{ isSized: false, hasTotal: false },
		...(way === 'offset' ? [{ isSized: false, hasTotal: true, isUncounted: true }] : []),
	])('page size can be set: $isSized, total: $hasTotal, of 0: $isUncounted', (paging) => {
		const label = `${way}, ${paging.isSized ? '' : 'un'}sized, ${paging.hasTotal ? '' : 'no '}total`;
		test.each(ADVERSARIES)(
			'misses almost no entry of a list $name, or stops',
			async (adversary) => {
				const missed = async (list: ChangingList) => {
					const calls = await readCallsOf(list, paged, paging);
					const ids = new Set(calls.map(({ call_id: id }) => id));
					const latest = new Map(
						(await latestOfEachNumber(calls)).map((call) => [
							call.phone_number,
							plainText(call.created_at),
						]),
					);
					return list.stayed.filter((entry) => {
						const isLatest = (latest.get(numberOf(entry)) ?? '') >= timeOf(entry.id);
						return !ids.has(`call-${entry.id}`) || !isLatest;
					});
				};
				await expectNoneMissed(label, adversary, missed, paged.smallestPage);
			},
		);
	});
});

describe.each([true, false])('a do-not-disturb list, page size can be set: %p', (isSized) => {
	test.each(ADVERSARIES)('misses almost nobody on a list $name, or stops', async (adversary) => {
		await expectNoneMissed(`dnd, ${isSized ? '' : 'un'}sized`, adversary, async (list) => {
			const whole = await readDndOf(list, isSized);
			return list.peopleWhoStayed.filter((person) => whole.entryOf(phoneOf(person)) === undefined);
		});
	});
});
