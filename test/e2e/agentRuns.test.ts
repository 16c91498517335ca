import { randomUUID } from 'node:crypto';
import type { IConnections, INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Reference } from '../n8n/driver';
import { ScriptedModel, type Turn } from '../n8n/scriptedModel';
import { until } from '../n8n/until';
import { node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { allExecutions, credentialFor, PACKAGE } from './calls';
import { answerQuestions, APPROVER } from './questions';
import { sharedN8n } from './shared';

const LANGCHAIN = '@n8n/n8n-nodes-langchain';
const CUSTOMER = '9000000002';
const OTHER = '9000000003';

let n8n: N8nDriver;
let simulator: Simulator;
let model: ScriptedModel;
let credentials: Record<string, Reference>;
let modelCredentials: Record<string, Reference>;

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain, token: 'agent-run-tokens' });
	model = await ScriptedModel.start();
	credentials = await credentialFor(n8n, simulator);
	const key = { apiKey: 'none', url: model.baseUrl };
	modelCredentials = { openAiApi: await n8n.createCredential('openAiApi', key) };
});
afterEach(() => simulator.reset());
afterAll(async () => {
	await model.stop();
	await simulator.stop();
});

const call: INodeParameters = {
	agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
	countryCode: 'IN',
};
const placeCall = (name: string, options: INodeParameters = {}): INode =>
	node(
		name,
		`${PACKAGE}.placeCallTool`,
		1,
		{ ...call, phoneNumber: "={{ $fromAI('phone') }}", options },
		{ credentials },
	);
const review = (name: string): INode =>
	node(
		name,
		`${PACKAGE}.placeCallHitlTool`,
		1,
		{
			...call,
			yesValues: 'yes',
			noValues: 'no',
			phoneNumber: APPROVER,
			message: '=May I call {{ $tool.parameters.phone }}?',
		},
		{ credentials },
	);
const agent = (name: string, version = 3.1): INode =>
	node(name, `${LANGCHAIN}.agent`, version, { promptType: 'define', text: 'Go' });
const chat = (): INode =>
	node(
		'Model',
		`${LANGCHAIN}.lmChatOpenAi`,
		1.2,
		{ model: { __rl: true, mode: 'id', value: 'scripted' } },
		{ credentials: modelCredentials },
	);
const pass = (name: string): INode => node(name, 'n8n-nodes-base.noOp', 1);

type Link = 'main' | 'ai_tool' | 'ai_languageModel';
/** `from → to`, over which kind of connection, from which output. */
type Arrow = [from: string, to: string, type?: Link, output?: number];

function connect(arrows: Arrow[]): IConnections {
	const connections: IConnections = {};
	for (const [from, to, type = 'main', output = 0] of arrows) {
		const outputs = ((connections[from] ??= {})[type] ??= []);
		while (outputs.length <= output) outputs.push([]);
		outputs[output]?.push({ node: to, type, index: 0 });
	}
	return connections;
}

