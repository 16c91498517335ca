import range from 'lodash/range';
import { OutcomeUnknown } from '../../../../nodes/shared/api/errors';
import {
	MAX_READINGS,
	readPages,
	readWholeList,
	type Page,
	type PageReader,
} from '../../../../nodes/shared/api/paging';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import { plainText } from '../../../../nodes/shared/values';

const PAGE_SIZE = 2;

type Setting = {
	/** The list at each request, from 0. The last one is used for all further requests. */
	lists: string[];
	/** Without it, only an empty page shows the end of the list. */
	hasTotal?: boolean;
	/** A wrong total. */
	total?: number;
	keyOf?: (entry: unknown) => string | undefined;
};

/** A list of letters, in numbered pages. */
function letters({ lists, hasTotal = true, total: wrong, keyOf = plainText }: Setting) {
	const asked: number[] = [];
	const list: PageReader<number, Page<number>> = {
		keyOf,
		fetch: async (index = 0) => {
			const all = lists[Math.min(asked.length, lists.length - 1)] ?? '';
			asked.push(index);
			await Promise.resolve();
			const end = PAGE_SIZE * (index + 1);
			const entries = [...all.slice(PAGE_SIZE * index, end)];
			const hasNext = hasTotal ? end < all.length : entries.length > 0;
			return {
				entries,
				...(hasTotal && { total: wrong ?? all.length }),
				...(hasNext && { next: index + 1 }),
			};
		},
		parse: (page) => page,
	};
	return { asked, list };
}

const options = { loopAdvice: 'Ask otherwise.' };

async function whole(setting: Setting) {
	const { asked, list } = letters(setting);
	const keepsChanging = () => new OutcomeUnknown('Keeps changing', forEveryone('Run it again.'));
	const entries = await readWholeList(list, options, keepsChanging);
	const readings = asked.filter((index) => index === 0).length;
	return { letters: entries.map(plainText).join(''), readings };
}

describe('for a decision', () => {
	test.each([
		['no entries', ''],
		['one page', 'ab'],
	])('a list of %s is read once', async (_name, all) => {
		expect(await whole({ lists: [all] })).toEqual({ letters: all, readings: 1 });
	});

	test.each([true, false])('a longer list is read twice (total: %p)', async (hasTotal) => {
		const read = await whole({ lists: ['abcde'], hasTotal });
		expect(read).toEqual({ letters: 'abcde', readings: 2 });
	});

	test('entries without a key are compared as a whole', async () => {
		const read = await whole({ lists: ['abcde'], keyOf: () => undefined });
		expect(read).toEqual({ letters: 'abcde', readings: 2 });
	});

	test.each([
		['an earlier entry leaves', ['abcde', 'bcde'], 'bcde'],
		['an earlier entry is replaced', ['abcde', 'bcdeA'], 'bcdeA'],
		['an entry moves to a page that was read', ['abcde', 'eabcd'], 'eabcd'],
		['an entry comes at the beginning', ['abcde', '_abcde'], '_abcde'],
		['an entry comes at the end', ['abcde', 'abcdef'], 'abcdef'],
	])('a list is read again if %s', async (_name, lists, after) => {
		for (const hasTotal of [true, false]) {
			const read = await whole({ lists, hasTotal });
			expect([...read.letters].sort()).toEqual([...after].sort());
			expect(read.readings).toBeGreaterThan(1);
		}
	});

	test('the order of the last reading is kept', async () => {
		const lists = ['abcde', 'abcde', 'abcde', 'caebd'];
		expect(await whole({ lists })).toEqual({ letters: 'caebd', readings: 2 });
	});

	test('a list that keeps changing is an error', async () => {
		const alphabet = 'abcdefghijklmnopqrstuvwxyz';
		const lists = range(20).map((from) => alphabet.slice(from, from + 5));
		await expect(whole({ lists })).rejects.toThrow('Keeps changing');
		const { asked, list } = letters({ lists });
		await expect(
			readWholeList(list, options, () => new OutcomeUnknown('', forEveryone(''))),
		).rejects.toThrow(OutcomeUnknown);
		expect(asked.filter((index) => index === 0)).toHaveLength(MAX_READINGS);
	});

	test.each(['ab', 'abcd'])('so is a list with fewer entries than its total: %s', async (all) => {
		await expect(whole({ lists: [all], total: 9 })).rejects.toThrow('Keeps changing');
	});

	test('other errors are passed on unchanged', async () => {
		const { list } = letters({ lists: ['abcde'] });
		let requests = 0;
		const broken: typeof list = {
			...list,
			fetch: async (...given) => {
				if (++requests === 4) throw new OutcomeUnknown('The connection broke', forEveryone(''));
				return await list.fetch(...given);
			},
		};
		const reading = readWholeList(broken, options, () => new OutcomeUnknown('', forEveryone('')));
		await expect(reading).rejects.toThrow('The connection broke');
		expect(requests).toBe(4);
	});
});

describe('for a person to see', () => {
	const seen = async (setting: Setting, limit = Infinity) => {
		const { asked, list } = letters(setting);
		const { entries, isComplete } = await readPages(list, { ...options, limit });
		return { letters: entries.map(plainText).join(''), isComplete, requests: asked.length };
	};

	test('a list is read once', async () => {
		const read = await seen({ lists: ['abcde'] });
		expect(read).toEqual({ letters: 'abcde', isComplete: true, requests: 3 });
	});

	test('a list whose total changes may lack entries', async () => {
		expect(await seen({ lists: ['abcde', 'bcde'] })).toMatchObject({ isComplete: false });
	});

	test('so may a list with fewer entries than its total', async () => {
		expect(await seen({ lists: ['abcd'], total: 9 })).toMatchObject({ isComplete: false });
	});

	test('a list up to a limit is what was asked for', async () => {
		const read = await seen({ lists: ['abcde', 'bcde'] }, 3);
		expect(read).toEqual({ letters: 'abd', isComplete: true, requests: 2 });
	});
});
