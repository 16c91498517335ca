/** What resumes an execution that waits by webhook: reports of the service, and pings of n8n itself. */
import type { INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { clock } from '../../../nodes/host/clock';
import { storedCredentials } from '../../engine';
import { eventually, untilIdle } from '../../n8n/until';
import { waitBy } from './placeCallHarness';
import { byWebhook, HOUR, N8N, PINGS, waitHarness } from './waitHarness';

const { waiting, service, isNow, waits, timeFlies, answerPings } = waitHarness();
const STILL_WAITING = { webhookResponse: { received: true } };

describe('a request to the resume URL', () => {
	const noSleep = () => jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
	const ended = async (parameters = byWebhook) => {
		const wait = await waiting(parameters);
		await service().endCall(wait.callId);
		return wait;
	};

	it('is to be sent again while the reported call cannot be read', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		await service().endCall(callId, { status: 'voicemail' });
		service().faults.inject({ kind: 'resetBefore', times: 4 });
		noSleep();
		const { response, result } = await arrive({ call_id: callId });
		const message = "The call can't be read now. Send the request again later.";
		expect(response).toMatchObject({ statusCode: 503, body: { received: false, message } });
		expect(result).toEqual({ noWebhookResponse: true });
		expect((await arrive({ call_id: callId })).items).toMatchObject([
			{ call_id: callId, status: 'voicemail', timed_out: false },
		]);
	});

	it.each(['x=1', ''])('without JSON ("%s") is rejected, and resumes nothing', async (body) => {
		const { callId, arrive, deliver } = await ended();
		const { response, result } = await deliver({ rawBody: Buffer.from(body) });
		const message = "The body isn't JSON.";
		expect(response).toMatchObject({ statusCode: 400, body: { received: false, message } });
		expect(result).toEqual({ noWebhookResponse: true });
		expect((await arrive({ call_id: callId })).items).toHaveLength(1);
	});

	it('about another call changes nothing', async () => {
		const { arrive } = await waiting(byWebhook);
		expect((await arrive({ call_id: 'other' })).result).toEqual(STILL_WAITING);
		expect(waits()).not.toContain(1_000);
	});

	it('reads the reported call and one that is pending, however many there are', async () => {
		const { callId, arrive } = await waiting(byWebhook, 20);
		await service().endCall(callId);
		expect((await arrive({ call_id: callId })).result).toEqual(STILL_WAITING);
		const reads = service().requests.filter(({ path }) => path.startsWith('/v1/call/'));
		expect(reads).toHaveLength(2);
		expect(reads[0]?.path).toBe(`/v1/call/${callId}`);
	});

	it('reads a reported call again until its record shows the end', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		timeFlies(async (ms) => {
			if (ms === 4_000) await service().endCall(callId);
		});
		const { items } = await arrive({ call_id: callId });
		expect(items).toMatchObject([{ call_id: callId, status: 'picked', timed_out: false }]);
		expect(waits().slice(-3)).toEqual([1_000, 2_000, 4_000]);
	});

	it('does not end the wait while a record lacks the summary of its report', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		await service().endCall(callId, { summary: null });
		let ping: unknown = 'none';
		timeFlies(async (ms) => {
			if (ms === 2_000) ping = (await arrive({ poll: true })).items;
			if (ms === 4_000) await service().endCall(callId, { summary: 'Wants a visit' });
		});
		const { items } = await arrive({ call_id: callId, summary: 'Wants a visit' });
		expect(ping).toBeUndefined();
		expect(items).toMatchObject([{ call_id: callId, summary: 'Wants a visit' }]);
	});

	it('counts a reported call as completed if its record shows no end for a minute', async () => {
		const { calls, arrive } = await waiting(byWebhook, 2);
		timeFlies();
		const [first, second] = calls;
		expect((await arrive({ call_id: first })).result).toEqual(STILL_WAITING);
		expect(waits().slice(-6)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 30_000]);
		expect((await arrive({ call_id: second })).items).toMatchObject(
			calls.map((call_id) => ({ call_id, timed_out: false })),
		);
	});

	it('resumes the execution once, if another one arrived before', async () => {
		const { callId, arrive } = await ended();
		const both = await Promise.all([arrive({ call_id: callId }), arrive({ poll: true })]);
		const late = await arrive({ call_id: callId });
		expect([...both, late].map(({ items }) => items?.length ?? 0).toSorted()).toEqual([0, 0, 1]);
	});

	it('resumes the execution if n8n still waits half a minute later', async () => {
		isNow(1_000_000);
		const { callId, arrive } = await ended();
		expect((await arrive({ call_id: callId })).items).toHaveLength(1);
		isNow(1_029_999);
		expect((await arrive({ poll: true })).result).toEqual(STILL_WAITING);
		isNow(1_030_000);
		expect((await arrive({ poll: true })).items).toHaveLength(1);
	});

	it('resumes another branch that waits for the same call on its own', async () => {
		const { callId, arrive, run } = await ended();
		expect((await arrive({ call_id: callId })).items).toHaveLength(1);
		const later = { wait: { until: clock.now() + HOUR } };
		Object.assign(run.data.executionData?.contextData['node:Node'] ?? {}, {
			voiceChatAgent: later,
		});
		expect((await arrive({ poll: true })).items).toHaveLength(1);
	});

	it('with an unreadable credential, is to be sent again before the time limit, and ends the wait then', async () => {
		isNow(1_000_000);
		const { callId, arrive } = await waiting(byWebhook);
		jest.spyOn(storedCredentials, 'getDecrypted').mockRejectedValue(new Error('the vault is shut'));
		isNow(1_000_000 + HOUR - 1);
		expect((await arrive({ call_id: callId })).response.statusCode).toBe(503);
		expect((await arrive()).result).toEqual(STILL_WAITING);
		isNow(1_000_000 + HOUR);
		expect((await arrive()).items).toMatchObject([
			{ call_id: callId, timed_out: true, not_read: expect.stringContaining('the vault is shut') },
		]);
	});
});

