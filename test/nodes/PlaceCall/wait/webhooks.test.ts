import { clock } from '../../../../nodes/shared/n8n/http/accountClient';
import { storedCredentials } from '../../../engine';
import { dialects } from '../../../simulator';
import { byWebhook, HOUR, waitHarness } from './waitHarness';

const STILL_WAITING = { webhookResponse: { received: true } };

// The dialect makes no difference for these.
describe('webhooks during the wait', () => {
	const { waiting, service, isNow, waits, timeFlies } = waitHarness(dialects.plain);
	const readsOf = (callId: string) =>
		service().requests.filter(({ path }) => path === `/v1/call/${callId}`).length;

	it('asks the service to try again while the reported call cannot be read', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		await service().endCall(callId, { status: 'voicemail' });
		service().faults.inject({ kind: 'resetBefore', times: 4 });
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		const rejected = await arrive({ call_id: callId });
		expect(rejected.response).toMatchObject({
			statusCode: 503,
			body: {
				received: false,
				message: "The call can't be read now. Send the request again later.",
			},
		});
		expect(rejected.result).toEqual({ noWebhookResponse: true });
		expect((await arrive({ call_id: callId })).items).toMatchObject([
			{ call_id: callId, status: 'voicemail', timed_out: false },
		]);
	});

	it.each(['x=1', ''])('rejects a body that is not JSON, without resuming: "%s"', async (body) => {
		const { callId, arrive, deliver } = await waiting(byWebhook);
		await service().endCall(callId);
		const { response, result } = await deliver({ rawBody: Buffer.from(body) });
		expect(response).toMatchObject({
			statusCode: 400,
			body: { received: false, message: "The body isn't JSON." },
		});
		expect(result).toEqual({ noWebhookResponse: true });
		expect((await arrive({ call_id: callId })).items).toHaveLength(1);
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

	it('does not end by a ping while a record lacks the summary of its report', async () => {
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

	it('does not read again for a summary of the envelope', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		await service().endCall(callId, { summary: null });
		const before = waits().length;
		timeFlies();
		const report = { event: 'call', summary: 'Call completed', data: { call_id: callId } };
		expect((await arrive(report)).items).toMatchObject([{ call_id: callId, summary: null }]);
		expect(waits()).toHaveLength(before);
	});

	it('reported calls whose records show no end for a minute count as completed', async () => {
		const { calls, arrive } = await waiting(byWebhook, 2);
		timeFlies();
		const [first, second] = calls;
		expect((await arrive({ call_id: first })).result).toEqual(STILL_WAITING);
		expect(waits().slice(-6)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 30_000]);
		expect((await arrive({ call_id: second })).items).toMatchObject(
			calls.map((call_id) => ({ call_id, timed_out: false })),
		);
	});

	it('requests that arrive before the wait ends resume the execution once', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		await service().endCall(callId);
		const both = await Promise.all([arrive({ call_id: callId }), arrive({ poll: true })]);
		const late = await arrive({ call_id: callId });
		expect([...both, late].map(({ items }) => items?.length ?? 0).toSorted()).toEqual([0, 0, 1]);
	});

	it('a later request resumes the execution if n8n still waits', async () => {
		isNow(1_000_000);
		const { callId, arrive } = await waiting(byWebhook);
		await service().endCall(callId);
		expect((await arrive({ call_id: callId })).items).toHaveLength(1);
		isNow(1_029_999);
		expect((await arrive({ poll: true })).result).toEqual(STILL_WAITING);
		isNow(1_030_000);
		expect((await arrive({ poll: true })).items).toHaveLength(1);
	});

	it('another branch that waits for the same call resumes on its own', async () => {
		const { callId, arrive, run } = await waiting(byWebhook);
		await service().endCall(callId);
		expect((await arrive({ call_id: callId })).items).toHaveLength(1);
		const [task] = run.data.executionData?.nodeExecutionStack ?? [];
		const [item] = task?.data.main?.[0] ?? [];
		Object.assign(item?.json ?? {}, { waits_until: new Date(clock.now() + HOUR).toISOString() });
		expect((await arrive({ poll: true })).items).toHaveLength(1);
	});

	it('a webhook of another call changes nothing', async () => {
		const { arrive } = await waiting(byWebhook);
		expect((await arrive({ call_id: 'other' })).result).toEqual(STILL_WAITING);
		expect(waits()).not.toContain(1_000);
	});

	it('one webhook reads its call and one that is pending, however many there are', async () => {
		const { callId, calls, arrive } = await waiting(byWebhook, 20);
		await service().endCall(callId);
		expect((await arrive({ call_id: callId })).result).toEqual(STILL_WAITING);
		expect(readsOf(callId)).toBe(1);
		expect(calls.reduce((sum, id) => sum + readsOf(id), 0)).toBe(2);
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
				phone: '9000000000',
				call_id: callId,
				placed: true,
				phone_key: '919000000000',
				timed_out: true,
				not_read: expect.stringContaining("If this happens each time, check 'Base URL'"),
			},
		]);
		expect(JSON.stringify(items)).not.toContain('restarted');
	});

	it('with an unreadable credential, it asks the service to try again before the time limit, and ends the wait at the limit', async () => {
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
