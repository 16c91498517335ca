import nock from 'nock';
import { clock } from '../../../../nodes/shared/n8n/http/accountClient';
import { until, untilIdle } from '../../../n8n/until';
import { dialects } from '../../../simulator';
import { waitBy } from '../placeCallHarness';
import { N8N } from '../waitingExecutions';
import { byWebhook, harness, HOUR, PINGS, waitHarness } from './waitHarness';

// The dialect makes no difference for these.
describe('webhooks during the wait', () => {
	const { waiting, service, isNow, waits, timeFlies } = waitHarness(dialects.plain);

	it('a call with a listed status is completed when its webhook arrives', async () => {
		const { run, callId, arrive } = await waiting(
			waitBy('webhook', {}, { finishedStatuses: 'no_line' }),
		);
		expect(run.status).toBe('waiting');
		const call = service().state.calls.get(callId);
		if (call !== undefined) call.outcome.status = 'no_line';
		const { items } = await arrive({ call_id: callId });
		expect(items).toMatchObject([{ call_id: callId, status: 'no_line', timed_out: false }]);
	});

	it('asks the service to try again while calls cannot be read, and remembers the webhook', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		await service().endCall(callId, { status: 'voicemail' });
		service().faults.inject({ kind: 'resetBefore', times: 4 });
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		const rejected = await arrive({ call_id: callId });
		expect(rejected.response).toMatchObject({ statusCode: 503, body: { received: false } });
		expect(rejected.result).toEqual({ noWebhookResponse: true });
		expect((await arrive()).items).toMatchObject([
			{ call_id: callId, status: 'voicemail', timed_out: false },
		]);
	});

	it('rejects a body that is not JSON, without resuming', async () => {
		const { callId, arrive, deliver } = await waiting(byWebhook);
		await service().endCall(callId);
		const { response, result } = await deliver({ rawBody: Buffer.from('x=1') });
		expect(response).toMatchObject({
			statusCode: 400,
			body: { received: false, message: "The body isn't JSON." },
		});
		expect(result).toEqual({ noWebhookResponse: true });
		expect((await arrive({ call_id: callId })).items).toHaveLength(1);
	});

	it('does not resume after a webhook while the record shows no end, but when the record shows it', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		const resumed: unknown[] = [];
		nock(N8N)
			.post(PINGS)
			.times(3)
			.optionally()
			.reply((_uri, body) => [200, resumed.push(body)]);
		timeFlies(async (ms) => {
			// Only the waits for the lagging record continue.
			if (ms >= 15_000) await new Promise(() => {});
			if (ms === 4_000) await service().endCall(callId);
		});
		const early = await arrive({ call_id: callId });
		expect(early.response).toMatchObject({ statusCode: 200, body: { received: true, pending: 1 } });
		expect(early.result).toEqual({ noWebhookResponse: true });
		await until('the node to resume its execution', async () => resumed.length > 0);
		await untilIdle();
		expect(resumed).toEqual([{ poll: true }]);
		const { items } = await arrive({ poll: true });
		expect(items).toMatchObject([{ call_id: callId, status: 'picked', timed_out: false }]);
	});

	it.each([
		['until the time limit has timed out', 60, true],
		['for five minutes counts as completed', 3_600, false],
	])('a reported call whose record lags %s', async (_name, waitLimit, timedOut) => {
		isNow(1_000_000);
		const { callId, arrive } = await waiting(
			waitBy('webhook', { waitLimit, waitLimitUnit: 'seconds' }),
		);
		expect((await arrive({ call_id: callId })).items).toBeUndefined();
		isNow(1_000_000 + Math.min(waitLimit, 300) * 1_000);
		const { items } = await arrive({ poll: true });
		expect(items).toMatchObject([{ call_id: callId, timed_out: timedOut }]);
	});

	it('webhooks while calls are pending start only one series of pings per process', async () => {
		const { callId, arrive } = await waiting(byWebhook, 2);
		await service().endCall(callId);
		for (let report = 0; report < 3; report++) {
			const { response } = await arrive({ call_id: callId });
			expect(response.body).toEqual({ received: true, pending: 1 });
		}
		expect(waits().filter((ms) => ms === 15_000)).toHaveLength(1);
	});

	it('webhooks of a lagging call start only one series of reads per process', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		for (let report = 0; report < 3; report++) await arrive({ call_id: callId });
		expect(waits().filter((ms) => ms === 1_000)).toHaveLength(1);
	});

	it('an execution that n8n did not resume in a minute is resumed again', async () => {
		const { callId: call_id, arrive } = await waiting(byWebhook);
		await service().endCall(call_id);
		const { pass } = timeFlies(async () => await new Promise(() => {}));
		const reads = () =>
			service().requests.filter(({ path }) => path === `/v1/call/${call_id}`).length;
		expect((await arrive({ call_id })).items).toHaveLength(1);
		pass(59_999);
		expect((await arrive({ call_id })).items).toBeUndefined();
		pass(1);
		expect((await arrive({ call_id })).items).toHaveLength(1);
		const before = reads();
		pass(60_001);
		expect((await arrive({ call_id })).items).toHaveLength(1);
		expect(reads()).toBe(before + 1);
	});

	it('ends at the time limit even if the calls cannot be read, and says so', async () => {
		isNow(1_000_000);
		const { callId, arrive } = await waiting(byWebhook);
		service().faults.inject({ kind: 'status', status: 503 });
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		isNow(1_000_000 + HOUR);
		const { items } = await arrive({ poll: true });
		expect(items).toEqual([
			{
				call_id: callId,
				phone_key: '919000000000',
				timed_out: true,
				not_read: expect.any(String),
			},
		]);
		expect(JSON.stringify(items)).not.toContain('restarted');
	});

	it('an unreadable credential asks the service to try again before the time limit, and ends the wait at the limit', async () => {
		isNow(1_000_000);
		const { callId, arrive } = await waiting(byWebhook);
		jest
			.spyOn(harness.credentials, 'getDecrypted')
			.mockRejectedValue(new Error('the vault is shut'));
		isNow(1_000_000 + HOUR - 1);
		expect((await arrive()).response).toMatchObject({
			statusCode: 503,
			body: {
				received: false,
				message: "The call can't be read now. Send the request again later.",
			},
		});
		isNow(1_000_000 + HOUR);
		expect((await arrive()).items).toMatchObject([
			{ call_id: callId, timed_out: true, not_read: expect.stringContaining('the vault is shut') },
		]);
	});

	it('at the time limit, a webhook of one call reads all calls', async () => {
		isNow(1_000_000);
		const { calls, arrive } = await waiting(byWebhook, 2);
		const [first = '', second = ''] = calls;
		expect((await arrive()).items).toBeUndefined();
		await service().endCall(second);
		isNow(1_000_000 + HOUR);
		expect((await arrive({ call_id: first })).items).toMatchObject([
			{ call_id: first, timed_out: true },
			{ call_id: second, timed_out: false },
		]);
	});

	it('a process that has just started reads all calls after the first webhook', async () => {
		const { calls, arrive } = await waiting(byWebhook, 3);
		for (const callId of calls) await service().endCall(callId);
		expect((await arrive({ call_id: calls[2] })).items).toHaveLength(3);
	});
});
