import range from 'lodash/range';
import {
	MAX_READINGS,
	readList,
	readProvenList,
	type ListReader,
} from '../../../../nodes/shared/api/completeList';
import { pageAcross, type SizedPage } from '../../../../nodes/shared/api/staggeredPages';
import { OutcomeUnknown, ServiceRejection } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import type { JsonValue } from '../../../../nodes/shared/json';
import { plainText } from '../../../../nodes/shared/values';

type Setting = {
	/** The list at each request, from 0. The last one is used for all further requests. */
	lists: string[];
	size?: number;
	/** Whether the page size can be set. */
	isSized?: boolean;
	/** Without it, only an empty page shows the end of the list. */
	hasTotal?: boolean;
	keyOf?: ListReader<SizedPage, Page>['keyOf'];
	/** The only page size that the service accepts. */
	onlySize?: number;
	/** Whether it ignores the requested page size. */
	ignoresSize?: boolean;
};
type Page = { entries: JsonValue[]; total: number; end: number };

/** A list of letters, in numbered pages. */
function letters({
	lists,
	size: usual = 2,
	isSized = false,
	hasTotal = true,
	keyOf = String,
	onlySize,
	ignoresSize = false,
}: Setting) {
	const asked: Array<[reading: number, page: number, size: number]> = [];
	const list: ListReader<SizedPage, Page> = {
		keyOf,
		staggeredBy: isSized ? 'pageSize' : undefined,
		pagesOf: (reading) => {
			const isStaggered = reading.isStaggered && isSized && !ignoresSize;
			const first = isStaggered ? pageAcross(0, reading) : { index: 0, size: usual };
			return {
				fetch: async ({ index, size } = first) => {
					const all = lists[Math.min(asked.length, lists.length - 1)] ?? '';
					asked.push([reading.number, index + 1, size]);
					await Promise.resolve();
					if (onlySize !== undefined && size !== onlySize) throw rejection();
					const entries = [...all.slice(size * index, size * (index + 1))];
					return { entries, total: all.length, end: size * index + entries.length };
				},
				parse: ({ entries, total, end }, { index, size } = first) => {
					const next = isStaggered ? pageAcross(end, reading) : { index: index + 1, size };
					if (!hasTotal) return { entries, ...(entries.length > 0 && { next }) };
					return { entries, total, ...(end < total && { next }) };
				},
			};
		},
	};
	return { asked, list };
}

const rejection = () =>
	new ServiceRejection('The size is not taken', forEveryone(''), '', 422, { texts: [], body: {} });
const options = { loopAdvice: 'Ask otherwise.' };
const notProven = () => new OutcomeUnknown('Not certain', forEveryone('Run it again.'));

const proven = async (setting: Setting) => {
	const { asked, list } = letters(setting);
	const entries = await readProvenList(list, { ...options, notProven });
	return { letters: entries.map(plainText).join(''), asked, readings: asked.at(-1)?.[0] };
};

