import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import omit from 'lodash/omit';
import range from 'lodash/range';
import pLimit from 'p-limit';
import { OutcomeUnknown } from '../../../../nodes/shared/api/errors';
import { READS_AT_ONCE } from '../../../../nodes/shared/api/limits';
import {
	readPages,
	Totals,
	type Page,
	type PageOptions,
} from '../../../../nodes/shared/api/paging';

/** A list with pages by position, which is undefined for the first one. Records the requested positions. */
function list(parts: Map<number | undefined, Page<number> | Error>) {
	const asked: Array<number | undefined> = [];
	const found: number[] = [];
	const inFlight = { now: 0, max: 0 };
	const ask = async (position: number | undefined) => {
		asked.push(position);
		inFlight.max = Math.max(inFlight.max, ++inFlight.now);
		// A later request may get its response sooner.
		for (let turn = 0; turn < 3 - ((position ?? 0) % 3); turn++) await setImmediate();
		inFlight.now--;
		const part = parts.get(position);
		if (part === undefined) throw new Error(`There is no part ${position}`);
		if (part instanceof Error) throw part;
		return part;
	};
	const all = async (options: Partial<PageOptions> = {}) => {
		const { entries } = await readPages(
			{
				fetch: ask,
				parse: (part, _position, before) => {
					found.push(before);
					return part;
				},
			},
			{ limit: Infinity, loopAdvice: 'Ask otherwise.', ...options },
		);
		return entries;
	};
	return { asked, found, inFlight, all };
}

const parts = (...each: Array<readonly [number | undefined, Page<number> | Error]>) =>
	list(new Map(each));

/** A list of pages with one entry each. Each page has the positions of all further ones. */
function numbered(count: number, broken: number[] = []) {
	return list(
		new Map(
			range(count).map((part) => [
				part === 0 ? undefined : part,
				broken.includes(part)
					? new Error(`Part ${part} is broken`)
					: {
							entries: [`entry ${part}`],
							...(part < count - 1 && { next: part + 1, further: range(part + 2, count) }),
						},
			]),
		),
	);
}

test('pages are read until there is no next page', async () => {
	const { asked, found, all } = parts(
		[undefined, { entries: ['a', 'b'], next: 2 }],
		[2, { entries: ['c'], next: 7 }],
		[7, { entries: ['d'] }],
	);
	expect(await all()).toEqual(['a', 'b', 'c', 'd']);
	expect(asked).toEqual([undefined, 2, 7]);
	expect(found).toEqual([0, 2, 3]);
});

describe('an empty page', () => {
	test('does not end the list if it has a next page', async () => {
		const { all } = parts(
			[undefined, { entries: [], next: 2 }],
			[2, { entries: ['a'], next: 3 }],
			[3, { entries: [], next: 4 }],
			[4, { entries: ['b'] }],
		);
		expect(await all()).toEqual(['a', 'b']);
	});

	test('ends the list if it leads back to itself', async () => {
		const { all } = parts([undefined, { entries: ['a'], next: 2 }], [2, { entries: [], next: 2 }]);
		expect(await all()).toEqual(['a']);
	});

	test('ends the list after nine others', async () => {
		const empty = range(2, 100).map((at): [number, Page<number>] => [
			at,
			{ entries: [], next: at + 1 },
		]);
		const { asked, all } = parts([undefined, { entries: ['a'], next: 2 }], ...empty);
		expect(await all()).toEqual(['a']);
		expect(asked).toHaveLength(1 + 10);
	});
});

test('a page may have more entries than a function accepts as arguments', async () => {
	const entries = range(300_000);
	expect(await parts([undefined, { entries }]).all()).toHaveLength(entries.length);
});

test('an empty list', async () => {
	expect(await parts([undefined, { entries: [] }]).all()).toEqual([]);
});

test.each([
	[1, ['a'], 1],
	[2, ['a', 'b'], 1],
	[3, ['a', 'b', 'c'], 2],
])('a limit of %i reads no more pages than necessary', async (limit, expected, count) => {
	const { asked, all } = parts(
		[undefined, { entries: ['a', 'b'], next: 2, further: [3, 4] }],
		[2, { entries: ['c', 'd'], next: 3, further: [4] }],
		[3, { entries: ['e'] }],
	);
	expect(await all({ limit })).toEqual(expected);
	expect(asked).toHaveLength(count);
});

