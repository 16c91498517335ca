import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import range from 'lodash/range';
import pLimit from 'p-limit';
import { OutcomeUnknown } from '../../../../nodes/core/service/errors';
import { READS_AT_ONCE } from '../../../../nodes/core/service/limits';
import {
	readOnce,
	readPages,
	type Page,
	type PagedList,
} from '../../../../nodes/core/service/paging';
import type { JsonObject } from '../../../../nodes/core/values/json';
import { plainText } from '../../../../nodes/core/values/values';

/** A page of entries with one letter each. */
const page = (letters: string, next: number[] = [], total?: number): Page<number> => ({
	entries: [...letters].map((id) => ({ id })),
	next: () => next,
	total,
});
const lettersOf = (entries: JsonObject[]) => entries.map(({ id }) => plainText(id)).join('');

const KEEPS_CHANGING = { message: 'Keeps changing', resolution: 'Run it again.' };

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';

/** Pages with one entry each. Each page has the positions of all further ones. */
const pagesOf = (letters: string) =>
	[...letters].map((letter, at) => page(letter, range(at + 1, letters.length)));

/** A list with pages by position, from 0. Records the requested positions. */
function listOf(pages: ReadonlyArray<Page<number> | Error>) {
	const asked: number[] = [];
	const inFlight = { now: 0, max: 0 };
	const list: PagedList<number> = {
		read: async (position = 0) => {
			asked.push(position);
			inFlight.max = Math.max(inFlight.max, ++inFlight.now);
			// A later request may get its response sooner.
			for (let turn = 0; turn < 3 - (position % 3); turn++) await setImmediate();
			inFlight.now--;
			const result = pages[position] ?? new Error(`There is no page ${position}`);
			if (result instanceof Error) throw result;
			return result;
		},
		keyOf: () => undefined,
		loopAdvice: 'Ask otherwise.',
		keepsChanging: KEEPS_CHANGING,
	};
	const read = async (limit = Infinity, limiter = pLimit(READS_AT_ONCE)) =>
		lettersOf((await readOnce({ ...list, limiter }, limit)).entries);
	return { asked, inFlight, read };
}

test.each<[string, Array<Page<number>>, string, number[]]>([
	['until there is no next page', [page('ab', [1]), page('c', [2]), page('d')], 'abcd', [0, 1, 2]],
	['an empty list', [page('')], '', [0]],
	['past an empty first page with a total of 0', [page('', [1], 0), page('a')], 'a', [0, 1]],
	['past empty pages', [page('', [1]), page('a', [2]), page('', [3]), page('b')], 'ab', range(4)],
	['until an empty page leads back to itself', [page('a', [1]), page('', [1])], 'a', [0, 1]],
	[
		'until ten empty pages in a row',
		[page('a', [1]), ...range(2, 100).map((next) => page('', [next]))],
		'a',
		range(11),
	],
	['until the total is reached', [page('ab', [1], 3), page('c', [2], 3)], 'abc', [0, 1]],
	['on after a wrong total', [page('ab', [1], 1), page('', [2], 0), page('c')], 'abc', range(3)],
	['repeated entries without keys', [page('a', [1]), page('b', [2]), page('a')], 'aba', range(3)],
])('reads %s', async (_what, pages, letters, asked) => {
	const list = listOf(pages);
	expect(await list.read()).toBe(letters);
	expect(list.asked).toEqual(asked);
});

test.each([
	['the same page twice', [page('a', [1]), page('a', [2])]],
	['the last page again after the end', [page('a', [1]), page('b', [2]), page('b', [3])]],
	['a page that leads back to an earlier one', [page('a', [1]), page('b', [2]), page('c', [1])]],
])('%s is an error', async (_what, pages) => {
	const reading = listOf(pages).read();
	await expect(reading).rejects.toBeInstanceOf(OutcomeUnknown);
	await expect(reading).rejects.toMatchObject({
		message: 'The service returned the same page of the list again',
		resolution: 'Ask otherwise.',
	});
});

test('an entry that moves to a later page is returned once, and the reading is not stable', async () => {
	const pages = [page('ab', [1]), page('bc', [2]), page('d')];
	const list: PagedList<number> = {
		read: async (position = 0) => await Promise.resolve(pages[position] ?? page('')),
		keyOf: ({ id }) => plainText(id),
		loopAdvice: '',
		keepsChanging: KEEPS_CHANGING,
	};
	const { entries, isStable } = await readOnce(list, Infinity);
	expect(lettersOf(entries)).toBe('abcd');
	expect(isStable).toBe(false);
	expect(lettersOf(await readPages(list, 3))).toBe('abc');
});

