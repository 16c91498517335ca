import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import { N8nDriver, type Reference } from '../n8n/driver';
import type { ScriptedModel, Step } from '../n8n/scriptedModel';
import { until } from '../n8n/until';
import { node, webhook } from '../n8n/workflow';
import { dialects, startSimulator, type Simulator } from '../simulator';
import {
	aiAgent,
	agentTool,
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
} from './callingAgent';
import { allExecutions, credentialFor } from './calls';
import { answerQuestions } from './questions';
import { sharedN8n } from './shared';

let n8n: N8nDriver;
let simulator: Simulator;
let model: ScriptedModel;
let credentials: Record<string, Reference>;
let modelCredentials: Record<string, Reference>;

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain, token: 'agent-run-tokens' });
	({ model, modelCredentials } = await startModel(n8n));
	credentials = await credentialFor(n8n, simulator);
});
afterEach(() => simulator.reset());
afterAll(async () => {
	await model.stop();
	await simulator.stop();
});

const placeCall = (name: string): INode => callTool(name, credentials);
const review = (name: string): INode => callReview(name, credentials);
const noOp = (name: string): INode => node(name, 'n8n-nodes-base.noOp', 1);

/** Creates and starts a workflow with an agent whose model follows the script. Returns the execution ID. */
async function start(nodes: INode[], arrows: Arrow[], ...script: Step[]): Promise<string> {
	const path = randomUUID();
	const saved = await n8n.createWorkflow({
		name: `agent runs ${path}`,
		nodes: [webhook(path, { responseMode: 'onReceived' }), chatModel(modelCredentials), ...nodes],
		connections: connect(arrows),
	});
	await n8n.activate(saved);
	model.follow(...script);
	expect((await n8n.webhook(path, { rows: [1, 2] })).status).toBe(200);
	return await until('the execution to be listed', async () => {
		return (await allExecutions(n8n, saved)).at(-1)?.id;
	});
}

async function answerAll(id: string, ...answers: string[]): Promise<void> {
	expect(await answerQuestions({ n8n, simulator }, id, ...answers)).toBe('success');
}

type Arrangement = {
	nodes: () => INode[];
	arrows: Arrow[];
	script: Step[];
	/** Answers in the order of the questions. Further answers are "yes". */
	answers?: string[];
	/** The number of calls to the customer and to the other person. */
	calls: [number, number];
};

const shared = (version: number): Pick<Arrangement, 'nodes' | 'arrows'> => ({
	nodes: () => [noOp('Row'), aiAgent('One', version), aiAgent('Two', version), placeCall('Direct')],
	arrows: [
		['Webhook', 'Row'],
		['Row', 'One'],
		['Row', 'Two'],
		...modelOf('One', 'Two'),
		...toolsOf('One', 'Direct'),
		...toolsOf('Two', 'Direct'),
	],
});
const helper: Step = { calls: [{ tool: 'Helper' }] };
const requestedTwice = [
	callsDirectly('Direct', CUSTOMER),
	callsDirectly('Direct', CUSTOMER),
	finish,
];

const oneRun: { [name: string]: Arrangement } = {
	'a tool with a review and one without': {
		nodes: () => [aiAgent('Agent'), placeCall('Direct'), review('Ask'), placeCall('Reviewed')],
		arrows: [
			['Webhook', 'Agent'],
			...modelOf('Agent'),
			...toolsOf('Agent', 'Direct', 'Ask'),
			...toolsOf('Ask', 'Reviewed'),
		],
		script: [callsDirectly('Direct', CUSTOMER), callsReviewed('Reviewed', CUSTOMER), finish],
		calls: [1, 0],
	},
	'two tools with a review each': {
		nodes: () => [
			aiAgent('Agent'),
			review('Ask 1'),
			placeCall('A'),
			review('Ask 2'),
			placeCall('B'),
		],
		arrows: [
			['Webhook', 'Agent'],
			...modelOf('Agent'),
			...toolsOf('Agent', 'Ask 1', 'Ask 2'),
			...toolsOf('Ask 1', 'A'),
			...toolsOf('Ask 2', 'B'),
		],
		script: [callsReviewed('A', CUSTOMER), callsReviewed('B', CUSTOMER), finish],
		calls: [1, 0],
	},
	'two requests at the same time, one denied and then approved': {
		nodes: () => [aiAgent('Agent'), review('Ask'), placeCall('Reviewed')],
		arrows: [
			['Webhook', 'Agent'],
			...modelOf('Agent'),
			...toolsOf('Agent', 'Ask'),
			...toolsOf('Ask', 'Reviewed'),
		],
		script: [
			callsReviewed('Reviewed', CUSTOMER, OTHER),
			callsReviewed('Reviewed', CUSTOMER, OTHER),
			finish,
		],
		answers: ['no'],
		calls: [1, 1],
	},
	'an agent that uses another one as a tool, twice': {
		nodes: () => [aiAgent('Agent'), agentTool('Helper'), placeCall('Direct')],
		arrows: [
			['Webhook', 'Agent'],
			...modelOf('Agent', 'Helper'),
			...toolsOf('Agent', 'Helper'),
			...toolsOf('Helper', 'Direct'),
		],
		script: [helper, ...requestedTwice, helper, ...requestedTwice, finish],
		calls: [1, 0],
	},
};