test('the same page twice is an error', async () => {
	const same = { entries: [{ id: 1 }], next: 2 };
	const failed = parts([undefined, same], [2, structuredClone(same)]).all();
	await expect(failed).rejects.toBeInstanceOf(OutcomeUnknown);
	await expect(failed).rejects.toMatchObject({
		message: 'The service returned the same page of the list again',
		resolution: 'Ask otherwise.',
	});
});

test('a page that leads back to an earlier one is an error', async () => {
	const { all } = parts(
		[undefined, { entries: ['a'], next: 1 }],
		[1, { entries: ['b'], next: 2 }],
		[2, { entries: ['c'], next: 1 }],
	);
	await expect(all()).rejects.toBeInstanceOf(OutcomeUnknown);
});

test('repeated entries on a later page are kept', async () => {
	const { all } = parts(
		[undefined, { entries: ['a'], next: 2 }],
		[2, { entries: ['b'], next: 3 }],
		[3, { entries: ['a'] }],
	);
	expect(await all()).toEqual(['a', 'b', 'a']);
});

describe('pages with known positions', () => {
	test('are requested in parallel, each once, and returned in order', async () => {
		await fc.assert(
			fc.asyncProperty(fc.integer({ min: 1, max: 40 }), async (count) => {
				const { asked, found, inFlight, all } = numbered(count);
				expect(await all()).toEqual(range(count).map((part) => `entry ${part}`));
				expect([...asked].sort((a = 0, b = 0) => a - b)).toEqual([...range(1, count), undefined]);
				expect(found).toEqual(range(count));
				expect(inFlight.max).toBeLessThanOrEqual(READS_AT_ONCE);
				if (count > READS_AT_ONCE) expect(inFlight.max).toBe(READS_AT_ONCE);
			}),
			{ numRuns: 40 },
		);
	});

	test('wait for the limiter', async () => {
		const { asked, inFlight, all } = numbered(30);
		const other = numbered(30);
		const limiter = pLimit(3);
		let max = 0;
		const watch = async () => {
			max = Math.max(max, inFlight.now + other.inFlight.now);
			await setImmediate();
		};
		const both = Promise.all([all({ limiter }), other.all({ limiter })]);
		while (asked.length < 30 || other.asked.length < 30) await watch();
		await both;
		expect(max).toBe(3);
	});

	test('are limited to what the limit needs', async () => {
		for (const limit of [1, 2, 5, 11, 29]) {
			const { asked, all } = numbered(30);
			expect(await all({ limit })).toHaveLength(limit);
			expect(asked).toHaveLength(limit);
		}
	});

	test('may be any number', async () => {
		function* endless() {
			for (let part = 2; ; part++) yield part;
		}
		const { asked, all } = parts(
			[undefined, { entries: ['a'], next: 1, further: endless() }],
			[1, { entries: ['b'] }],
		);
		expect(await all()).toEqual(['a', 'b']);
		expect(asked).toHaveLength(1 + READS_AT_ONCE);
	});

	test('report failures in order, and only if the list reaches them', async () => {
		await expect(numbered(9, [7, 4]).all()).rejects.toThrow('Part 4 is broken');
		const { all } = parts(
			[undefined, { entries: ['a'], next: 1, further: [2] }],
			[1, { entries: ['b'] }],
			[2, new Error('There is no such part')],
		);
		expect(await all()).toEqual(['a', 'b']);
	});

	test('are not requested after a failure, except for one that follows immediately', async () => {
		const { asked, all } = numbered(20, [3]);
		await expect(all({ limiter: pLimit(1) })).rejects.toThrow('Part 3 is broken');
		for (let turn = 0; turn < 50; turn++) await setImmediate();
		expect(asked).toEqual([undefined, 1, 2, 3, 4]);
	});

	test('are canceled when the list fails, and not before', async () => {
		const signals = new Map<number | undefined, AbortSignal>();
		const ask = async (position: number | undefined, signal: AbortSignal) => {
			signals.set(position, signal);
			for (let turn = 0; turn < (position === 1 ? 5 : 1); turn++) await setImmediate();
			if (position === 2) throw new Error('Part 2 is broken');
			return position;
		};
		const aborted = () => [...signals.values()].map((signal) => signal.aborted);
		const read = (_response: number | undefined, position = 0): Page<number> => {
			expect(aborted()).not.toContain(true);
			const next = position + 1;
			return { entries: [position], next, further: range(next + 1, 6) };
		};
		const all = readPages<number, number | undefined>(
			{ fetch: ask, parse: read },
			{ limit: Infinity, loopAdvice: '' },
		);
		await expect(all).rejects.toThrow('Part 2 is broken');
		expect(aborted()).toEqual([true, true, true, true, true, true]);
	});

	test('are dropped if the pages turn out to differ', async () => {
		const { asked, all } = parts(
			[undefined, { entries: ['a', 'b'], next: 2, further: [4, 6, 8] }],
			[2, { entries: ['c'], next: 3, further: [5, 7] }],
			[3, { entries: ['d'], next: 4, further: [5, 6] }],
			[4, { entries: ['e'], next: 5, further: [6, 7] }],
			[5, { entries: ['f'] }],
		);
		expect(await all()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
		expect(asked).toEqual([undefined, 2, 4, 6, 8, 3, 4, 5]);
	});

	test('do not change the result, whatever the service returns', async () => {
		const entries = fc.array(fc.nat({ max: 3 }), { maxLength: 4 });
		const position = fc.nat({ max: 12 });
		const further = fc.array(position, { maxLength: 20 });
		const part: fc.Arbitrary<Page<number> | Error> = fc.oneof(
			{ weight: 8, arbitrary: fc.record({ entries, next: position, further }) },
			{ weight: 1, arbitrary: fc.record({ entries }) },
			{ weight: 1, arbitrary: fc.constant(new Error('broken')) },
		);
		const each = fc.array(part, { minLength: 14, maxLength: 14 });
		const limits = fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 12 }));
		const atOnce = fc.integer({ min: 1, max: 4 });
		const listOf = (all: Array<Page<number> | Error>) =>
			parts(...all.map((one, at) => [at === 0 ? undefined : at - 1, one] as const));
		await fc.assert(
			fc.asyncProperty(each, limits, atOnce, async (all, limit, max) => {
				const ahead = listOf(all);
				const oneByOne = listOf(
					all.map((one) => (one instanceof Error ? one : omit(one, 'further'))),
				);
				const [read, expected] = await Promise.allSettled([
					ahead.all({ limit, limiter: pLimit(max) }),
					oneByOne.all({ limit }),
				]);
				expect(read).toEqual(expected);
				const { length } = ahead.asked;
				expect(length).toBeLessThanOrEqual(oneByOne.asked.length + READS_AT_ONCE);
				for (let turn = 0; turn < 10; turn++) await setImmediate();
				expect(ahead.asked).toHaveLength(length);
			}),
			{ numRuns: 300 },
		);
	});
});

describe('Totals', () => {
	test.each<[string, Array<[value: string | number | null, entries: number]>, unknown[]]>([
		[
			'those that match the list',
			[
				[5, 3],
				['6', 3],
				[6, 0],
			],
			[5, 6, 6],
		],
		[
			'none that cannot be read',
			[
				[null, 3],
				['many', 3],
				[4, 1],
			],
			[undefined, undefined, 4],
		],
		[
			'none after a total that is too small',
			[
				[0, 3],
				[0, 0],
				[9, 3],
			],
			[undefined, undefined, undefined],
		],
		[
			'none after -1',
			[
				[-1, 0],
				[0, 0],
			],
			[undefined, undefined],
		],
	])('uses %s', (_name, given, expected) => {
		const totals = new Totals();
		expect(given.map(([value, entries]) => totals.read(value, entries))).toEqual(expected);
	});
});
