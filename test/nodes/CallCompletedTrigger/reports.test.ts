import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { notePlaced } from '../../../nodes/shared/calls/placedCalls';
import type { JsonValue } from '../../../nodes/shared/json';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { WebhookResponder } from '../../../nodes/shared/n8n/triggers/webhookResponse';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import {
	activate,
	callWebhook,
	engineHarness,
	makeWorkflow,
	speedUp,
	type ActiveWorkflow,
} from '../../engine';
import { until } from '../../n8n/until';
import { dialects, fixtures, startSimulator, type Simulator } from '../../simulator';

const { calls } = fixtures;
const harness = engineHarness();

describe.each(Object.values(dialects))('reports to a service of dialect $name', (dialect) => {
	let simulator: Simulator;
	let active: ActiveWorkflow | undefined;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect });
	});
	beforeEach(() => {
		speedUp(50);
	});
	afterEach(async () => {
		await active?.stop();
		active = undefined;
		jest.restoreAllMocks();
		simulator.reset();
	});
	afterAll(async () => await simulator.stop());

	async function trigger(parameters: INodeParameters): Promise<INode> {
		const { baseUrl, token: apiToken } = simulator;
		const credentials = { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) };
		return harness.node('callCompletedTrigger', { id: randomUUID(), parameters, credentials });
	}

	async function deliver(node: INode, payload: JsonValue, mode?: 'manual') {
		const request = { rawBody: Buffer.from(JSON.stringify(payload)) };
		const workflow = makeWorkflow([node]);
		const { credentials } = harness;
		const { response, result, answered } = await callWebhook(
			credentials,
			workflow,
			node,
			request,
			mode,
		);
		if (result?.webhookResponse === undefined) await answered;
		await new Promise((resolve) => setImmediate(resolve));
		return { status: response.statusCode, body: response.body, result };
	}

	async function listen(parameters: INodeParameters = {}) {
		const node = await trigger(parameters);
		const running = (active = await activate(harness.credentials, makeWorkflow([node])));
		return {
			running,
			post: async (payload: JsonValue) => await deliver(node, payload),
			started: async (count: number) => {
				await until('the executions', async () => Promise.resolve(running.emitted.length >= count));
				return running.emitted.flatMap(({ items }) => items.flat()).map(({ json }) => json);
			},
		};
	}

	const read = (path: RegExp) => simulator.requests.filter((seen) => path.test(seen.path)).length;

	describe('not verified', () => {
		const wrapped = (status: string, callId: string = calls.finished) => ({
			success: true,
			status: 'ok',
			data: { call_id: callId, status },
		});

		it('a status in the envelope does not hide the status of the call', async () => {
			const { post, started } = await listen({ verify: false });
			for (const status of ['not_picked', 'picked', 'picked']) await post(wrapped(status));
			expect(await started(2)).toMatchObject([
				{ status: 'ok', data: { status: 'not_picked' } },
				{ status: 'ok', data: { status: 'picked' } },
			]);
			await active?.stop();
			const filtered = await listen({ verify: false, filters: { statuses: 'picked' } });
			for (const status of ['failed', 'picked']) await filtered.post(wrapped(status));
			expect(await filtered.started(1)).toMatchObject([{ data: { status: 'picked' } }]);
		});

		it('an envelope that differs between deliveries is not another outcome', async () => {
			const { post, running } = await listen({ verify: false });
			const data = { call_id: calls.finished, status: 'picked' };
			for (const status of ['first', 'second']) await post({ status, data });
			expect(running.emitted).toHaveLength(1);
		});

		it('each call of a list starts the workflow with its own data', async () => {
			const { post, started } = await listen({ verify: false });
			const list = [wrapped('picked', 'a'), wrapped('failed', 'b'), wrapped('failed', 'b')];
			expect(await post(list)).toMatchObject({
				status: 200,
				body: {
					received: true,
					parts: [
						{ status: 200, received: true, call_id: 'a' },
						{ status: 200, received: true, call_id: 'b' },
					],
				},
			});
			expect(await started(2)).toMatchObject([wrapped('picked', 'a'), wrapped('failed', 'b')]);
			// A repeat of one call, and another outcome of the other one.
			await post([wrapped('picked', 'a'), wrapped('picked', 'b')]);
			expect(await started(3)).toHaveLength(3);
			expect(read(/./)).toBe(0);
		});

		it('a UUID is the same call in upper and lower case', async () => {
			const { post, running } = await listen({ verify: false });
			await post(wrapped('picked'));
			await post(wrapped('picked', calls.finished.toUpperCase()));
			expect(running.emitted).toHaveLength(1);
		});
	});

	it('each call of a list is verified and starts the workflow with its own record and key', async () => {
		const { post, started, running } = await listen();
		const list = [calls.finished, calls.notPicked].map((callId) => ({
			call_id: callId,
			summary: 'x',
		}));
		expect(await post(list)).toMatchObject({ status: 200, body: { received: true } });
		const records = await started(2);
		expect(records.map(({ call_id: callId }) => callId).sort()).toEqual(
			[calls.finished, calls.notPicked].sort(),
		);
		expect(records.map(({ summary }) => summary)).not.toContain('x');
		expect(new Set(running.emitted.map(({ deduplicationKey }) => deduplicationKey)).size).toBe(2);
		await post(list);
		expect(running.emitted).toHaveLength(2);
	});

	it('in a list, an unknown call is rejected and the real one starts the workflow', async () => {
		const { post, started } = await listen();
		const list = [calls.finished, randomUUID()].map((callId) => ({ call_id: callId }));
		expect(await post(list)).toMatchObject({
			status: 404,
			body: {
				received: false,
				parts: expect.arrayContaining([expect.objectContaining({ status: 200 })]),
			},
		});
		expect(await started(1)).toMatchObject([{ call_id: calls.finished }]);
	});

	it('a call 100 times in one report is read once', async () => {
		const { post, running } = await listen();
		const list = Array.from({ length: 100 }, () => ({ call_id: calls.finished }));
		expect((await post(list)).status).toBe(200);
		expect([running.emitted.length, read(/^\/v1\/call\//)]).toEqual([1, 1]);
	});

	it.each<[string, JsonValue, number, string]>([
		[
			'with 101 calls',
			Array.from({ length: 101 }, (_, index) => ({ call_id: `c${index}` })),
			400,
			'The body has more than 100 calls. Send at most 100 in a request.',
		],
		[
			'with 100,000 calls',
			Array.from({ length: 100_000 }, (_, index) => ({ call_id: `c${index}` })),
			400,
			'The body has more than 100 calls. Send at most 100 in a request.',
		],
		[
			'with one call among 100,000 values',
			[{ call_id: calls.finished }, ...Array.from({ length: 100_000 }, () => 0)],
			413,
			'The body has too many values. Send fewer calls.',
		],
	])('%s is rejected whole', async (_what, payload, status, message) => {
		const { post, running } = await listen();
		expect(await post(payload)).toMatchObject({ status, body: { received: false, message } });
		expect([running.emitted, simulator.requests]).toEqual([[], []]);
	});

	it('a process that starts one execution for each request rejects several calls', async () => {
		const node = await trigger({});
		const list = [calls.finished, calls.notPicked].map((callId) => ({ call_id: callId }));
		// After some time, the trigger counts as active in another process.
		jest.spyOn(WebhookResponder.prototype, 'rejectAfter').mockImplementation(() => {});
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		expect(await deliver(node, list)).toMatchObject({
			status: 400,
			body: { message: 'The body has several calls. Send each call in a separate request.' },
		});
		expect(simulator.requests).toEqual([]);
	});

	it("two outcomes of one call are one call in such a process, and in the editor's test", async () => {
		const node = await trigger({});
		const list = [0, 1].map((retries) => ({ call_id: calls.finished, retry_count: retries }));
		jest.spyOn(WebhookResponder.prototype, 'rejectAfter').mockImplementation(() => {});
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		for (const mode of [undefined, 'manual'] as const) {
			const { result } = await deliver(node, list, mode);
			expect(result?.workflowData?.map((items) => items.map(({ json }) => json.call_id))).toEqual([
				[calls.finished],
			]);
		}
	});

	it("the editor's test shows several calls in one execution", async () => {
		const node = await trigger({});
		const list = [calls.finished, calls.notPicked].map((callId) => ({ call_id: callId }));
		const { result } = await deliver(node, list, 'manual');
		expect(result?.workflowData?.map((items) => items.map(({ json }) => json.call_id))).toEqual([
			[calls.finished, calls.notPicked],
		]);
	});

	it('the ID is sent unchanged to the service, and the call starts the workflow once in upper and lower case', async () => {
		const { post, running } = await listen();
		const upper = calls.finished.toUpperCase();
		const { status } = await post({ call_id: upper });
		expect(simulator.requests[0]?.path).toBe(`/v1/call/${upper}`);
		// It isn't documented whether the service finds it in another case.
		expect(status).toBe(dialect.calls.callIdInAnyCase ? 200 : 404);
		await post({ call_id: calls.finished });
		if (!dialect.calls.callIdInAnyCase) return;
		expect(running.emitted).toHaveLength(1);
	});

	it('300 simultaneous unknown calls cause few requests, and a known call does not wait', async () => {
		speedUp(10);
		const begun = clock.elapsed();
		const node = await trigger({});
		const running = (active = await activate(harness.credentials, makeWorkflow([node])));
		const flood = Array.from(
			{ length: 300 },
			async () => await deliver(node, { call_id: randomUUID() }),
		);
		const isBudgetUsed = async () => await Promise.resolve(read(/^\/v1\/call\//) >= 120);
		await until('the first rejections', isBudgetUsed, { every: 5 });
		notePlaced(calls.notPicked);
		expect((await deliver(node, { call_id: calls.notPicked })).status).toBe(200);
		// An unknown real call waits briefly, and not behind all the others. Slower, because it may wait up to 2 of 3 seconds.
		speedUp(2);
		expect((await deliver(node, { call_id: calls.finished })).status).toBe(200);
		expect(running.emitted).toHaveLength(2);
		const seconds = (clock.elapsed() - begun) / 1_000;
		expect(seconds).toBeLessThan(10);
		expect(read(/^\/v1\/call\//)).toBeLessThanOrEqual(2 * (60 + seconds) + 2);

		const before = read(/^\/v1\/call\//);
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		await running.stop();
		const statuses = new Set((await Promise.all(flood)).map(({ status }) => status));
		expect([...statuses].sort()).toEqual([404, 503]);
		expect(read(/^\/v1\/call\//) - before).toBeLessThan(20);
		expect(running.failed.map(({ message }) => message)).toEqual(
			expect.arrayContaining([
				expect.stringMatching(/^\d+ notifications? of completed calls had to wait, because /),
			]),
		);
	});
});