/** Webhook → …, which starts with the model playing its script; gives the execution. */
async function start(nodes: INode[], arrows: Arrow[], ...script: Turn[]): Promise<string> {
	const path = randomUUID();
	const saved = await n8n.createWorkflow({
		name: `agent runs ${path}`,
		nodes: [webhook(path, { responseMode: 'onReceived' }), chat(), ...nodes],
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

const direct = (tool: string, phone: string): Turn => ({ calls: [{ tool, args: { phone } }] });
const reviewed = (tool: string, ...phones: string[]): Turn => ({
	calls: phones.map((phone) => ({
		tool,
		args: { toolParameters: { phone }, hitlParameters: {} },
	})),
});
const end: Turn = { says: 'done' };

/** What every arrangement has: the agents with their model, and what asks for which tool. */
const agentsOf = (...names: string[]): Arrow[] =>
	names.map((name) => ['Model', name, 'ai_languageModel']);
const toolsOf = (user: string, ...names: string[]): Arrow[] =>
	names.map((name) => [name, user, 'ai_tool']);

type Arrangement = {
	nodes: () => INode[];
	arrows: Arrow[];
	script: Turn[];
	/** In the order of the questions; after these, each is a yes. */
	answers?: string[];
	/** How often the customer is called, and how often the other one. */
	calls: [number, number];
};

const bothWays: Pick<Arrangement, 'arrows'> = {
	arrows: [
		['Webhook', 'Agent'],
		...agentsOf('Agent'),
		...toolsOf('Agent', 'Direct', 'Ask'),
		...toolsOf('Ask', 'Reviewed'),
	],
};
const shared = (version: number): Pick<Arrangement, 'nodes' | 'arrows'> => ({
	nodes: () => [pass('Row'), agent('One', version), agent('Two', version), placeCall('Direct')],
	arrows: [
		['Webhook', 'Row'],
		['Row', 'One'],
		['Row', 'Two'],
		...agentsOf('One', 'Two'),
		...toolsOf('One', 'Direct'),
		...toolsOf('Two', 'Direct'),
	],
});
const helper: Turn = { calls: [{ tool: 'Helper' }] };
const askedTwice = [direct('Direct', CUSTOMER), direct('Direct', CUSTOMER), end];

const oneRun: { [name: string]: Arrangement } = {
	'a tool with a review and one without': {
		...bothWays,
		nodes: () => [agent('Agent'), placeCall('Direct'), review('Ask'), placeCall('Reviewed')],
		script: [direct('Direct', CUSTOMER), reviewed('Reviewed', CUSTOMER), end],
		calls: [1, 0],
	},
	'Maximum Calls per Agent Run of both': {
		...bothWays,
		nodes: () => [
			agent('Agent'),
			placeCall('Direct', { maximumCallsPerRun: 1 }),
			review('Ask'),
			placeCall('Reviewed', { maximumCallsPerRun: 1 }),
		],
		script: [direct('Direct', CUSTOMER), reviewed('Reviewed', OTHER), end],
		calls: [1, 0],
	},
	'two tools with a review each': {
		nodes: () => [agent('Agent'), review('Ask 1'), placeCall('A'), review('Ask 2'), placeCall('B')],
		arrows: [
			['Webhook', 'Agent'],
			...agentsOf('Agent'),
			...toolsOf('Agent', 'Ask 1', 'Ask 2'),
			...toolsOf('Ask 1', 'A'),
			...toolsOf('Ask 2', 'B'),
		],
		script: [reviewed('A', CUSTOMER), reviewed('B', CUSTOMER), end],
		calls: [1, 0],
	},
	'two requests at once, one denied and then approved': {
		nodes: () => [agent('Agent'), review('Ask'), placeCall('Reviewed')],
		arrows: [
			['Webhook', 'Agent'],
			...agentsOf('Agent'),
			...toolsOf('Agent', 'Ask'),
			...toolsOf('Ask', 'Reviewed'),
		],
		script: [reviewed('Reviewed', CUSTOMER, OTHER), reviewed('Reviewed', CUSTOMER, OTHER), end],
		answers: ['no'],
		calls: [1, 1],
	},
	'an agent that uses another one as a tool, twice': {
		nodes: () => [
			agent('Agent'),
			node('Helper', `${LANGCHAIN}.agentTool`, 3, { text: 'Go' }),
			placeCall('Direct'),
		],
		arrows: [
			['Webhook', 'Agent'],
			...agentsOf('Agent', 'Helper'),
			...toolsOf('Agent', 'Helper'),
			...toolsOf('Helper', 'Direct'),
		],
		script: [helper, ...askedTwice, helper, ...askedTwice, end],
		calls: [1, 0],
	},
};

const ofTwoRuns: { [name: string]: Arrangement } = {
	'the rounds of a loop': {
		nodes: () => [
			node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.rows' }),
			node('Loop', 'n8n-nodes-base.splitInBatches', 3),
			agent('Agent'),
			review('Ask'),
			placeCall('Reviewed'),
		],
		arrows: [
			['Webhook', 'Split'],
			['Split', 'Loop'],
			['Loop', 'Agent', 'main', 1],
			['Agent', 'Loop'],
			...agentsOf('Agent'),
			...toolsOf('Agent', 'Ask'),
			...toolsOf('Ask', 'Reviewed'),
		],
		script: [
			reviewed('Reviewed', CUSTOMER),
			reviewed('Reviewed', CUSTOMER),
			end,
			reviewed('Reviewed', CUSTOMER),
			end,
		],
		calls: [2, 0],
	},
	'two branches that lead to one agent': {
		nodes: () => [pass('A'), pass('B'), agent('Agent'), review('Ask'), placeCall('Reviewed')],
		arrows: [
			['Webhook', 'A'],
			['Webhook', 'B'],
			['A', 'Agent'],
			['B', 'Agent'],
			...agentsOf('Agent'),
			...toolsOf('Agent', 'Ask'),
			...toolsOf('Ask', 'Reviewed'),
		],
		script: [reviewed('Reviewed', CUSTOMER), end, reviewed('Reviewed', CUSTOMER), end],
		calls: [2, 0],
	},
	'two agents that share a review': {
		nodes: () => [pass('Row'), agent('One'), agent('Two'), review('Ask'), placeCall('Reviewed')],
		arrows: [
			['Webhook', 'Row'],
			['Row', 'One'],
			['Row', 'Two'],
			...agentsOf('One', 'Two'),
			...toolsOf('One', 'Ask'),
			...toolsOf('Two', 'Ask'),
			...toolsOf('Ask', 'Reviewed'),
		],
		script: [reviewed('Reviewed', CUSTOMER), end, reviewed('Reviewed', CUSTOMER), end],
		calls: [2, 0],
	},
	'two agents that share a tool': {
		...shared(3.1),
		script: [...askedTwice, ...askedTwice],
		calls: [2, 0],
	},
	'two agents of version 2.2 that share a tool': {
		...shared(2.2),
		script: [...askedTwice, ...askedTwice],
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
		120_000,
	);
});