describe('for a decision', () => {
	test.each([
		['no entries', ''],
		['one page', 'ab'],
	])('a list of %s is read once', async (_name, all) => {
		expect(await proven({ lists: [all] })).toMatchObject({ letters: all, readings: 1 });
	});

	test.each([true, false])(
		'a longer list is read twice (page size can be set: %p)',
		async (isSized) => {
			expect(await proven({ lists: ['abcde'], isSized })).toMatchObject({
				letters: 'abcde',
				readings: 2,
			});
		},
	);

	test('the second time with pages that end elsewhere, if the page size can be set', async () => {
		const { asked } = await proven({ lists: ['abcde'], isSized: true });
		expect(asked).toEqual([
			[1, 1, 2],
			[1, 2, 2],
			[1, 3, 2],
			[2, 1, 3],
			[2, 2, 3],
		]);
	});

	test('also if only an empty page shows the end of the list', async () => {
		expect(await proven({ lists: ['abcde'], isSized: true, hasTotal: false })).toMatchObject({
			letters: 'abcde',
			readings: 2,
		});
		// Pages of 2 and of 3 both end with the list.
		expect(await proven({ lists: ['abcdef'], isSized: true, hasTotal: false })).toMatchObject({
			letters: 'abcdef',
			readings: 4,
		});
	});

	test('four times if pages of both sizes end at the same entry', async () => {
		const { asked, readings } = await proven({ lists: ['abcdefgh'], isSized: true });
		expect(readings).toBe(4);
		expect(asked.filter(([reading]) => reading % 2 === 1).every(([, , size]) => size === 2)).toBe(
			true,
		);
	});

	test('twice if it has more pages than entries on a page', async () => {
		const all = String.fromCharCode(...range(1_000, 1_700));
		for (const hasTotal of [true, false]) {
			const { letters: read, readings } = await proven({
				lists: [all],
				isSized: true,
				size: 20,
				hasTotal,
			});
			expect([...read].sort().join('')).toBe(all);
			expect(readings).toBe(2);
		}
	});

	test.each([
		[3, 12],
		[8, 840],
		[10, 2_520],
	])(
		'pages of %i prove no list of more than %i entries, even if it is unchanged',
		async (size, max) => {
			const long = (length: number) => String.fromCharCode(...range(1_000, 1_000 + length));
			const { letters: read } = await proven({ lists: [long(max)], isSized: true, size });
			expect(read).toHaveLength(max);
			const longer = proven({ lists: [long(max + 1)], isSized: true, size });
			await expect(longer).rejects.toThrow('Not certain');
		},
	);

	test('with the same pages if the service accepts no other size', async () => {
		const { asked } = await proven({ lists: ['abcde'], isSized: true, onlySize: 2 });
		expect(asked.map(([reading, page, size]) => `${reading}:${page}:${size}`)).toEqual([
			...['1:1:2', '1:2:2', '1:3:2'],
			'2:1:3',
			...['2:1:2', '2:2:2', '2:3:2'],
		]);
	});

	test('with the same pages if the service twice rejects a later page of another size', async () => {
		const { asked, list } = letters({ lists: ['abcdefgh'], isSized: true });
		const rejecting: typeof list = {
			...list,
			pagesOf: (reading) => {
				const pages = list.pagesOf(reading);
				const ask: typeof pages.fetch = async (...given) => {
					const page = await pages.fetch(...given);
					if (reading.isStaggered && given[0] !== undefined) throw rejection();
					return page;
				};
				return { ...pages, fetch: ask };
			},
		};
		const entries = await readProvenList(rejecting, { ...options, notProven });
		expect(entries).toEqual([...'abcdefgh']);
		expect(asked.map(([reading, page, size]) => `${reading}:${page}:${size}`)).toEqual([
			...['1:1:2', '1:2:2', '1:3:2', '1:4:2'],
			...['2:1:3', '2:2:3', '2:1:2', '2:2:2', '2:3:2', '2:4:2'],
			...['3:1:2', '3:2:2', '3:3:2', '3:4:2'],
			...['4:1:5', '4:2:5', '4:1:2', '4:2:2', '4:3:2', '4:4:2'],
		]);
	});

	test('four times if the service ignores the page size and its total is unchanged', async () => {
		const setting = { lists: ['abcde'], isSized: true, ignoresSize: true };
		expect(await proven(setting)).toMatchObject({ letters: 'abcde', readings: 4 });
		await expect(proven({ ...setting, hasTotal: false })).rejects.toThrow('Not certain');
	});

	test('in the order of the last reading', async () => {
		const lists = ['abcde', 'abcde', 'abcde', 'caebd'];
		expect(await proven({ lists, isSized: true })).toMatchObject({ letters: 'caebd' });
	});

	test.each([
		['an earlier entry leaves', ['abcde', 'bcde'], 'bcde'],
		['an earlier entry is replaced', ['abcde', 'bcdeA'], 'bcde'],
		['an entry moves to a page that was read', ['abcde', 'eabcd'], 'abcde'],
		['an entry comes at the beginning', ['abcde', '_abcde'], 'abcde'],
		['an entry comes at the end', ['abcde', 'abcdef'], 'abcde'],
		['two entries change places', ['abcde', 'ebcda'], 'abcde'],
	])('no entry is missed if %s in between', async (_name, lists, stayed) => {
		for (const isSized of [true, false]) {
			for (const hasTotal of [true, false]) {
				const { letters: read } = await proven({ lists, isSized, hasTotal });
				for (const letter of stayed) expect(read).toContain(letter);
			}
		}
	});

	test('nor if an entry is removed and added again during each reading', async () => {
		// c moves to the previous page while a is removed.
		const lists = range(MAX_READINGS).flatMap(() => ['abcde', 'bcde', 'bcde']);
		for (const isSized of [true, false]) {
			const reading = proven({ lists, isSized });
			const read = await reading.then(
				(done) => done.letters,
				() => 'stopped',
			);
			expect(read === 'stopped' || read.includes('c')).toBe(true);
		}
	});

	test('a list that keeps changing does not count as complete', async () => {
		const alphabet = 'abcdefghijklmnopqrstuvwxyz';
		const lists = range(20).map((from) => alphabet.slice(from, from + 5));
		const { asked, list } = letters({ lists });
		const reading = readProvenList(list, { ...options, notProven });
		await expect(reading).rejects.toThrow('Not certain');
		expect(asked.at(-1)?.[0]).toBe(MAX_READINGS);
	});

	test('nor does a list with fewer entries than its total', async () => {
		const { list } = letters({ lists: ['abcd'] });
		const short: typeof list = {
			...list,
			pagesOf: (reading) => {
				const pages = list.pagesOf(reading);
				return { ...pages, parse: (...given) => ({ ...pages.parse(...given), total: 9 }) };
			},
		};
		await expect(readProvenList(short, { ...options, notProven })).rejects.toThrow('Not certain');
	});

	test('a list above the maximum is not read to its end', async () => {
		const { asked, list } = letters({ lists: ['abcdefgh'] });
		const exceeded = () => new OutcomeUnknown('Too long', forEveryone(''));
		const longest = { entries: 3, exceeded };
		await expect(
			readProvenList(list, { ...options, notProven, maxLength: longest }),
		).rejects.toThrow('Too long');
		expect(asked).toHaveLength(2);
		const exact = { entries: 8, exceeded };
		expect(await readProvenList(list, { ...options, notProven, maxLength: exact })).toHaveLength(8);
	});

	test('other errors are passed on unchanged', async () => {
		const { list } = letters({ lists: ['abcde'], isSized: true });
		let requests = 0;
		const broken: typeof list = {
			...list,
			pagesOf: (reading) => {
				const pages = list.pagesOf(reading);
				const ask: typeof pages.fetch = async (...given) => {
					if (++requests === 4) throw new OutcomeUnknown('The connection broke', forEveryone(''));
					return await pages.fetch(...given);
				};
				return { ...pages, fetch: ask };
			},
		};
		const reading = readProvenList(broken, { ...options, notProven });
		await expect(reading).rejects.toThrow('The connection broke');
		expect(requests).toBe(4);
	});
});

