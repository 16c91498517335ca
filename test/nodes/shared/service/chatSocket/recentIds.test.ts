import { RecentIds } from '../../../../../nodes/shared/service/chatSocket/recentIds';

describe('RecentIds', () => {
	it('forgets the oldest beyond its limit', () => {
		const ids = new RecentIds(2);
		for (const id of ['a', 'b', 'c']) ids.add(id);
		expect(['a', 'b', 'c'].map((id) => ids.has(id))).toEqual([false, true, true]);
	});

	it('keeps one that was seen again lately', () => {
		const ids = new RecentIds(2);
		for (const id of ['a', 'b', 'a', 'c']) ids.add(id);
		expect(['a', 'b', 'c'].map((id) => ids.has(id))).toEqual([true, false, true]);
	});

	it('forgets on request', () => {
		const ids = new RecentIds();
		ids.add('a');
		ids.forget('a');
		expect(ids.has('a')).toBe(false);
	});
});
