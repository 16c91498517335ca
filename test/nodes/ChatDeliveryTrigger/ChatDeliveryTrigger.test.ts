import type { INodeParameters } from 'n8n-workflow';
import {
	activate,
	callWebhook,
	engineHarness,
	makeWorkflow,
	nodeTypes,
	webhookContext,
	type ActiveWorkflow,
	type WebhookRequest,
} from '../../engine';

const harness = engineHarness();
let active: ActiveWorkflow | undefined;
let count = 0;

afterEach(async () => {
	await active?.stop();
	active = undefined;
});

async function listen(parameters: INodeParameters = {}) {
	const node = harness.node('chatDeliveryTrigger', { id: `delivery-${++count}`, parameters });
	const workflow = makeWorkflow([node]);
	const running = await activate(harness.credentials, workflow);
	active = running;
	const post = async (request: WebhookRequest) => {
		const { response, result } = await callWebhook(harness.credentials, workflow, node, request);
		// Ends the executions, because n8n runs only a few at the same time.
		running.endExecutions();
		return { response, result };
	};
	const emitted = () => running.emitted.map(({ items }) => items[0]?.map(({ json }) => json));
	return { post, emitted, running, workflow, node };
}

it.each([
	['an object', { reply: 'Hello', nested: { a: [1] } }, { reply: 'Hello', nested: { a: [1] } }],
	['a list', [1, 2], { payload: [1, 2] }],
	['a text', 'Hello', { payload: 'Hello' }],
	['null', null, { payload: null }],
])('passes %s through', async (_name, body, json) => {
	const { post, emitted } = await listen();
	const { response } = await post({ rawBody: Buffer.from(JSON.stringify(body)) });
	expect(response.statusCode).toBe(200);
	expect(response.body).toEqual({ received: true });
	expect(emitted()).toEqual([[json]]);
});

it("rejects a body that isn't JSON", async () => {
	const { post, emitted } = await listen();
	const { response } = await post({ rawBody: Buffer.from('{') });
	expect(response).toMatchObject({ statusCode: 400, body: { received: false } });
	expect(emitted()).toEqual([]);
});

describe.each([
	['path', 'params'],
	['query', 'query'],
])('a secret in the %s', (secretIn, part) => {
	const parameters = { secretIn, secret: 'open-sesame' };

	it('accepts the correct secret', async () => {
		const { post, emitted } = await listen(parameters);
		await post({ body: { a: 1 }, [part]: { secret: 'open-sesame' } });
		expect(emitted()).toEqual([[{ a: 1 }]]);
	});

	it.each([
		['none', {}],
		['an empty one', { secret: '' }],
		['a beginning', { secret: 'open' }],
		['a longer one', { secret: 'open-sesame!' }],
		['a list', { secret: ['open-sesame'] }],
	])('rejects %s', async (_name, given) => {
		const { post, emitted } = await listen(parameters);
		const { response } = await post({ body: { a: 1 }, [part]: given });
		expect(response).toMatchObject({
			statusCode: 403,
			body: { received: false, message: 'The secret in the URL is missing or wrong.' },
		});
		expect(emitted()).toEqual([]);
	});

	it('a secret that becomes empty later rejects each delivery, and is reported when the trigger stops at the latest', async () => {
		const { running, emitted, workflow, node } = await listen(parameters);
		const emptied = { ...node, parameters: { secretIn, secret: '' } };
		for (const secret of ['', 'open-sesame']) {
			const request = { body: {}, [part]: { secret } };
			const { context, response } = webhookContext(harness.credentials, workflow, emptied, request);
			await nodeTypes.getByNameAndVersion(node.type).webhook?.call(context);
			expect(response.statusCode).toBe(403);
		}
		expect(emitted()).toEqual([]);
		await running.stop();
		expect(running.failed).toMatchObject([
			{ message: "2 requests were rejected: 'Secret' is empty" },
		]);
	});

	it('an empty secret prevents publishing and rejects deliveries', async () => {
		await expect(listen({ secretIn, secret: '' })).rejects.toThrow("'Secret' is empty");
		const node = harness.node('chatDeliveryTrigger', { parameters: { secretIn, secret: '' } });
		const request = { body: {}, [part]: { secret: '' } };
		const workflow = makeWorkflow([node]);
		const { context, response } = webhookContext(harness.credentials, workflow, node, request);
		await nodeTypes.getByNameAndVersion(node.type).webhook?.call(context);
		expect(response.statusCode).toBe(403);
	});
});

