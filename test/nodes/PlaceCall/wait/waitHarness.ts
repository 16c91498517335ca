import nock from 'nock';
import { sleep } from 'n8n-workflow';
import { clock } from '../../../../nodes/shared/n8n/http/accountClient';
import { until } from '../../../n8n/until';
import type { Dialect } from '../../../simulator';
import { useSimulator } from '../../../simulator/testing/useSimulator';
import { placeCallHarness, waitBy } from '../placeCallHarness';
import { N8N, waitingExecutions } from '../waitingExecutions';

export const harness = placeCallHarness();
export const HOUR = 3_600_000;
export const byWebhook = waitBy('webhook');
export const byReading = waitBy('reading');
export const PINGS = /^\/webhook-waiting\/[^/]+\/id-Node/;

/** A service with this dialect, and Place Call. The test controls the clock. */
export function waitHarness(dialect: Dialect) {
	let now: jest.SpyInstance<number, []>;
	let waits: number[];

	beforeEach(() => {
		waits = [];
		now = jest.spyOn(clock, 'now');
		jest.spyOn(clock, 'elapsed').mockImplementation(clock.now.bind(clock));
		// No automatic pings: each test sends its own.
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			waits.push(ms);
			await new Promise(() => {});
		});
	});
	afterEach(() => jest.restoreAllMocks());
	const simulator = useSimulator({ dialect });

	return {
		...waitingExecutions(harness, simulator),
		service: simulator,
		placed: () =>
			simulator()
				.placedCalls()
				.map(({ callId }) => callId),
		isNow: (time: number) => now.mockReturnValue(time),
		/** The waits beside the waiting execution. */
		waits: () => waits,
		/** From now on, a wait ends immediately and advances the clock. */
		timeFlies: (
			waitingRun: (ms: number) => Promise<void> = async () => await Promise.resolve(),
		) => {
			let time = clock.now();
			now.mockImplementation(() => time);
			jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
				waits.push(ms);
				await waitingRun(ms);
				time += ms;
			});
		},
		/** n8n's responses to the pings of the resume URL, by status or text. */
		answerPings: (...answers: Array<number | string>) => {
			const pings: unknown[] = [];
			let look = () => {};
			nock(N8N)
				.post(PINGS)
				.times(answers.length)
				.reply((_uri, body) => {
					pings.push(body);
					look();
					const answer = answers[pings.length - 1];
					return typeof answer === 'string' ? [200, answer] : [answer, {}];
				});
			const last = async () =>
				await until('the last ping', async () => pings.length === answers.length);
			return { pings, last, onPing: (listener: () => void) => (look = listener) };
		},
	};
}

/** Advances timers while requests are in flight. */
export async function inNoTime<T>(act: () => Promise<T>): Promise<T> {
	jest.useFakeTimers({
		doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'],
	});
	jest.spyOn(clock, 'sleep').mockImplementation(sleep);
	const end = { reached: false };
	try {
		const acting = act().finally(() => (end.reached = true));
		while (!end.reached) {
			await jest.advanceTimersByTimeAsync(1_000);
			await new Promise((resolve) => setImmediate(resolve));
		}
		return await acting;
	} finally {
		jest.useRealTimers();
	}
}
