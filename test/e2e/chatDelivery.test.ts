import { randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { N8nDriver, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, node } from '../n8n/workflow';
import { executionsOf, PACKAGE, post, removeWorkflow } from './calls';
import { sharedN8n } from './shared';

const NAME = 'Chat Delivery Trigger';

describe('Chat Delivery Trigger in real n8n', () => {
	const { baseUrl } = sharedN8n();
	let n8n: N8nDriver;
	let workflow: Workflow;

	beforeAll(async () => {
		n8n = await N8nDriver.signIn(baseUrl);
	});
	afterEach(async () => {
		await removeWorkflow(n8n, workflow);
	});

	async function listen(parameters: INodeParameters): Promise<string> {
		const webhookId = randomUUID();
		const data = { baseUrl: 'https://voice.example.com', apiToken: '0123456789abcdef' };
		const credentials = { [CREDENTIAL]: await n8n.createCredential(CREDENTIAL, data) };
		const trigger = node(NAME, `${PACKAGE}.chatDeliveryTrigger`, 1, parameters, {
			webhookId,
			credentials,
		});
		workflow = await n8n.createWorkflow(chain('chat delivery', trigger));
		await n8n.activate(workflow);
		return `${baseUrl}/webhook/${webhookId}`;
	}

	const untilListening = async (url: string) =>
		await until('the trigger to listen', async () => (await post(url, '{')).status === 400);

	it('starts once per key, with the unchanged payload', async () => {
		const url = await listen({ keyField: 'reply.id' });
		await untilListening(url);
		const bodies = [1, 1, 2, 2, 1].map((id) => ({ reply: { id, text: `Reply ${id}` } }));
		const responses = await Promise.all(bodies.map(async (body) => await post(url, body)));
		expect(responses.map(({ status }) => status)).toEqual(bodies.map(() => 200));
		const items = await executionsOf(n8n, workflow, NAME, 2);
		expect(items.map(({ json }) => json).sort(byReply)).toEqual([bodies[0], bodies[2]]);
	});

	const byReply = (a: object, b: object) => JSON.stringify(a).localeCompare(JSON.stringify(b));

	it.each([
		['path', '/chat-delivery/open-sesame', '/chat-delivery/wrong'],
		['query', '?secret=open-sesame', '?secret=wrong'],
	])('rejects requests without the secret in the %s', async (secretIn, right, wrong) => {
		const url = await listen({ secretIn, secret: 'open-sesame' });
		await untilListening(url + right);
		const rejected = await post(url + wrong, { n: 1 });
		expect(rejected.status).toBe(403);
		expect(await rejected.json()).toMatchObject({ received: false });
		expect((await post(url + right, { n: 2 })).status).toBe(200);
		const items = await executionsOf(n8n, workflow, NAME, 1);
		expect(items.map(({ json }) => json)).toEqual([{ n: 2 }]);
	});
});
