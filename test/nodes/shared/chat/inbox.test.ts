import { RecentIds } from '../../../../nodes/shared/chat/inbox';

describe('RecentIds', () => {
	const remembered = (order: string[]) => {
		const ids = new RecentIds<number>(2);
		order.forEach((id, index) => ids.set(id, index));
		return ['a', 'b', 'c'].map((id) => ids.get(id));
	};

	it('forgets the oldest beyond its limit', () => {
		expect(remembered(['a', 'b', 'c'])).toEqual([undefined, 1, 2]);
	});

	it('keeps one that was seen again lately', () => {
		expect(remembered(['a', 'b', 'a', 'c'])).toEqual([2, undefined, 3]);
	});
});