describe('a key field', () => {
	const parameters = { keyField: 'data.id' };

	it('whose expression returns nothing later rejects each delivery, so that none starts the workflow twice', async () => {
		const { running, emitted, workflow, node } = await listen(parameters);
		const emptied = { ...node, parameters: { keyField: '={{ $json.removed }}' } };
		const request = { body: { data: { id: 7 } } };
		const { context, response } = webhookContext(harness.credentials, workflow, emptied, request);
		await nodeTypes.getByNameAndVersion(node.type).webhook?.call(context);
		expect(response).toMatchObject({ statusCode: 503, body: { received: false } });
		expect(emitted()).toEqual([]);
		await running.stop();
		expect(running.failed).toMatchObject([
			{ message: expect.stringContaining("A request was rejected: 'Key Field'") },
		]);
	});

	it('ignores repeated deliveries', async () => {
		const { post, emitted } = await listen(parameters);
		await post({ body: { data: { id: 7 }, n: 1 } });
		const { response } = await post({ body: { data: { id: 7 }, n: 2 } });
		await post({ body: { data: { id: 8 }, n: 3 } });
		expect(response.statusCode).toBe(200);
		expect(response.body).toEqual({
			received: true,
			message: 'This delivery was received before.',
		});
		expect(emitted().map(([item] = []) => item?.n)).toEqual([1, 3]);
	});

	it.each<[string, unknown, string]>([
		['a list', [{ id: 7 }], 'payload.0.id'],
		['a text', 'reply 7', 'payload'],
		['a number', 7, 'payload'],
	])('has the path of the output if the body is %s', async (_name, body, keyField) => {
		const { post, emitted } = await listen({ keyField });
		const rawBody = Buffer.from(JSON.stringify(body));
		await post({ rawBody });
		await post({ rawBody });
		expect(emitted()).toEqual([[{ payload: body }]]);
	});

	it.each([[0], [false], ['a']])('%j is a valid key', async (id) => {
		const { post, emitted } = await listen(parameters);
		await post({ body: { data: { id } } });
		await post({ body: { data: { id } } });
		expect(emitted()).toHaveLength(1);
	});

	it('distinguishes long numbers by every digit', async () => {
		const { post, emitted } = await listen(parameters);
		const ids = ['1876543210987654321', '1876543210987654322'];
		for (const id of ids) await post({ rawBody: Buffer.from(`{"data":{"id":${id}}}`) });
		expect(emitted()).toEqual(ids.map((id) => [{ data: { id } }]));
	});

	it('that was changed is not compared with the values of the earlier field', async () => {
		const { post } = await listen({ keyField: 'data.id' });
		await post({ body: { data: { id: 7, message_id: 1 } } });
		await active?.stop();
		count--;
		const { post: postLater, emitted } = await listen({ keyField: 'data.message_id' });
		await postLater({ body: { data: { id: 8, message_id: 7 } } });
		expect(emitted()).toHaveLength(1);
	});

	it('is passed to n8n, which stores it', async () => {
		const { post, running } = await listen(parameters);
		await post({ body: { data: { id: 7 } } });
		expect(running.emitted[0]?.deduplicationKey).toMatch(/^[0-9a-f]{64}$/);
	});

	it.each([[{}], [{ id: null }], [{ id: '' }], [{ id: [] }], [{ id: {} }]])(
		'a delivery of %j always starts the workflow',
		async (data) => {
			const { post, running } = await listen(parameters);
			await post({ body: { data } });
			await post({ body: { data } });
			const keys = running.emitted.map(({ deduplicationKey }) => deduplicationKey);
			expect(new Set(keys).size).toBe(2);
		},
	);
});

it('without a key field, every delivery starts the workflow', async () => {
	const { post, emitted } = await listen();
	await post({ body: { data: { id: 7 } } });
	await post({ body: { data: { id: 7 } } });
	expect(emitted()).toHaveLength(2);
});
