import { BoundedMap } from '../../../nodes/shared/boundedMap';

const remembered = (order: string[]) => {
	const ids = new BoundedMap<number>(2);
	order.forEach((id, index) => ids.set(id, index));
	return ['a', 'b', 'c'].map((id) => ids.get(id));
};

test('removes the oldest entry above the limit', () => {
	expect(remembered(['a', 'b', 'c'])).toEqual([undefined, 1, 2]);
});

test('keeps an entry that was set again', () => {
	expect(remembered(['a', 'b', 'a', 'c'])).toEqual([2, undefined, 3]);
});

test('removes the oldest entries after others were deleted or set again', () => {
	const ids = new BoundedMap<number>(3);
	for (const id of ['a', 'b', 'c', 'd', 'b']) ids.set(id, 0);
	ids.delete('c');
	for (const id of ['a', 'e', 'd', 'f']) ids.set(id, 0);
	const kept = ['a', 'b', 'c', 'd', 'e', 'f'].filter((id) => ids.has(id));
	expect(kept).toEqual(['d', 'e', 'f']);
});
