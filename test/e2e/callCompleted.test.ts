import type { INodeExecutionData } from 'n8n-workflow';
import type { Workflow } from '../n8n/driver';
import { fixtures } from '../simulator';
import { REPORTED, useAccount } from './account';
import { callIdOf, executionsOf, placeCalls, post } from './calls';

const CALLS = 8;

const ids = (items: INodeExecutionData[]) => items.map(callIdOf).sort();

describe('Call Completed Trigger in real n8n', () => {
	const account = useAccount();
	const { n8n, simulator } = account;
	let workflow: Workflow;
	let url: string;

	beforeEach(async () => {
		({ workflow, url } = await account.publishReported());
	});
	afterEach(async () => {
		simulator.reset();
		await account.removeWorkflows();
	});

	/** What the trigger has passed on in as many executions. */
	const outputs = async (executions: number) =>
		await executionsOf(n8n, workflow, REPORTED, executions);

	it(`starts once per call with true data: ${CALLS} completions, each delivered twice, half of them at the same time, and one forged`, async () => {
		const calls = await placeCalls(simulator, CALLS, url);
		const [forged = ''] = calls;
		// The call has ended, so only the content of the report is forged.
		await simulator.endCall(forged);
		const body = { call_id: forged, status: 'failed', summary: 'made up' };
		expect((await post(url, body)).status).toBe(200);
		const burst = calls.map(async (callId, index) => {
			const delivery = { deliverTimes: 2, concurrently: index % 2 === 0 };
			if (callId === forged) return await simulator.deliverWebhook(callId, delivery);
			return await simulator.completeCall(callId, {}, delivery);
		});
		const deliveries = (await Promise.all(burst)).flat();
		const accepted = 1 + deliveries.filter(({ status }) => status === 200).length;
		// A busy n8n may respond later than the service waits, so the service reports the call again.
		for (const callId of calls) expect((await post(url, { call_id: callId })).status).toBe(200);
		const items = await outputs(accepted + calls.length);
		expect(ids(items)).toEqual([...calls].sort());
		for (const { json } of items) {
			expect(json).toMatchObject({ outcome: 'Answered', duration_seconds: 42 });
			expect(json.summary).not.toBe('made up');
		}
	});

	it('JSON with any content type starts the workflow, and what is no report gets a JSON response and starts nothing', async () => {
		const { finished, notPicked } = fixtures.calls;
		const rejected: Array<[body: string, status: number]> = [
			['call_id=1', 422],
			['', 400],
			['{"call_id":"../v1/calls"}', 400],
			[JSON.stringify({ call_id: finished, x: 'x'.repeat(17e6) }), 500],
		];
		for (const [body, status] of rejected) {
			const response = await post(url, body);
			expect(response.status).toBe(status);
			expect(await response.json()).toMatchObject({ message: expect.any(String) });
		}
		const get = await fetch(url);
		expect(get.status).toBe(404);
		expect(await get.json()).toMatchObject({ message: expect.any(String) });

		const send = async (callId: string, headers: Record<string, string>) => {
			const body = Buffer.from(JSON.stringify({ call_id: callId }));
			expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(200);
		};
		await send(finished, { 'content-type': 'text/plain' });
		await send(notPicked, {});
		await send(notPicked, { 'content-type': 'application/octet-stream' });
		expect(ids(await outputs(3))).toEqual([finished, notPicked].sort());
	});
});