describe('pages with known positions', () => {
	test('are requested in parallel, each once, and returned in order', async () => {
		const texts = fc
			.integer({ min: 1, max: 40 })
			.map((count) => ALPHABET.repeat(2).slice(0, count));
		await fc.assert(
			fc.asyncProperty(texts, async (letters) => {
				const count = letters.length;
				const list = listOf(pagesOf(letters));
				expect(await list.read()).toBe(letters);
				expect([...list.asked].sort((a, b) => a - b)).toEqual(range(count));
				expect(list.inFlight.max).toBe(Math.min(READS_AT_ONCE, Math.max(1, count - 1)));
			}),
			{ numRuns: 15 },
		);
	});

	test('wait for the limiter, which other lists may share', async () => {
		const [one, other] = [listOf(pagesOf(ALPHABET)), listOf(pagesOf(ALPHABET))];
		const limiter = pLimit(3);
		let max = 0;
		const reading = Promise.all([one.read(Infinity, limiter), other.read(Infinity, limiter)]);
		while (one.asked.length + other.asked.length < 2 * ALPHABET.length) {
			max = Math.max(max, one.inFlight.now + other.inFlight.now);
			await setImmediate();
		}
		expect(await reading).toEqual([ALPHABET, ALPHABET]);
		expect(max).toBe(3);
	});

	test('do not change the result, whatever the service returns', async () => {
		const letters = fc.stringMatching(/^[abc]{0,4}$/);
		const positions = fc.array(fc.nat({ max: 12 }), { maxLength: 20 });
		const one = fc.oneof(
			{ weight: 9, arbitrary: fc.tuple(letters, positions).map((given) => page(...given)) },
			{ weight: 1, arbitrary: fc.constant(new Error('broken')) },
		);
		const all = fc.array(one, { minLength: 13, maxLength: 13 });
		const limits = fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 12 }));
		await fc.assert(
			fc.asyncProperty(all, limits, fc.integer({ min: 1, max: 4 }), async (pages, limit, max) => {
				const ahead = listOf(pages);
				const oneByOne = listOf(
					pages.map((given) =>
						given instanceof Error ? given : { ...given, next: () => given.next().slice(0, 1) },
					),
				);
				const [read, expected] = await Promise.allSettled([
					ahead.read(limit, pLimit(max)),
					oneByOne.read(limit),
				]);
				expect(read).toEqual(expected);
				const { length } = ahead.asked;
				expect(length).toBeLessThanOrEqual(oneByOne.asked.length + READS_AT_ONCE);
				// Nothing is requested after the end.
				for (let turn = 0; turn < 10; turn++) await setImmediate();
				expect(ahead.asked).toHaveLength(length);
			}),
			{ numRuns: 100 },
		);
	});
});

const PAGE_SIZE = 2;
const CHANGING = 'OutcomeUnknown: Keeps changing';

type Setting = {
	/** The list at each request. The last one is used for all further requests. */
	lists: string[];
	/** Without it, only an empty page shows the end of the list. */
	hasTotal?: boolean;
	/** Wrong totals of the first page and the others. */
	totals?: [number, number];
	hasKeys?: boolean;
};

/** Reads a list of letters, in numbered pages, for a decision. */
async function readWhole({ lists, hasTotal = true, totals, hasKeys = true }: Setting) {
	let readings = 0;
	let requests = 0;
	const list: PagedList<number> = {
		read: async (index = 0) => {
			const all = lists[Math.min(requests++, lists.length - 1)] ?? '';
			if (index === 0) readings++;
			await Promise.resolve();
			const end = PAGE_SIZE * (index + 1);
			const letters = all.slice(PAGE_SIZE * index, end);
			const hasNext = hasTotal ? end < all.length : letters !== '';
			const total = totals?.[index === 0 ? 0 : 1] ?? all.length;
			return page(letters, hasNext ? [index + 1] : [], hasTotal ? total : undefined);
		},
		keyOf: ({ id }) => (hasKeys ? plainText(id) : undefined),
		loopAdvice: '',
		keepsChanging: KEEPS_CHANGING,
	};
	const reading = readPages(list, Infinity).then(lettersOf);
	return { result: await reading.catch(String), readings };
}

test.each<[string, Setting, string, number]>([
	['no entries', { lists: [''] }, '', 1],
	['one page', { lists: ['ab'] }, 'ab', 1],
	['several pages', { lists: ['abcde'] }, 'abcde', 1],
	['several pages without a total', { lists: ['abcde'], hasTotal: false }, 'abcde', 1],
	['entries that have no keys', { lists: ['abcde'], hasKeys: false }, 'abcde', 1],
	['several pages, counted with the first', { lists: ['abcde'], totals: [5, 0] }, 'abcde', 1],
	['several pages, counted too low', { lists: ['abcde'], totals: [3, 3] }, 'abcde', 1],
	['one more entry after the first page', { lists: ['abcde', 'xabcde'] }, 'xabcde', 2],
	['one entry less after the first page', { lists: ['abcde', 'bcde'] }, 'bcde', 2],
	['one more entry, without a total', { lists: ['abcde', 'xabcde'], hasTotal: false }, 'xabcde', 2],
	['one page with too few entries', { lists: ['ab'], totals: [9, 9] }, CHANGING, 3],
	['several pages with too few entries', { lists: ['abcd'], totals: [9, 9] }, CHANGING, 3],
	[
		'entries that keep growing',
		{ lists: range(20).map((from) => ALPHABET.slice(20 - from)) },
		CHANGING,
		3,
	],
])('for a decision, a list of %s', async (_what, setting, result, readings) => {
	expect(await readWhole(setting)).toEqual({ result, readings });
});
