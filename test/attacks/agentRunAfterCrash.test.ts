import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import { N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import type { ScriptedModel, Step } from '../n8n/scriptedModel';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { webhook } from '../n8n/workflow';
import { dialects, startSimulator, type Simulator } from '../simulator';
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
	modelOf,
	OTHER,
	startModel,
	toolsOf,
	type Arrow,
} from '../e2e/callingAgent';
import { allExecutions, credentialFor } from '../e2e/calls';
import { removeServer, startServer } from '../e2e/ownServer';
import { answerQuestions } from '../e2e/questions';

const LONG = { timeout: 60_000 };

let server: N8nServer;
let n8n: N8nDriver;
let simulator: Simulator;
let model: ScriptedModel;
let credentials: Record<string, Reference>;
let modelCredentials: Record<string, Reference>;

beforeAll(async () => {
	server = await startServer();
	n8n = await N8nDriver.signIn(server.baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain });
	({ model, modelCredentials } = await startModel(n8n));
	credentials = await credentialFor(n8n, simulator);
});
afterAll(async () => {
	await model.stop();
	await simulator.stop();
	await removeServer(server);
});

type Arrangement = {
	nodes: () => INode[];
	arrows: Arrow[];
	/** The response in which the model requests a call. */
	request: (phone: string) => Step;
};

const withoutReview = (version: number): Arrangement => ({
	nodes: () => [aiAgent('Agent', version), callTool('Call', credentials)],
	arrows: [['Webhook', 'Agent'], ...modelOf('Agent'), ...toolsOf('Agent', 'Call')],
	request: (phone) => callsDirectly('Call', phone),
});

const arrangements: { [name: string]: Arrangement } = {
	'AI Agent 3.1': withoutReview(3.1),
	'AI Agent 2.2': withoutReview(2.2),
	'behind a human review': {
		nodes: () => [aiAgent(), callReview('Ask', credentials), callTool('Call', credentials)],
		arrows: [
			['Webhook', 'Agent'],
			...modelOf('Agent'),
			...toolsOf('Agent', 'Ask'),
			...toolsOf('Ask', 'Call'),
		],
		request: (phone) => callsReviewed('Call', phone),
	},
};

async function publish({ nodes, arrows }: Arrangement): Promise<[Workflow, string]> {
	const path = randomUUID();
	const saved = await n8n.createWorkflow({
		name: `agent run after a crash ${path}`,
		nodes: [
			webhook(path, { responseMode: 'onReceived' }),
			// Longer than n8n needs to start again.
			chatModel(modelCredentials, { timeout: 600_000 }),
			...nodes(),
		],
		connections: connect(arrows),
	});
	await n8n.activate(saved);
	return [saved, path];
}

describe('Retry of an agent run during which n8n was killed', () => {
	afterEach(() => simulator.reset());

	test.each(Object.entries(arrangements))(
		"%s: doesn't call the same person again",
		async (_name, arrangement) => {
			const [workflow, path] = await publish(arrangement);
			model.follow(arrangement.request(CUSTOMER), { hangs: true });
			await n8n.webhook(path, {});
			const id = await until('the execution to be listed', async () => {
				return (await allExecutions(n8n, workflow)).at(-1)?.id;
			});
			// This never ends, because n8n is killed while the model hangs.
			void answerQuestions({ n8n, simulator }, id).catch(() => undefined);
			const hangs = () => model.isAtEnd && simulator.callsTo(CUSTOMER) === 1;
			await until('the model to hang', async () => await Promise.resolve(hangs()), LONG);
			await server.kill();
			await server.boot();
			n8n = await N8nDriver.signIn(server.baseUrl);
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
