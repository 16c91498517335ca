import { Batcher, RareNotice } from '../../../../../nodes/shared/n8n/triggers/notices';

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

test('events from outsiders are reported after a minute, then once an hour with their number', async () => {
	const notices: Array<{ at: number; times: number; first: string }> = [];
	const begun = Date.now();
	const notice = new RareNotice<string>(new AbortController().signal, (times, first) => {
		notices.push({ at: (Date.now() - begun) / 60_000, times, first });
	});
	for (let minute = 0; minute < 150; minute++) {
		notice.add(`minute ${minute}`);
		notice.add('again');
		await after(60);
	}
	expect(notices).toEqual([
		{ at: 1, times: 2, first: 'minute 0' },
		{ at: 61, times: 120, first: 'minute 1' },
		{ at: 121, times: 120, first: 'minute 61' },
	]);
});

test('they are reported immediately when the trigger closes, and only if there are any', async () => {
	const closing = new AbortController();
	const notices: number[] = [];
	const notice = new RareNotice<null>(closing.signal, (times) => notices.push(times));
	notice.add(null);
	closing.abort();
	await after(0);
	expect(notices).toEqual([1]);
});
