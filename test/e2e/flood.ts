import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import type { Simulator } from '../simulator';
import { callIdOf, placeCalls, post } from './calls';

const BURST = 10;

/**
 * Reports every call twice, half of them at the same time, together with reports of unknown calls and
 * forged results of real ones. Each call must be passed on once, with true data.
 */
export async function expectEachOnce(
	simulator: Simulator,
	url: string,
	outputs: (executions: number) => Promise<INodeExecutionData[]>,
	{ calls: count, forged }: { calls: number; forged: number },
): Promise<void> {
	const calls = await placeCalls(simulator, count, url);
	const forgedCalls = calls.slice(0, forged / 2);
	for (const callId of forgedCalls) {
		// The call has ended, so only the content of the report is forged.
		await simulator.endCall(callId);
		const body = { call_id: callId, status: 'failed', summary: 'made up' };
		expect((await post(url, body)).status).toBe(200);
		expect((await post(url, { call_id: randomUUID(), status: 'picked' })).status).toBe(200);
	}
	let accepted = forged;
	for (let start = 0; start < calls.length; start += BURST) {
		const burst = calls.slice(start, start + BURST).map(async (callId, index) => {
			const delivery = { deliverTimes: 2, concurrently: index % 2 === 0 };
			if (forgedCalls.includes(callId)) return await simulator.deliverWebhook(callId, delivery);
			return await simulator.completeCall(callId, {}, delivery);
		});
		const deliveries = (await Promise.all(burst)).flat();
		accepted += deliveries.filter(({ status }) => status === 200).length;
	}
	// A busy n8n may respond later than the service waits, so the service reports the call again.
	for (const callId of calls) expect((await post(url, { call_id: callId })).status).toBe(200);
	const items = await outputs(accepted + calls.length);
	expect(items.map(callIdOf).sort()).toEqual([...calls].sort());
	for (const { json } of items) {
		expect(json).toMatchObject({ status: 'picked', call_ended_reason: 'assistant-ended-call' });
		expect(json.summary).not.toBe('made up');
	}
}
