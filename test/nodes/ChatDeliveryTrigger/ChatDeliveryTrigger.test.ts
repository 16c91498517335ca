import type { INodeParameters } from 'n8n-workflow';
import { engineHarness, retryFailed, output, webhookTrigger } from '../../engine';

const harness = engineHarness();
let count = 0;

function listen(parameters: INodeParameters = {}, id = `delivery-${++count}`) {
	const node = harness.node('chatDeliveryTrigger', { id, parameters });
	return webhookTrigger(node);
}

const DEEP = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000);
const rawBody = (text: string) => ({ rawBody: Buffer.from(text), body: undefined });

it.each<[string, string, object]>([
	['an object', '{"reply":"Hello","nested":{"a":[1]}}', { reply: 'Hello', nested: { a: [1] } }],
	['a list', '[1,2]', { payload: [1, 2] }],
	['JSON after a byte order mark', '\uFEFF[1]', { payload: [1] }],
	['null', 'null', { payload: null }],
	['plain text', 'Hello', { payload: 'Hello' }],
	['long numbers', '{"id":1876543210987654321}', { id: '1876543210987654321' }],
	['JSON that is nested too deeply for n8n, as text,', DEEP, { payload: DEEP }],
])('passes %s through', async (_what, text, json) => {
	const { response, items } = await listen().deliver(rawBody(text));
	expect(response.body).toBeUndefined();
	expect(items).toEqual([json]);
});

it('passes a form through, also one with files, whose bytes n8n has read before', async () => {
	const form = { rawBody: Buffer.from('reply=Hello'), body: { reply: 'Hello' } };
	expect((await listen().deliver(form)).items).toEqual([{ reply: 'Hello' }]);
	const readRawBody = async () => await Promise.reject(new Error('not readable'));
	const body = { data: { reply: 'Hello' }, files: {} };
	const request = { rawBody: Buffer.alloc(0), body, readRawBody };
	expect((await listen().deliver(request)).items).toEqual([body]);
});

it.each([
	['an empty body', rawBody('')],
	[
		"a body that can't be read",
		{
			rawBody: undefined,
			body: {},
			readRawBody: async () => await Promise.reject(new Error('request entity too large')),
		},
	],
])('rejects %s', async (_name, request) => {
	const { response, execution } = await listen().deliver(request);
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
	const request = { body: { data: { id: 7 } } };

	it('lets each of several deliveries at the same time pass once', async () => {
		const { deliver } = listen(parameters);
		const ids = [1, 2, 3, 1, 2, 3, 4, 4];
		const all = await Promise.all(ids.map(async (id) => await deliver({ body: { data: { id } } })));
		expect(all.flatMap(({ items }) => items)).toHaveLength(4);
		const { items, execution } = await deliver({ body: { data: { id: 2 } } });
		expect([items, execution?.data.resultData.error]).toEqual([[], undefined]);
	});

	it.each([
		['payload.0.id', '[{"id":7}]'],
		['payload', '"reply 7"'],
		['data.id', '{"data":{"id":0}}'],
		['data.id', '{"data":{"id":1876543210987654321}}', '{"data":{"id":1876543210987654322}}'],
	])('%s is a key of %s', async (keyField, text, another = '{}') => {
		const { deliver } = listen({ keyField });
		const passed = [];
		for (const one of [text, text, another])
			passed.push((await deliver(rawBody(one))).items.length);
		expect(passed).toEqual([1, 0, 1]);
	});

	it.each([
		['data.id', '{}'],
		['data.id', '{"id":null}'],
		['data.id', '{"id":""}'],
		['data.id', '{"id":{}}'],
		['', '{"id":7}'],
	])('%j: a delivery of %s always starts the workflow', async (keyField, data) => {
		const { deliver } = listen({ keyField });
		for (let time = 0; time < 2; time++) {
			expect((await deliver(rawBody(`{"data":${data}}`))).items).toHaveLength(1);
		}
	});

	it('that was changed is not compared with the values of the earlier field', async () => {
		await listen({ keyField: 'data.id' }, 'changed').deliver({ body: { data: { id: 7, b: 1 } } });
		const later = listen({ keyField: 'data.b' }, 'changed');
		expect((await later.deliver({ body: { data: { id: 8, b: 7 } } })).items).toHaveLength(1);
	});

	it('lets no retry pass after another execution has', async () => {
		const trigger = listen(parameters);
		harness.store.beforeCall = () => {
			throw new Error('database is locked');
		};
		const { execution: failed } = await trigger.deliver(request);
		harness.store.beforeCall = () => {};
		if (failed === undefined) throw new Error('not started');
		expect(failed.data.resultData.error).toMatchObject({
			message: "n8n can't record that this event started the workflow, so it wasn't passed on",
			description: expect.stringContaining('database is locked'),
		});
		expect((await trigger.deliver(request)).items).toHaveLength(1);
		const retry = await retryFailed(failed, trigger.workflow);
		expect(output(retry, 'Node')).toEqual([]);
	});
});
