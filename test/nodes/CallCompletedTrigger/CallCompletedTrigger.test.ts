import {
	NodeOperationError,
	type IDataObject,
	type INode,
	type INodeParameters,
} from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/connect';
import { CREDENTIAL } from '../../../nodes/shared/n8n/credential';
import {
	activate,
	engineRing,
	hookContext,
	makeWorkflow,
	nodeTypes,
	output,
	runWorkflow,
	webhookContext,
	type ActiveWorkflow,
	type WebhookRequest,
} from '../../engine';
import { dialects, fixtures, startSimulator, type Simulator } from '../../simulator';

const ring = engineRing();
const { calls } = fixtures;
let count = 0;

describe.each(Object.values(dialects))('dialect $name', (dialect) => {
	let simulator: Simulator;
	let active: ActiveWorkflow | undefined;
	let waits: number[];

	beforeAll(async () => {
		simulator = await startSimulator({ dialect });
	});
	beforeEach(() => {
		waits = [];
		// The sender's patience does not end; every other wait is over at once.
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			waits.push(ms);
			if (ms === 10_000) await new Promise(() => {});
		});
	});
	afterEach(async () => {
		jest.restoreAllMocks();
		await active?.stop();
		active = undefined;
		simulator.reset();
	});
	afterAll(async () => {
		await simulator.stop();
	});

	async function trigger(parameters: INodeParameters = {}): Promise<INode> {
		const { baseUrl, token: apiToken } = simulator;
		const credentials = { [CREDENTIAL]: await ring.addCredential({ baseUrl, apiToken }) };
		return ring.node('callCompletedTrigger', {
			id: `trigger-${++count}`,
			parameters,
			credentials,
			webhookId: 'hook',
		});
	}

	async function deliver(node: INode, request: WebhookRequest, mode?: 'manual') {
		const workflow = makeWorkflow([node]);
		const { context, response } = webhookContext(ring.credentials, workflow, node, request, mode);
		const result = await nodeTypes.getByNameAndVersion(node.type).webhook?.call(context);
		return { response, result, workflow };
	}

	/** Delivers to an active workflow and returns what it emitted. */
	async function listen(parameters: INodeParameters = {}) {
		const node = await trigger(parameters);
		const running = await activate(ring.credentials, makeWorkflow([node]));
		active = running;
		return {
			running,
			post: async (request: WebhookRequest) => await deliver(node, request),
			emitted: () => running.emitted.map(({ items }) => items[0]?.map(({ json }) => json)),
		};
	}

	const payload = (callId: string, claims: IDataObject = {}): WebhookRequest => ({
		body: dialect.webhook.body(callId, { call_id: callId, status: 'picked', ...claims }),
	});

	it('passes on the call as the service holds it, not as it was reported', async () => {
		const { post, emitted } = await listen();
		const { response } = await post(payload(calls.notPicked, { summary: 'made up' }));
		expect(response).toMatchObject({ statusCode: 200, body: { received: true } });
		expect(emitted()).toEqual([[expect.objectContaining({ status: 'not_picked' })]]);
		expect(emitted()[0]?.[0]?.summary ?? null).toBeNull();
	});

	it('gives n8n a key of the call, the workflow and the node', async () => {
		const { post, running } = await listen();
		await post(payload(calls.finished));
		await post(payload(calls.unusual));
		const keys = running.emitted.map(({ deduplicationKey }) => deduplicationKey);
		expect(new Set(keys).size).toBe(2);
		for (const key of keys) expect(key).toMatch(/^[0-9a-f]{64}$/);
	});

	it('a repeat starts nothing and is not read back', async () => {
		const { post, emitted } = await listen();
		await post(payload(calls.finished));
		const reads = simulator.requests.length;
		const { response } = await post(payload(calls.finished));
		expect(response).toMatchObject({ statusCode: 200, body: { received: true } });
		expect(emitted()).toHaveLength(1);
		expect(simulator.requests).toHaveLength(reads);
	});

	it('of ten deliveries at the same moment one starts the workflow', async () => {
		const { post, emitted } = await listen();
		const deliveries = Array.from({ length: 10 }, async () => await post(payload(calls.finished)));
		const statuses = (await Promise.all(deliveries)).map(({ response }) => response.statusCode);
		expect(new Set(statuses)).toEqual(new Set([200]));
		expect(emitted()).toHaveLength(1);
	});

	it('a repeat starts the workflow again where repeats are let through', async () => {
		const { post, running } = await listen({ settings: { repeats: true } });
		await post(payload(calls.finished));
		await post(payload(calls.finished));
		expect(running.emitted.map(({ deduplicationKey }) => deduplicationKey)).toEqual([
			undefined,
			undefined,
		]);
	});

	it('turns an unknown call down', async () => {
		const { post, emitted } = await listen();
		const { response } = await post(payload('00000000-0000-4000-8000-000000000000'));
		expect(response).toMatchObject({ statusCode: 404, body: { received: false } });
		expect(emitted()).toEqual([]);
	});

	it('reads a call that shows no end again, then passes on what the service holds', async () => {
		const { post, emitted } = await listen();
		await post(payload(calls.inFlight, { status: 'picked', summary: 'made up' }));
		expect(waits.filter((ms) => ms < 10_000)).toEqual([1_000, 2_000, 4_000]);
		expect(emitted()[0]?.[0]?.status).not.toBe('picked');
		expect(emitted()[0]?.[0]?.summary ?? null).toBeNull();
	});

	it('rides out an outage of the service', async () => {
		simulator.faults.inject({ kind: 'status', status: 503, times: 9 });
		const { post, emitted } = await listen();
		const { response } = await post(payload(calls.finished));
		expect(response.statusCode).toBe(200);
		expect(emitted()).toHaveLength(1);
	});

	it('asks the sender to come again meanwhile', async () => {
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		simulator.faults.inject({ kind: 'status', status: 503, times: 9 });
		const { post, emitted } = await listen();
		const { response } = await post(payload(calls.finished));
		expect(response).toMatchObject({ statusCode: 503, body: { received: false } });
		expect(emitted()).toHaveLength(1);
	});

	it('tells the owner of a call that could not be read back at all', async () => {
		const now = jest.spyOn(clock, 'now');
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			if (ms === 10_000) await new Promise(() => {});
			const time = Date.now() + 60_000 * ++count;
			now.mockReturnValue(time);
		});
		simulator.faults.inject({ kind: 'status', status: 503 });
		const { post, emitted, running } = await listen();
		const { response } = await post(payload(calls.finished));
		expect(response.statusCode).toBe(503);
		expect(emitted()).toEqual([]);
		const [error] = running.failed;
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error?.message).toContain(`Call ${calls.finished} was reported as completed`);
	});

	it('answers at once where the sender is not to wait', async () => {
		const { post, emitted } = await listen({ settings: { answer: 'atOnce' } });
		const { response } = await post(payload(calls.finished));
		expect(response.statusCode).toBe(202);
		await post(payload('00000000-0000-4000-8000-000000000000'));
		expect(emitted()).toHaveLength(1);
	});

	it('includes transcript and recording, or that there is none', async () => {
		const { post, emitted } = await listen({ include: ['recording', 'transcript'] });
		await post(payload(calls.finished));
		await post(payload(calls.notPicked));
		const [[full] = [], [none] = []] = emitted();
		expect(full).toMatchObject({
			transcript: [{ role: 'assistant' }, {}, {}],
			recording: { recording_url: expect.any(String), expires_at: expect.any(String) },
		});
		expect(none).toMatchObject({ transcript: [], recording: null });
	});

	it('what the filters rule out starts nothing, and its key stays free', async () => {
		const { post, emitted } = await listen({ filters: { statuses: 'failed, not_picked' } });
		await post(payload(calls.finished));
		await post(payload(calls.notPicked));
		expect(emitted()).toEqual([[expect.objectContaining({ call_id: calls.notPicked })]]);
	});

	it('filters by agent and campaign', async () => {
		const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.us };
		const { post, emitted } = await listen({ filters: { agentUuid } });
		await post(payload(calls.finished));
		await post(payload(calls.unusual));
		expect(emitted()).toEqual([[expect.objectContaining({ call_id: calls.unusual })]]);
	});

	it('passes the payload on as it is where it is not verified', async () => {
		const { post, emitted } = await listen({ verify: false });
		const request = payload('not-a-call', { summary: 'as reported' });
		await post(request);
		expect(emitted()).toEqual([[request.body]]);
		expect(simulator.requests).toEqual([]);
	});

	it('starts the execution by the webhook itself in a process without the trigger, once', async () => {
		const node = await trigger();
		const { result, workflow, response } = await deliver(node, payload(calls.finished));
		expect(response.statusCode).toBe(200);
		expect(result).toMatchObject({
			noWebhookResponse: true,
			workflowData: [[{ json: { call_id: calls.finished } }]],
		});
		expect(JSON.stringify(workflow.staticData)).toMatch(/[0-9a-f]{64}/);
		const repeat = await deliver(node, payload(calls.finished));
		expect(repeat.result).toEqual({ noWebhookResponse: true });
	});

	it('runs every delivery while the editor listens', async () => {
		const node = await trigger();
		for (let time = 0; time < 2; time++) {
			const { result } = await deliver(node, payload(calls.finished), 'manual');
			expect(result?.workflowData).toHaveLength(1);
		}
	});

	it('a deactivated trigger emits no more', async () => {
		const { post, running } = await listen();
		await running.stop();
		const { result } = await post(payload(calls.finished));
		expect(running.emitted).toEqual([]);
		expect(result?.workflowData).toHaveLength(1);
	});
});

