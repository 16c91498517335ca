import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import type { Reference } from '../n8n/driver';
import type { ScriptedModel, Step } from '../n8n/scriptedModel';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { webhook } from '../n8n/workflow';
import { Account } from './account';
import {
	aiAgent,
	callReview,
	callTool,
	callsDirectly,
	callsReviewed,
	chatModel,
	connect,
	CUSTOMER,
	finish,
	OTHER,
	startModel,
	type Arrow,
	uses,
} from './callingAgent';
import { removeServer, startServer } from './ownServer';
import { answerQuestions } from './questions';

const LONG = { timeout: 60_000 };

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
afterAll(async () => {
	await model.stop();
	await account.simulator.stop();
	await removeServer(server);
});

type Arrangement = {
	nodes: () => INode[];
	arrows: Arrow[];
	/** The response in which the model requests a call. */
	request: (phone: string) => Step;
};

const withoutReview = (version: number): Arrangement => ({
	nodes: () => [aiAgent('Agent', version), callTool('Call', account.credentials)],
	arrows: uses('Agent', 'Call'),
	request: (phone) => callsDirectly('Call', phone),
});

const arrangements: { [name: string]: Arrangement } = {
	'AI Agent 3.1': withoutReview(3.1),
	'AI Agent 2.2': withoutReview(2.2),
	'behind a human review': {
		nodes: () => [
			aiAgent(),
			callReview('Ask', account.credentials),
			callTool('Call', account.credentials),
		],
		arrows: uses('Agent', ['Ask', 'Call']),
		request: (phone) => callsReviewed('Call', phone),
	},
};

describe('Retry of an agent run during which n8n was killed', () => {
	afterEach(() => account.simulator.reset());

	test.each(Object.entries(arrangements))(
		"%s: doesn't call the same person again",
		async (_name, arrangement) => {
			const { n8n, simulator } = account;
			const path = randomUUID();
			const workflow = await account.publish({
				name: `agent run after a crash ${path}`,
				nodes: [
					webhook(path, { responseMode: 'onReceived' }),
					// Longer than n8n needs to start again.
					chatModel(modelCredentials, { timeout: 600_000 }),
					...arrangement.nodes(),
				],
				connections: connect([['Webhook', 'Agent'], ...arrangement.arrows]),
			});
			model.follow(arrangement.request(CUSTOMER), { hangs: true });
			await n8n.webhook(path, {});
			const id = await account.executionOf(workflow);
			// This never ends, because n8n is killed while the model hangs.
			void answerQuestions({ n8n, simulator }, id).catch(() => undefined);
			const hangs = () => model.isAtEnd && simulator.callsTo(CUSTOMER) === 1;
			await until('the model to hang', () => hangs(), LONG);
			await server.kill();
			await server.boot();
			await n8n.signIn();
			model.follow(arrangement.request(CUSTOMER), arrangement.request(OTHER), finish);
			await n8n.finished(id);
			const retry = await n8n.startRetry(id, 'original');
			expect(await answerQuestions({ n8n, simulator }, retry)).toBe('success');
			// With a review, n8n resumes after the approval, so the model gets the result of the call twice.
			const [first, ...rest] = model.toolResults();
			expect(first).toContain('"outcome":"unknown"');
			expect(rest.filter((text) => text.includes('"outcome":"done"'))).toEqual([rest.at(-1)]);
			expect([simulator.callsTo(CUSTOMER), simulator.callsTo(OTHER)]).toEqual([1, 1]);
		},
	);
});
