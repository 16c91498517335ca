import { Batcher } from '../../../../../nodes/shared/n8n/triggers/batcher';
import { RareNotice } from '../../../../../nodes/shared/n8n/triggers/rareNotice';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());
const after = async (seconds: number) => await jest.advanceTimersByTimeAsync(seconds * 1_000);

test('what fails all the time is told after a quarter of a minute, and then less and less often', async () => {
	const told: Array<{ at: number; count: number }> = [];
	const begun = Date.now();
	const gathered = new Batcher<number>(new AbortController().signal, (all) => {
		told.push({ at: (Date.now() - begun) / 1_000, count: all.length });
	});
	for (let second = 0; second < 700; second++) {
		gathered.add(second);
		await after(1);
	}
	expect(told.map(({ at }) => at)).toEqual([15, 30, 90, 390, 690]);
	expect(told.reduce((sum, { count }) => sum + count, 0)).toBe(690);
});

test('after ten quiet minutes it is told soon again', async () => {
	const told: number[] = [];
	const gathered = new Batcher<number>(new AbortController().signal, (all) =>
		told.push(all.length),
	);
	for (let time = 0; time < 3; time++) {
		gathered.add(time);
		await after(61);
	}
	await after(600);
	gathered.add(0);
	await after(15);
	expect(told).toHaveLength(4);
});

test('what outsiders cause is told after a minute, then once an hour with the number of times', async () => {
	const told: Array<{ at: number; times: number; first: string }> = [];
	const begun = Date.now();
	const notice = new RareNotice<string>(new AbortController().signal, (times, first) => {
		told.push({ at: (Date.now() - begun) / 60_000, times, first });
	});
	for (let minute = 0; minute < 150; minute++) {
		notice.add(`minute ${minute}`);
		notice.add('again');
		await after(60);
	}
	expect(told).toEqual([
		{ at: 1, times: 2, first: 'minute 0' },
		{ at: 61, times: 120, first: 'minute 1' },
		{ at: 121, times: 120, first: 'minute 61' },
	]);
});

test('it is told at once when the trigger is closed, and nothing is told of nothing', async () => {
	const closing = new AbortController();
	const told: number[] = [];
	const notice = new RareNotice<null>(closing.signal, (times) => told.push(times));
	notice.add(null);
	closing.abort();
	await after(0);
	expect(told).toEqual([1]);
});
