import { randomUUID } from 'node:crypto';
import { until } from '../n8n/until';
import { chain } from '../n8n/workflow';
import { useAccount } from './account';
import { executionsOf, post } from './calls';
import { sharedN8n } from './shared';

const NAME = 'Chat Delivery Trigger';
const { n8n, ours, publish } = useAccount();

test('Chat Delivery Trigger rejects requests without the secret, passes on what JSON, forms, and text have, and starts once per key', async () => {
	const webhookId = randomUUID();
	const parameters = { secret: 'open-sesame', keyField: 'reply.id' };
	// It has no credential.
	const trigger = ours(NAME, 'chatDeliveryTrigger', parameters, { webhookId, credentials: {} });
	const workflow = await publish(chain('chat delivery', trigger));
	const url = `${sharedN8n().baseUrl}/webhook/${webhookId}/chat-delivery`;
	const right = `${url}?secret=open-sesame`;
	await until('the trigger to listen', async () => (await post(right, '')).status === 400);
	const rejected = await post(`${url}?secret=wrong`, { n: 1 });
	expect(rejected.status).toBe(403);
	expect(await rejected.json()).toMatchObject({ received: false });
	const send = async (body: string, type?: string) => {
		const headers = type === undefined ? undefined : { 'content-type': type };
		const sent = { method: 'POST', body: Buffer.from(body), ...(headers && { headers }) };
		expect((await fetch(right, sent)).status).toBe(200);
	};
	await send('{"id":1876543210987654321}', 'application/json');
	await send('{"n":2}', 'text/plain');
	await send('{"n":3}');
	await send('n=4', 'application/x-www-form-urlencoded');
	await send('Hello', 'text/plain; charset=utf-8');
	const reply = { reply: { id: 1 } };
	await Promise.all([1, 2, 3].map(async () => await send(JSON.stringify(reply))));
	const items = await executionsOf(n8n, workflow, NAME, 8);
	const expected = [
		...[{ id: '1876543210987654321' }, { n: 2 }, { n: 3 }, { n: '4' }, { payload: 'Hello' }],
		reply,
	];
	const texts = (all: unknown[]) => all.map((one) => JSON.stringify(one)).sort();
	expect(texts(items.map(({ json }) => json))).toEqual(texts(expected));
});