describe('strange requests', () => {
	const tooLarge = Object.assign(new Error('too large'), { status: 413 });

	it.each<[string, WebhookRequest, number]>([
		['not JSON', { rawBody: Buffer.from('call_id=1') }, 400],
		['empty', { rawBody: Buffer.alloc(0) }, 400],
		['without call_id', { body: { status: 'picked' } }, 400],
		['a list', { body: [] }, 400],
		['too large', { readRawBody: async () => await Promise.reject(tooLarge) }, 413],
		['cut off', { readRawBody: async () => await Promise.reject(new Error('aborted')) }, 400],
	])('%s: answered, nothing emitted', async (_name, request, status) => {
		const node = ring.node('callCompletedTrigger', { parameters: {} });
		const workflow = makeWorkflow([node]);
		const { context, response } = webhookContext(ring.credentials, workflow, node, request);
		const type = nodeTypes.getByNameAndVersion(node.type);
		expect(await type.webhook?.call(context)).toEqual({ noWebhookResponse: true });
		expect(response).toMatchObject({
			statusCode: status,
			body: { received: false, message: expect.any(String) },
		});
	});
});

it('hands on what its webhook brought when the editor listened', async () => {
	const node = ring.node('callCompletedTrigger');
	const items = [{ json: { call_id: calls.finished } }];
	const run = await runWorkflow(ring.credentials, makeWorkflow([node]), node, items, 'manual');
	expect(run.status).toBe('success');
	expect(output(run, 'Node')).toMatchObject(items);
});

it('has nothing to register at the service', async () => {
	const node = ring.node('callCompletedTrigger');
	const context = hookContext(ring.credentials, makeWorkflow([node]), node);
	const methods = nodeTypes.getByNameAndVersion(node.type).webhookMethods?.default;
	expect(await methods?.checkExists.call(context)).toBe(true);
	expect(await methods?.create.call(context)).toBe(true);
	expect(await methods?.delete.call(context)).toBe(true);
});