const ofTwoRuns: { [name: string]: Arrangement } = {
	'the rounds of a loop': {
		nodes: () => [
			node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.rows' }),
			node('Loop', 'n8n-nodes-base.splitInBatches', 3),
			aiAgent('Agent'),
			review('Ask'),
			placeCall('Reviewed'),
		],
		arrows: [
			['Webhook', 'Split'],
			['Split', 'Loop'],
			['Loop', 'Agent', 'main', 1],
			['Agent', 'Loop'],
			...modelOf('Agent'),
			...toolsOf('Agent', 'Ask'),
			...toolsOf('Ask', 'Reviewed'),
		],
		script: [
			callsReviewed('Reviewed', CUSTOMER),
			callsReviewed('Reviewed', CUSTOMER),
			finish,
			callsReviewed('Reviewed', CUSTOMER),
			finish,
		],
		calls: [2, 0],
	},
	'two branches into one agent': {
		nodes: () => [noOp('A'), noOp('B'), aiAgent('Agent'), review('Ask'), placeCall('Reviewed')],
		arrows: [
			['Webhook', 'A'],
			['Webhook', 'B'],
			['A', 'Agent'],
			['B', 'Agent'],
			...modelOf('Agent'),
			...toolsOf('Agent', 'Ask'),
			...toolsOf('Ask', 'Reviewed'),
		],
		script: [
			callsReviewed('Reviewed', CUSTOMER),
			finish,
			callsReviewed('Reviewed', CUSTOMER),
			finish,
		],
		calls: [2, 0],
	},
	'two agents that share a review': {
		nodes: () => [
			noOp('Row'),
			aiAgent('One'),
			aiAgent('Two'),
			review('Ask'),
			placeCall('Reviewed'),
		],
		arrows: [
			['Webhook', 'Row'],
			['Row', 'One'],
			['Row', 'Two'],
			...modelOf('One', 'Two'),
			...toolsOf('One', 'Ask'),
			...toolsOf('Two', 'Ask'),
			...toolsOf('Ask', 'Reviewed'),
		],
		script: [
			callsReviewed('Reviewed', CUSTOMER),
			finish,
			callsReviewed('Reviewed', CUSTOMER),
			finish,
		],
		calls: [2, 0],
	},
	'two agents that share a tool': {
		...shared(3.1),
		script: [...requestedTwice, ...requestedTwice],
		calls: [2, 0],
	},
	'two agents of version 2.2 that share a tool': {
		...shared(2.2),
		script: [...requestedTwice, ...requestedTwice],
		calls: [2, 0],
	},
};

describe.each([
	['one agent run does a request once:', oneRun],
	['each agent run does a request for itself:', ofTwoRuns],
])('%s', (_promise, arrangements) => {
	test.each(Object.entries(arrangements))(
		'%s',
		async (_name, { nodes, arrows, script, answers = [], calls }) => {
			const id = await start(nodes(), arrows, ...script);
			await answerAll(id, ...answers);
			expect([simulator.callsTo(CUSTOMER), simulator.callsTo(OTHER)]).toEqual(calls);
		},
	);
});
