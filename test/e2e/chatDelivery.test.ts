import { randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import type { Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain } from '../n8n/workflow';
import { useAccount } from './account';
import { executionsOf, post } from './calls';
import { sharedN8n } from './shared';

const NAME = 'Chat Delivery Trigger';

describe('Chat Delivery Trigger in real n8n', () => {
	const { baseUrl } = sharedN8n();
	const { n8n, ours, publish } = useAccount();
	let workflow: Workflow;

	async function listen(parameters: INodeParameters): Promise<string> {
		const webhookId = randomUUID();
		// It has no credential.
		const rest = { webhookId, credentials: {} };
		const trigger = ours(NAME, 'chatDeliveryTrigger', parameters, rest);
		workflow = await publish(chain('chat delivery', trigger));
		return `${baseUrl}/webhook/${webhookId}/chat-delivery`;
	}

	const untilListening = async (url: string) =>
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);

	it('starts once per key, with the unchanged payload', async () => {
		const url = await listen({ keyField: 'reply.id' });
		await untilListening(url);
		const bodies = [1, 1, 2, 2, 1].map((id) => ({ reply: { id, text: `Reply ${id}` } }));
		const responses = await Promise.all(bodies.map(async (body) => await post(url, body)));
		expect(responses.map(({ status }) => status)).toEqual(bodies.map(() => 200));
		const items = await executionsOf(n8n, workflow, NAME, bodies.length);
		expect(items.map(({ json }) => json).sort(byReply)).toEqual([bodies[0], bodies[2]]);
	});

	const byReply = (a: object, b: object) => JSON.stringify(a).localeCompare(JSON.stringify(b));

	it('rejects requests without the secret, and passes on what JSON, forms, and text have', async () => {
		const url = await listen({ secret: 'open-sesame' });
		const right = `${url}?secret=open-sesame`;
		await untilListening(right);
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
		const items = await executionsOf(n8n, workflow, NAME, 5);
		const expected = [
			{ id: '1876543210987654321' },
			{ n: 2 },
			{ n: 3 },
			{ n: '4' },
			{ payload: 'Hello' },
		];
		expect(items.map(({ json }) => json).sort(byReply)).toEqual(expected.sort(byReply));
	});
});
