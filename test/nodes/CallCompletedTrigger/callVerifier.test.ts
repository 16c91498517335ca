import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { CallVerifier } from '../../../nodes/CallCompletedTrigger/callVerifier';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import type { JsonObject } from '../../../nodes/shared/json';
import { virtualClock } from '../shared/api/virtualClock';
import {
	engineHarness,
	makeWorkflow,
	mockTime,
	triggerContext,
	webhookContext,
} from '../../engine';

const harness = engineHarness();
const CALL_ID = '11111111-1111-4111-8111-111111111111';
const CALL = { included: { transcript: false, recording: false }, finished: [] };

/** Verifications that never end, because the credential isn't read, and the messages about them. */
function begun(calls: number) {
	const node = harness.node('callCompletedTrigger');
	const context = triggerContext(harness.credentials, makeWorkflow([node]), node);
	const notices: unknown[] = [];
	jest.spyOn(context, 'saveFailedExecution').mockImplementation((error) => notices.push(error));
	const verifier = new CallVerifier(context);
	const begin = (call: number) => {
		const reading = verifier.verify(`call-${call}`, CALL);
		// Closing interrupts them.
		reading?.verified.catch(() => {});
		return reading?.isFirst;
	};
	for (let call = 1; call <= calls; call++) begin(call);
	return { verifier, begin, close: async () => await verifier.close(), notices };
}

describe('while the credential is not read', () => {
	beforeEach(() => {
		jest.spyOn(harness.credentials, 'getDecrypted').mockReturnValue(new Promise(() => {}));
		jest.spyOn(clock, 'sleep').mockResolvedValue();
		let time = 0;
		mockTime(() => (time += 1_000));
	});
	afterEach(() => jest.restoreAllMocks());

	test('at most 5,000 calls are verified at the same time', () => {
		const { verifier, begin } = begun(4_999);
		expect([begin(1), verifier.isFull]).toEqual([false, false]);
		expect([begin(5_000), verifier.isFull]).toEqual([true, true]);
	});

	test('at most 100 reports of a call wait for its record', () => {
		const { begin } = begun(1);
		const joined = Array.from({ length: 100 }, () => begin(1));
		expect(joined).toEqual([...Array.from({ length: 99 }, () => false), undefined]);
	});

	test.each([
		[1, 'A completed call was', 'call-1.'],
		[2, '2 completed calls were', 'call-1, call-2.'],
		[50, '50 completed calls were', ', call-49, call-50.'],
		[53, '53 completed calls were', ', call-49, call-50 and 3 more.'],
	])('%i unfinished at closing: the owner is notified once', async (calls, which, named) => {
		const { close, notices } = begun(calls);
		await close();
		expect(notices).toMatchObject([
			{
				message: `${which} still being verified when the trigger was stopped, so the workflow wasn't started`,
				description: expect.stringMatching(/^Read them with Get Call: call-1[.,]/),
			},
		]);
		expect(notices).toMatchObject([{ description: expect.stringContaining(named) }]);
	});

	test('without unfinished calls, the owner is not notified', async () => {
		const { close, notices } = begun(0);
		await close();
		expect(notices).toEqual([]);
	});

	test('in a process without triggers, n8n logs the unfinished calls', async () => {
		const node = harness.node('callCompletedTrigger');
		const { context } = webhookContext(harness.credentials, makeWorkflow([node]), node, {});
		const error = jest.spyOn(context.logger, 'error').mockReturnValue();
		const verifier = new CallVerifier(context);
		verifier.verify('call-1', CALL)?.verified.catch(() => {});
		await verifier.close();
		expect(error).toHaveBeenCalledWith(
			"A completed call was still being verified when the trigger was stopped, so the workflow wasn't started",
		);
	});
});