describe('in every way that a short list can change between seven requests, the reading', () => {
	type Change = (list: string, beginning: string) => string;
	const stays: Change = (list) => list;
	const firstLeaves: Change = (list) => list.slice(1);
	const lastMovesToFront: Change = (list) => list.slice(-1) + list.slice(0, -1);
	const firstIsReplaced: Change = (list) =>
		list === '' ? list : list.slice(1) + String.fromCharCode(list.charCodeAt(0) + 32);
	const anotherComes: Change = (list) => `${String.fromCharCode(600 + list.length)}${list}`;
	/** Entries that were removed at the start of the list are back. */
	const allComeBack: Change = (list, beginning) =>
		[...beginning].filter((letter) => !list.includes(letter)).join('') + list;

	/** Each letter that all requested lists have is read, or the reading fails. */
	async function missedOf(changes: Change[], setting: Omit<Setting, 'lists'>): Promise<number> {
		const beginning = 'ABCDE';
		let missed = 0;
		let stopped = 0;
		const requests = 6;
		for (let number = 0; number < changes.length ** requests; number++) {
			const lists = [beginning];
			for (let rest = number, at = 0; at < requests; at++) {
				const change = changes[rest % changes.length] ?? stays;
				lists.push(change(lists.at(-1) ?? '', beginning));
				rest = Math.floor(rest / changes.length);
			}
			const { asked, list } = letters({ ...setting, lists });
			const read = await readProvenList(list, { ...options, notProven }).catch(() => undefined);
			if (read === undefined) stopped++;
			const reached = lists.slice(0, asked.length);
			const stayed = [...beginning].filter((letter) => reached.every((at) => at.includes(letter)));
			if (stayed.some((letter) => read?.includes(letter) === false)) missed++;
		}
		expect(stopped).toBeLessThan(changes.length ** requests / 4);
		return missed;
	}

	describe.each([true, false])('total: %p', (hasTotal) => {
		test.each([true, false])(
			'misses no remaining entry if removed ones do not come back (page size can be set: %p)',
			async (isSized) => {
				const changes = [stays, firstLeaves, lastMovesToFront, firstIsReplaced];
				expect(await missedOf(changes, { isSized, hasTotal })).toBe(0);
			},
		);

		test('misses no remaining entry if the list keeps its order and its pages overlap', async () => {
			const changes = [stays, firstLeaves, allComeBack, anotherComes];
			expect(await missedOf(changes, { isSized: true, hasTotal })).toBe(0);
		});
	});

	test('misses some if pages cannot overlap, removed entries come back, and no total shows it', async () => {
		const changes = [stays, firstLeaves, allComeBack];
		expect(await missedOf(changes, { isSized: false, hasTotal: true })).toBe(0);
		expect(await missedOf(changes, { isSized: false, hasTotal: false })).toBeGreaterThan(0);
	});
});