describe('n8n pings the resume URL', () => {
	it('to find the calls that were completed before the wait, and stops then', async () => {
		const delivery = { url: 'http://127.0.0.1:9' };
		service().setAutoComplete({ afterMs: 'beforeResponse', delivery });
		const resumed = Promise.withResolvers<null>();
		timeFlies(async () => {
			await resumed.promise;
		});
		const { arrive } = await waiting(byWebhook, 2);
		let pings = 0;
		nock(N8N)
			.post(PINGS)
			.times(5)
			.optionally()
			.reply(() => [++pings === 1 ? 200 : 404, {}]);
		expect((await arrive()).items).toMatchObject([{ timed_out: false }, { timed_out: false }]);
		resumed.resolve(null);
		await eventually(() => pings === 2);
		await untilIdle();
		expect(pings).toBe(2);
	});

	const QUESTION = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes' };
	const ASK = { ...QUESTION, noValues: 'no' };
	const minutes = (waitMinutes: number) => waitBy('webhook', { waitMinutes });
	const ALL_OK = [200, 200, 200, 200, 200, 200, 200, 200];
	const PAGE = '<html>No action required</html>';

	it.each<[string, INodeParameters, answers: Array<number | string>, seconds: number[]]>([
		[
			'soon at first, then rarely, at the time limit, and once more to see that the wait has ended',
			minutes(3),
			[409, 409, 200, 200, 200, 200, 409],
			[0.5, 2, 8, 32, 128, 9.5, 10],
		],
		[
			"until n8n's own limit after a failed ping at the time limit",
			minutes(1 / 6),
			[200, 200, 502, 502, 200, 404],
			[0.5, 2, 7.5, 10, 10, 10],
		],
		[
			'at most every half hour',
			minutes(24 * 60),
			[...ALL_OK, 409],
			[0.5, 2, 8, 32, 128, 512, 1800, 1800, 1800],
		],
		...[502, 401].map((status): [string, INodeParameters, number[], number[]] => [
			`also after a ${status}, which may be that of a proxy`,
			byWebhook,
			[200, status, status, 409],
			[0.5, 2, 8, 32],
		]),
		['until n8n returns the page of an ended approval', ASK, [409, 200, PAGE], [0.5, 2, 8]],
		[
			'seven times if n8n never stores the execution',
			byWebhook,
			[409, 409, 409, 409, 409, 409, 409],
			[0.5, 2, 8, 32, 128, 512, 1800],
		],
	])('%s', async (_when, parameters, answers, seconds) => {
		timeFlies();
		const { pings, last } = answerPings(...answers);
		await waiting(parameters);
		await last();
		await untilIdle();
		// n8n omits an empty object, and an empty body would have no calls.
		for (const body of pings) expect(body).toEqual({ poll: true });
		expect(waits()).toEqual(seconds.map((each) => each * 1_000));
	});
});