describe('reports of one call', () => {
	const SECOND = 1_000;
	const GIVE_UP_AFTER = 300;
	const LONGEST_PAUSE = 30;
	afterEach(() => jest.restoreAllMocks());

	/** Seconds. */
	type Timeline = {
		/** Times of the reports. */
		reports: number[];
		/** Time at which its record shows the end. */
		endShows: number;
		/** Another report, this many microtasks after a read. */
		late?: { read: number; steps: number };
	};

	/** The outcome of each report, and the times of reads. */
	async function followed({ reports, endShows, late }: Timeline) {
		const time = virtualClock();
		jest.spyOn(clock, 'now').mockImplementation(() => time.now());
		jest.spyOn(clock, 'elapsed').mockImplementation(() => time.elapsed());
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => await time.sleep(ms));
		const node = harness.node('callCompletedTrigger', { id: randomUUID() });
		const context = triggerContext(harness.credentials, makeWorkflow([node]), node);
		const notices: Error[] = [];
		jest.spyOn(context, 'saveFailedExecution').mockImplementation((error) => notices.push(error));
		const readAt: number[] = [];
		jest.spyOn(context.helpers, 'httpRequestWithAuthentication').mockImplementation(async () => {
			readAt.push(time.elapsed() / SECOND);
			if (readAt.length === late?.read) outcomes.push(reportAfter(late.steps));
			const hasEnded = time.elapsed() >= endShows * SECOND;
			const data: JsonObject = {
				call_id: CALL_ID,
				status: 'picked',
				...(hasEnded && { summary: 'x' }),
			};
			return await Promise.resolve({ statusCode: 200, headers: {}, body: { success: true, data } });
		});
		const verifier = new CallVerifier(context);
		const report = async () => {
			const reading = verifier.verify(CALL_ID, CALL);
			try {
				await reading?.verified;
				return 'passed';
			} catch (error) {
				if (reading?.isFirst === true) verifier.couldNotVerify(CALL_ID, error);
				return 'not passed';
			}
		};
		const reportAfter = async (steps: number) => {
			for (let step = 0; step < steps; step++) await Promise.resolve();
			return await report();
		};
		const outcomes = reports.map(async (at) => {
			await time.sleep(at * SECOND);
			return await report();
		});
		await Promise.all(outcomes);
		const result = { outcomes: await Promise.all(outcomes), readAt };
		await verifier.close();
		return { ...result, notices };
	}

	test.each([248, 255, 262])(
		'the true one at %d s starts its own count, though an early one is being followed',
		async (at) => {
			for (const lag of [12, 30, 200]) {
				const { outcomes } = await followed({ reports: [0, at], endShows: at + lag });
				expect(outcomes).toEqual(['passed', 'passed']);
			}
		},
	);

	test('one that arrives while the last read ends is followed, too', async () => {
		const alone = await followed({ reports: [0], endShows: Infinity });
		expect(alone.outcomes).toEqual(['not passed']);
		const last = alone.readAt.at(-1) ?? 0;
		for (let steps = 0; steps <= 60; steps++) {
			const late = { read: alone.readAt.length, steps };
			const { outcomes } = await followed({ reports: [0], endShows: last + 1, late });
			expect([steps, outcomes[1]]).toEqual([steps, 'passed']);
		}
	});

	test('one every second: the ended call is read every other second', async () => {
		const reports = [0, 1, 2, 3, 4, 5, 6, 7, 8];
		const { outcomes, readAt } = await followed({ reports, endShows: 0 });
		expect(outcomes).toEqual(reports.map(() => 'passed'));
		expect(readAt).toEqual([0, 2, 4, 6, 8]);
	});

	const timelines = fc.record({
		reports: fc.array(fc.nat(1_800), { minLength: 1, maxLength: 12 }),
		endShows: fc.nat(2_400),
	});

	test('at any times, each report is followed for five minutes, without more frequent reads', async () => {
		const property = fc.asyncProperty(timelines, async ({ reports, endShows }) => {
			const { outcomes, readAt } = await followed({ reports, endShows });
			const latest = Math.max(...reports);
			outcomes.forEach((outcome, index) => {
				const reported = reports[index] ?? 0;
				const isInTime = endShows <= reported + GIVE_UP_AFTER - LONGEST_PAUSE;
				if (isInTime) expect(outcome).toBe('passed');
			});
			expect(Math.max(...readAt)).toBeLessThanOrEqual(latest + GIVE_UP_AFTER + 2);
			for (const from of readAt) {
				const inMinute = readAt.filter((at) => at >= from && at < from + 60);
				expect(inMinute.length).toBeLessThanOrEqual(30);
			}
		});
		await fc.assert(property, { numRuns: 60 });
	});
});