describe('for a person to see', () => {
	const seen = async (setting: Setting, limit = Infinity) => {
		const { asked, list } = letters(setting);
		const { entries, isComplete } = await readList(list, { ...options, limit });
		return { letters: entries.map(plainText).join(''), isComplete, readings: asked.at(-1)?.[0] };
	};

	test.each([true, false])('an unchanged list is read once (total: %p)', async (hasTotal) => {
		expect(await seen({ lists: ['abcde'], hasTotal })).toEqual({
			letters: 'abcde',
			isComplete: true,
			readings: 1,
		});
	});

	test('a list whose total changes is read again', async () => {
		const { letters: read, isComplete, readings } = await seen({ lists: ['abcde', 'bcde'] });
		for (const letter of 'bcde') expect(read).toContain(letter);
		expect({ isComplete, readings }).toEqual({ isComplete: true, readings: 2 });
	});

	test('a list that keeps changing is returned with all entries that were seen', async () => {
		const lists = range(20).map((from) =>
			'abcdefghijklmnopqrstuvwxyz'.slice(from, from + 5 + (from % 2)),
		);
		const { letters: read, isComplete } = await seen({ lists });
		expect(isComplete).toBe(false);
		expect(new Set(read).size).toBe(read.length);
	});

	test('a list with fewer entries than its total is read once, and does not count as complete', async () => {
		const { asked, list } = letters({ lists: ['abcd'] });
		const short: typeof list = {
			...list,
			pagesOf: (reading) => {
				const pages = list.pagesOf(reading);
				return { ...pages, parse: (...given) => ({ ...pages.parse(...given), total: 9 }) };
			},
		};
		const read = await readList(short, { ...options, limit: Infinity });
		expect(read).toEqual({ entries: [...'abcd'], isComplete: false });
		expect(asked.at(-1)?.[0]).toBe(1);
	});

	test('entries without a key are not combined from several readings', async () => {
		const keyOf = () => undefined;
		const lists = ['abba', 'abbac'];
		expect(await seen({ lists, keyOf })).toEqual({
			letters: 'abbac',
			isComplete: false,
			readings: 1,
		});
		const keyOfMost = (entry: JsonValue) => (entry === 'c' ? undefined : plainText(entry));
		expect(await seen({ lists, keyOf: keyOfMost })).toMatchObject({
			isComplete: false,
			readings: 1,
		});
		expect(await seen({ lists: ['abba'], keyOf })).toMatchObject({
			letters: 'abba',
			isComplete: true,
		});
	});

	test('with a limit, no further page is read, even if the list changes', async () => {
		expect(await seen({ lists: ['abcde', 'bcde'] }, 3)).toEqual({
			letters: 'abd',
			isComplete: true,
			readings: 1,
		});
	});
});
