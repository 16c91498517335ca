import { randomUUID } from 'node:crypto';
import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { isN8n1 } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, manualTrigger, webhook } from '../n8n/workflow';
import { loopOver, split, useAccount } from './account';
import { callIdOf, executionsOf } from './calls';

const NODE = 'Place Call';
/** When a call ends. On a busy n8n, an execution starts to wait later. */
const DELAYS = ['beforeResponse', 0, 20, 40, 80, 120, 160, 200, 300, 400, 600, 5_000] as const;
const WAIT = { waitForCompletion: 'webhook' };
const ASK = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes', noValues: 'no' };

/** `killed.test.ts` has waits that continue after n8n was killed. */
describe('Place Call waits for completion in real n8n', () => {
	const account = useAccount();
	const { n8n, simulator, placeCall, untilWaiting } = account;

	afterEach(async () => {
		await account.removeWorkflows();
		simulator.reset();
	});

	const people = (count: number) =>
		Array.from({ length: count }, (_, index) => String(9_000_000_000 + index));

	/** Starts Webhook → one item per person → Place Call. Returns the execution ID. */
	const start = async (count: number, parameters: INodeParameters) =>
		(await account.start(people(count), [placeCall(parameters)])).id;

	async function result(id: string): Promise<INodeExecutionData[]> {
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		return await n8n.output(id, NODE);
	}

	const placedIds = () => simulator.placedCalls().map(({ callId }) => callId);

	it('misses no completion before, while, and after the execution starts to wait', async () => {
		const path = randomUUID();
		const trigger = webhook(path, { responseMode: 'onReceived' });
		const place = placeCall({ ...WAIT, waitMinutes: 10 });
		const workflow = await account.publish(chain('wait', trigger, split(), place));
		for (const [index, afterMs] of DELAYS.entries()) {
			simulator.setAutoComplete({ afterMs });
			const people = [{ phone: String(9_000_000_000 + index) }];
			expect((await n8n.webhook(path, { people })).status).toBe(200);
			await until('the call', () => placedIds().length > index, { every: 10 });
		}
		const items = await executionsOf(n8n, workflow, NODE, DELAYS.length);
		expect(items.map(({ json }) => json.timed_out)).toEqual(DELAYS.map(() => false));
		expect(new Set(items.map(callIdOf))).toEqual(new Set(placedIds()));
		expect(placedIds()).toHaveLength(DELAYS.length);
		const deliveries = simulator.placedCalls().flatMap((call) => call.deliveries);
		const statuses = deliveries.map(({ status }) => status);
		expect(statuses).toContain(200);
		// 409 means that the execution was still running. n8n 1 has no such status.
		if (!isN8n1) expect(statuses).toContain(409);
	});

	it('two reports of a call, of which one is read slowly, call the next person of a loop once', async () => {
		const flow = (trigger: INode) => loopOver(trigger, placeCall(WAIT));
		const { id } = await account.startFlow(people(2), flow);
		await untilWaiting(id);
		const [first = ''] = placedIds();
		await simulator.endCall(first);
		const release = simulator.holdResponses(/^\/v1\/call\//);
		const slow = simulator.deliverWebhook(first);
		const isRead = () => simulator.requests.some((one) => one.path === `/v1/call/${first}`);
		await until('the call to be read', () => isRead());
		simulator.holdResponses(/^$/);
		await simulator.deliverWebhook(first);
		await until('the next call', () => placedIds().length === 2);
		await untilWaiting(id);
		release();
		await slow;
		simulator.setAutoComplete({ afterMs: 0 });
		for (const next of placedIds().slice(1)) await simulator.completeCall(next);
		await result(id);
		expect(placedIds()).toHaveLength(2);
	});

	it('waits in a manual execution', async () => {
		const place = placeCall({ ...WAIT, phoneNumber: '9000000000' });
		const workflow = await account.create(chain('wait by hand', manualTrigger(), place));
		simulator.setAutoComplete({ afterMs: 1_000 });
		const { id } = await n8n.runManually(workflow, 'Start');
		expect(await result(id)).toMatchObject([{ json: { timed_out: false } }]);
	});

	it('ends at the time limit with the known results', async () => {
		const id = await start(3, { ...WAIT, waitMinutes: 0.1 });
		await untilWaiting(id);
		const [first = '', ...pending] = placedIds();
		await simulator.completeCall(first);
		const items = await result(id);
		expect(items.map(callIdOf).sort()).toEqual([first, ...pending].sort());
		for (const { json } of items) expect(json.timed_out).toBe(json.call_id !== first);
	});

	it("a report without the signature of n8n's URL is no answer", async () => {
		const id = await start(1, ASK);
		await untilWaiting(id);
		const [call] = simulator.placedCalls();
		const callId = call?.callId ?? '';
		const url = new URL(call?.webhookUrl ?? '');
		expect(url.searchParams.get('signature')).toMatch(/^[0-9a-f]{64}$/);
		url.searchParams.set('signature', '0'.repeat(64));
		const forged = fetch(url, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ call_id: callId, data_captured: { answer_to_question: 'yes' } }),
		});
		// n8n 1 passes it on, and the node responds when it has read the call.
		if (!isN8n1) expect((await forged).status).toBe(401);
		await simulator.completeCall(callId, { data_captured: { answer_to_question: 'no' } });
		expect(await result(id)).toMatchObject([{ json: { answer: 'no' } }]);
		expect((await forged).ok).toBe(isN8n1);
	});
});
