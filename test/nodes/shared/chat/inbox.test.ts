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

	it('has room for what a service may replay: five thousand', () => {
		const ids = new RecentIds<number>();
		for (let id = 0; id <= 5_000; id += 1) ids.set(String(id), id);
		expect([ids.get('0'), ids.get('1')]).toEqual([undefined, 1]);
	});

	it('keeps one that was seen again lately', () => {
		expect(remembered(['a', 'b', 'a', 'c'])).toEqual([2, undefined, 3]);
	});
});
