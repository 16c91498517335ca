import { randomUUID } from 'node:crypto';
import type { Reference } from '../n8n/driver';
import type { ScriptedModel } from '../n8n/scriptedModel';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { webhook } from '../n8n/workflow';
import { Account } from './account';
import {
	aiAgent,
	callTool,
	callsDirectly,
	chatModel,
	connect,
	CUSTOMER,
	finish,
	OTHER,
	startModel,
	uses,
} from './callingAgent';
import { removeServer, startServer } from './ownServer';

let server: N8nServer;
let account: Account;
let model: ScriptedModel;
let modelCredentials: Record<string, Reference>;

beforeAll(async () => {
	server = await startServer();
	account = new Account({ n8nUrl: server.baseUrl });
	await account.open();
	({ model, modelCredentials } = await startModel(account.n8n));
});
afterEach(() => account.simulator.reset());
afterAll(async () => {
	await model.stop();
	await account.simulator.stop();
	await removeServer(server);
});

test.each([3.1, 2.2])(
	"Retry of a run of AI Agent %s during which n8n was killed doesn't call the same person again",
	async (version) => {
		const { n8n, simulator, credentials } = account;
		const path = randomUUID();
		const workflow = await account.publish({
			name: `agent run after a crash ${path}`,
			nodes: [
				webhook(path, { responseMode: 'onReceived' }),
				// Longer than n8n needs to start again.
				chatModel(modelCredentials, { timeout: 600_000 }),
				aiAgent('Agent', version),
				callTool('Call', credentials),
			],
			connections: connect([['Webhook', 'Agent'], ...uses('Agent', 'Call')]),
		});
		model.follow(callsDirectly('Call', CUSTOMER), { hangs: true });
		await n8n.webhook(path, {});
		const id = await account.executionOf(workflow);
		const hangs = () => model.isAtEnd && simulator.callsTo(CUSTOMER) === 1;
		await until('the model to hang', () => hangs(), { timeout: 60_000 });
		await server.kill();
		await server.boot();
		await n8n.signIn();
		model.follow(callsDirectly('Call', CUSTOMER), callsDirectly('Call', OTHER), finish);
		await n8n.finished(id);
		expect(await n8n.retry(id, 'original')).toMatchObject({ status: 'success' });
		const [first, ...rest] = model.toolResults();
		expect(first).toContain('"outcome":"unknown"');
		expect(rest).toEqual([expect.stringContaining('"outcome":"done"')]);
		expect([simulator.callsTo(CUSTOMER), simulator.callsTo(OTHER)]).toEqual([1, 1]);
	},
);
