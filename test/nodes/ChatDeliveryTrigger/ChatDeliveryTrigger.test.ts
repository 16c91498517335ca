import type { INodeParameters } from 'n8n-workflow';
import { engineHarness, retryFailed, output, webhookTrigger } from '../../engine';

const harness = engineHarness();
let count = 0;

function listen(parameters: INodeParameters = {}, id = `delivery-${++count}`) {
	const node = harness.node('chatDeliveryTrigger', { id, parameters });
	return webhookTrigger(harness.credentials, node);
}

const rawBody = (text: string) => ({ rawBody: Buffer.from(text), body: undefined });

it.each([
	['an object', '{"reply":"Hello","nested":{"a":[1]}}', { reply: 'Hello', nested: { a: [1] } }],
	['a list', '[1,2]', { payload: [1, 2] }],
	['a JSON text', '"Hello"', { payload: 'Hello' }],
	['null', 'null', { payload: null }],
	['plain text', 'Hello', { payload: 'Hello' }],
	['long numbers', '{"id":1876543210987654321}', { id: '1876543210987654321' }],
])('passes %s through', async (_name, text, json) => {
	const { deliver } = listen();
	const { response, items } = await deliver(rawBody(text));
	expect(response.body).toBeUndefined();
	expect(items).toEqual([json]);
});

it('passes the fields of a form or of XML, as n8n reads them', async () => {
	const request = { rawBody: Buffer.from('reply=Hello'), body: { reply: 'Hello' } };
	expect((await listen().deliver(request)).items).toEqual([{ reply: 'Hello' }]);
});

it('passes a form with files through, whose bytes n8n has read before', async () => {
	const readRawBody = async () =>
		await Promise.reject(new Error('Request body stream is not readable'));
	const body = { data: { reply: 'Hello' }, files: {} };
	const { items } = await listen().deliver({ rawBody: Buffer.alloc(0), body, readRawBody });
	expect(items).toEqual([body]);
});

it('passes JSON that is nested too deeply as text', async () => {
	const text = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000);
	const body: unknown = JSON.parse(text);
	expect((await listen().deliver({ rawBody: Buffer.from(text), body })).items).toEqual([
		{ payload: text },
	]);
});

it('rejects a body that cannot be read', async () => {
	const readRawBody = async () => await Promise.reject(new Error('request entity too large'));
	const { response } = await listen().deliver({ rawBody: Buffer.alloc(0), body: {}, readRawBody });
	expect(response.statusCode).toBe(400);
});

it.each([[''], ['  \n']])('rejects the empty body %j', async (text) => {
	const { response, execution } = await listen().deliver(rawBody(text));
	expect(response).toMatchObject({
		statusCode: 400,
		body: { received: false, message: "The body is empty or can't be read." },
	});
	expect(execution).toBeUndefined();
});

it.each([
	['none', {}],
	['a wrong one', { secret: 'open' }],
	['a list', { secret: ['open-sesame'] }],
])('needs the secret in the URL, and rejects %s', async (_name, query) => {
	const { deliver } = listen({ secret: 'open-sesame' });
	const { response, execution } = await deliver({ body: { a: 1 }, query });
	expect(response).toMatchObject({
		statusCode: 403,
		body: { received: false, message: 'The secret in the URL is missing or wrong.' },
	});
	expect(execution).toBeUndefined();
	const accepted = await deliver({ body: { a: 1 }, query: { secret: 'open-sesame' } });
	expect(accepted.items).toEqual([{ a: 1 }]);
});

describe('a key field', () => {
	const parameters = { keyField: 'data.id' };
	const passed = async (keyField: string, ...texts: string[]) => {
		const { deliver } = listen({ keyField });
		const items: unknown[] = [];
		for (const text of texts) items.push(...(await deliver(rawBody(text))).items);
		return items;
	};

	it('lets each value pass once', async () => {
		const bodies = [7, 7, 8, 7].map((id, n) => JSON.stringify({ data: { id }, n }));
		expect(await passed('data.id', ...bodies)).toMatchObject([{ n: 0 }, { n: 2 }]);
	});

	it('lets each of several deliveries at the same time pass once', async () => {
		const { deliver } = listen(parameters);
		const ids = [1, 2, 3, 1, 2, 3, 4, 4];
		const all = await Promise.all(ids.map(async (id) => await deliver({ body: { data: { id } } })));
		expect(all.flatMap(({ items }) => items)).toHaveLength(4);
		expect((await deliver({ body: { data: { id: 2 } } })).items).toEqual([]);
	});

	it.each([
		['payload.0.id', '[{"id":7}]'],
		['payload', '"reply 7"'],
		['payload', '7'],
		['data.id', '{"data":{"id":0}}'],
		['data.id', '{"data":{"id":false}}'],
		['data.id', '{"data":{"id":"a"}}'],
	])('%s of the output of %s is a valid key', async (keyField, text) => {
		expect(await passed(keyField, text, text)).toHaveLength(1);
	});

	it('distinguishes long numbers by every digit', async () => {
		const texts = ['1876543210987654321', '1876543210987654322'];
		const bodies = texts.map((id) => `{"data":{"id":${id}}}`);
		expect(await passed('data.id', ...bodies)).toHaveLength(2);
	});

	it.each([['{}'], ['{"id":null}'], ['{"id":""}'], ['{"id":[]}'], ['{"id":{}}']])(
		'a delivery of %s always starts the workflow',
		async (data) => {
			const text = `{"data":${data}}`;
			expect(await passed('data.id', text, text)).toHaveLength(2);
		},
	);

	it('that was changed is not compared with the values of the earlier field', async () => {
		await listen({ keyField: 'data.id' }, 'changed').deliver({ body: { data: { id: 7, b: 1 } } });
		const later = listen({ keyField: 'data.b' }, 'changed');
		expect((await later.deliver({ body: { data: { id: 8, b: 7 } } })).items).toHaveLength(1);
	});

	it('lets the retry of an execution pass that n8n was killed in, and nothing else', async () => {
		const trigger = listen(parameters);
		const request = { body: { data: { id: 7 } } };
		const killed = await trigger.deliverAndKill(request);
		expect((await trigger.deliver(request)).items).toEqual([]);
		const retry = await retryFailed(harness.credentials, killed, trigger.workflow);
		expect(output(retry, 'Node')).toMatchObject([{ json: { data: { id: 7 } } }]);
	});

	it('lets no retry pass after another execution has', async () => {
		const trigger = listen(parameters);
		const request = { body: { data: { id: 7 } } };
		harness.store.beforeCall = () => {
			throw new Error('database is locked');
		};
		const { execution: failed } = await trigger.deliver(request);
		harness.store.beforeCall = () => {};
		expect(failed?.data.resultData.error?.message).toContain('database is locked');
		expect((await trigger.deliver(request)).items).toHaveLength(1);
		if (failed === undefined) throw new Error('not started');
		const retry = await retryFailed(harness.credentials, failed, trigger.workflow);
		expect(output(retry, 'Node')).toEqual([]);
	});

	it('of a test in the editor records nothing', async () => {
		const { deliver } = listen(parameters);
		const request = { body: { data: { id: 7 } } };
		for (const mode of ['manual', 'manual', 'webhook'] as const) {
			expect((await deliver(request, mode)).items).toHaveLength(1);
		}
	});
});

it('without a key field, every delivery starts the workflow', async () => {
	const { deliver } = listen();
	for (let time = 0; time < 2; time++) {
		expect((await deliver({ body: { data: { id: 7 } } })).items).toHaveLength(1);
	}
});
