import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import type { Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { callIdOf, executionsOf, placeCalls, post } from './calls';
import { sharedN8n } from './shared';

const CALLS = 20;
const FORGED = CALLS / 10;
const BURST = 10;

const NAME = 'Call Completed Trigger';
const ids = (items: INodeExecutionData[]) => items.map(callIdOf).sort();

describe('Call Completed Trigger in real n8n', () => {
	const { baseUrl } = sharedN8n();
	const account = useAccount();
	const { n8n, simulator } = account;
	let workflow: Workflow;
	let url: string;

	beforeEach(async () => {
		const webhookId = randomUUID();
		const trigger = account.ours(NAME, 'callCompletedTrigger', {}, { webhookId });
		workflow = await account.create(chain('call completed', trigger));
		url = `${baseUrl}/webhook/${webhookId}/call-completed`;
		await publish();
	});
	afterEach(async () => {
		simulator.reset();
		await account.removeWorkflows();
	});

	async function publish(): Promise<void> {
		await n8n.activate(workflow);
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);
	}

	/** What the trigger has passed on in as many executions. */
	const outputs = async (executions: number) => await executionsOf(n8n, workflow, NAME, executions);

	it(`starts once per call with true data: ${CALLS} completions, each delivered twice, half of them at the same time, and ${FORGED} forged`, async () => {
		const calls = await placeCalls(simulator, CALLS, url);
		const forged = calls.slice(0, FORGED / 2);
		for (const callId of forged) {
			// The call has ended, so only the content of the report is forged.
			await simulator.endCall(callId);
			const body = { call_id: callId, status: 'failed', summary: 'made up' };
			expect((await post(url, body)).status).toBe(200);
			expect((await post(url, { call_id: randomUUID(), status: 'picked' })).status).toBe(200);
		}
		let accepted = FORGED;
		for (let start = 0; start < calls.length; start += BURST) {
			const burst = calls.slice(start, start + BURST).map(async (callId, index) => {
				const delivery = { deliverTimes: 2, concurrently: index % 2 === 0 };
				if (forged.includes(callId)) return await simulator.deliverWebhook(callId, delivery);
				return await simulator.completeCall(callId, {}, delivery);
			});
			const deliveries = (await Promise.all(burst)).flat();
			accepted += deliveries.filter(({ status }) => status === 200).length;
		}
		// A busy n8n may respond later than the service waits, so the service reports the call again.
		for (const callId of calls) expect((await post(url, { call_id: callId })).status).toBe(200);
		const items = await outputs(accepted + calls.length);
		expect(ids(items)).toEqual([...calls].sort());
		for (const { json } of items) {
			expect(json).toMatchObject({ status: 'picked', call_ended_reason: 'assistant-ended-call' });
			expect(json.summary).not.toBe('made up');
		}
	});

	it('starts nothing for a call that was reported before the workflow was unpublished and published again', async () => {
		const [callId = ''] = await placeCalls(simulator, 1, url);
		await simulator.completeCall(callId);
		expect(await outputs(1)).toHaveLength(1);
		await n8n.deactivate(workflow);
		// Otherwise, the earlier publication could accept the next requests.
		await until('the trigger to stop', async () => (await post(url, '')).status === 404);
		await publish();
		await until('the report to be accepted', async () => {
			const [delivery] = await simulator.deliverWebhook(callId);
			return delivery?.status === 200;
		});
		const [other = ''] = await placeCalls(simulator, 1, url);
		await simulator.completeCall(other);
		expect(ids(await outputs(3))).toEqual([callId, other].sort());
	});

	it('JSON with any content type starts the workflow, and what is no report gets a JSON response and starts nothing', async () => {
		const { finished, notPicked } = fixtures.calls;
		const rejected: Array<[body: string, status: number]> = [
			['call_id=1', 422],
			['', 400],
			['{"call_id":"../v1/calls"}', 400],
			[JSON.stringify({ call_id: finished, x: 'x'.repeat(50e6) }), 500],
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
		// A call of another account ends at the trigger.
		await send(randomUUID(), { 'content-type': 'application/octet-stream' });
		expect(ids(await outputs(3))).toEqual([finished, notPicked].sort());
	});

	it('a forged report of a call in progress starts nothing and does not block the real one', async () => {
		const [callId = ''] = await placeCalls(simulator, 1, url);
		expect((await post(url, { call_id: callId, summary: 'made up' })).status).toBe(200);
		await until('the call to be read back', async () => simulator.requests.length > 2);
		await simulator.completeCall(callId);
		const [item, ...others] = await outputs(2);
		expect(others).toEqual([]);
		expect(item?.json).toMatchObject({ call_id: callId, call_ended_by: 'agent' });
		expect(item?.json.summary).not.toBe('made up');
	});
});
