import { Batcher } from '../../../nodes/ChatEventsTrigger/batcher';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());
const after = async (seconds: number) => await jest.advanceTimersByTimeAsync(seconds * 1_000);

test('lasting failures are reported after 15 seconds, and then less and less often', async () => {
	const notices: Array<{ at: number; count: number }> = [];
	const begun = Date.now();
	const gathered = new Batcher<number>(new AbortController().signal, (all) => {
		notices.push({ at: (Date.now() - begun) / 1_000, count: all.length });
	});
	for (let second = 0; second < 700; second++) {
		gathered.add(second);
		await after(1);
	}
	expect(notices.map(({ at }) => at)).toEqual([15, 30, 90, 390, 690]);
	expect(notices.reduce((sum, { count }) => sum + count, 0)).toBe(690);
});

test('after ten minutes without failures, the next one is reported soon', async () => {
	const notices: number[] = [];
	const gathered = new Batcher<number>(new AbortController().signal, (all) =>
		notices.push(all.length),
	);
	for (let time = 0; time < 3; time++) {
		gathered.add(time);
		await after(61);
	}
	await after(600);
	gathered.add(0);
	await after(15);
	expect(notices).toHaveLength(4);
});
