import { OutcomeUnknown } from '../../../../nodes/shared/api/errors';
import { readParts, type Part } from '../../../../nodes/shared/api/paging';

/** Gives the parts one after another, and remembers how each was asked for. */
function list(parts: Array<Part<number>>) {
	const asked: Array<[position: number | undefined, found: number]> = [];
	const read = async (position: number | undefined, found: number) => {
		const part = parts[asked.length];
		asked.push([position, found]);
		if (part === undefined) throw new Error('There is no such part');
		return await Promise.resolve(part);
	};
	return { asked, all: async (limit = Infinity) => await readParts(read, limit, 'Ask otherwise.') };
}

test('parts follow one another until none follows', async () => {
	const { asked, all } = list([
		{ entries: ['a', 'b'], next: 2 },
		{ entries: ['c'], next: 7 },
		{ entries: ['d'] },
	]);
	expect(await all()).toEqual(['a', 'b', 'c', 'd']);
	expect(asked).toEqual([
		[undefined, 0],
		[2, 2],
		[7, 3],
	]);
});

test('an empty part ends the list, whatever it says to follow', async () => {
	const { all } = list([
		{ entries: ['a'], next: 2 },
		{ entries: [], next: 3 },
	]);
	expect(await all()).toEqual(['a']);
});

test('an empty list', async () => {
	expect(await list([{ entries: [], next: 2 }]).all()).toEqual([]);
});

test.each([
	[1, ['a'], 1],
	[2, ['a', 'b'], 1],
	[3, ['a', 'b', 'c'], 2],
])('a limit of %i reads no further than it must', async (limit, expected, parts) => {
	const { asked, all } = list([
		{ entries: ['a', 'b'], next: 2 },
		{ entries: ['c', 'd'], next: 3 },
		{ entries: ['e'] },
	]);
	expect(await all(limit)).toEqual(expected);
	expect(asked).toHaveLength(parts);
});

test('the same part twice is a list without an end', async () => {
	const same = { entries: [{ id: 1 }], next: 2 };
	const failed = list([same, structuredClone(same)]).all();
	await expect(failed).rejects.toBeInstanceOf(OutcomeUnknown);
	await expect(failed).rejects.toMatchObject({
		message: 'The service gave the same part of the list again',
		resolution: 'Ask otherwise.',
	});
});

test('entries that come again in a later part alone are entries', async () => {
	const { all } = list([
		{ entries: ['a'], next: 2 },
		{ entries: ['b'], next: 3 },
		{ entries: ['a'] },
	]);
	expect(await all()).toEqual(['a', 'b', 'a']);
});
