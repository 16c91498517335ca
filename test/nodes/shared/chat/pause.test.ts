import { clock } from '../../../../nodes/shared/n8n/connect';
import { settledWithin } from '../../../../nodes/shared/chat/pause';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test.each([
	['resolves', Promise.resolve()],
	['rejects', Promise.reject(new Error('no'))],
])(
	'what %s in time is waited for no longer, and leaves no timer behind',
	async (_how, settling) => {
		await settledWithin(clock, 120_000, settling).catch(() => undefined);
		await jest.advanceTimersByTimeAsync(1_000);
		expect(jest.getTimerCount()).toBe(0);
	},
);

test('what never settles is waited for as long as said', async () => {
	let isOver = false;
	void settledWithin(clock, 5_000, new Promise(() => {})).then(() => (isOver = true));
	await jest.advanceTimersByTimeAsync(4_999);
	expect(isOver).toBe(false);
	await jest.advanceTimersByTimeAsync(1);
	expect(isOver).toBe(true);
});
