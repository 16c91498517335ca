import { RecentCount } from '../../../nodes/shared/recentCount';

test('an event counts until its time span has passed', () => {
	const count = new RecentCount(1_000);
	count.add(0);
	count.add(400);
	expect([count.at(400), count.at(999)]).toEqual([2, 2]);
	expect(count.at(1_000)).toBe(1);
	expect([count.at(1_399), count.at(1_400)]).toEqual([1, 0]);
});

test('returns the time until the oldest event no longer counts, or 0 without events', () => {
	const count = new RecentCount(1_000);
	expect(count.untilFewer(50)).toBe(0);
	count.add(100);
	count.add(600);
	expect(count.untilFewer(700)).toBe(400);
	expect(count.at(1_100)).toBe(1);
	expect(count.untilFewer(1_100)).toBe(500);
	expect(count.untilFewer(5_000)).toBe(0);
});
