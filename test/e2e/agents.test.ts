/** Tools of n8n's AI Agent node: whom they call, and how often. The rules for their values are in `test/nodes/host`. */
import { randomUUID } from 'node:crypto';
import isEqual from 'lodash/isEqual';
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import type { Step } from '../n8n/scriptedModel';
import { ThirdParties } from '../n8n/thirdParties';
import { slackToken } from '../n8n/thirdParties/slack';
import { until } from '../n8n/until';
import {
	chain,
	connect,
	manualTrigger,
	node,
	subTrigger,
	webhook,
	type Arrow,
} from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import {
	agentTool,
	aiAgent,
	CALL,
	callsDirectly,
	callTool,
	chatModel,
	CUSTOMER,
	finish,
	toolResult,
	useModel,
	uses,
	workflowTool,
	type ToolResult,
} from './callingAgent';
import { n8nFolder } from './n8nFolder';
import { flowOnRows } from './rowRun';
import { sharedN8n } from './shared';

const account = useAccount({ isMapped: true });
const { n8n, simulator, ours } = account;
const { model, modelCredentials } = useModel(n8n);
beforeEach(() => simulator.reset());

const ASHA = '9876543210';
const PEOPLE = [
	{ name: 'Asha', phone: ASHA },
	{ name: 'Bela', phone: '9876543211' },
	{ name: 'Chan', phone: '9876543212' },
];
const ONE = PEOPLE.slice(0, 1);

type Arrangement = {
	/** What the model responds, in the order in which n8n asks it. */
	steps: Step[];
	tools: INode[];
	rows?: IDataObject[];
	/** Of the agent. */
	version?: number;
	/** Other nodes, and the arrows of the agent and the nodes before it. */
	nodes?: INode[];
	arrows?: Arrow[];
	agentSettings?: Partial<INode>;
	/** Answers reviews. */
	answer?: (id: string) => Promise<void>;
};

/** A tool result as AI Agent 2 stores it. */
const inline = z
	.object({ response: z.tuple([toolResult]) })
	.transform(({ response: [one] }) => one);

/** The tool results of an execution, in the order in which n8n ran the tools. */
async function resultsIn(id: string, tools: INode[]): Promise<ToolResult[]> {
	const { runData } = await n8n.runData(id);
	const runs = tools.flatMap(({ name }) => runData[name] ?? []);
	return runs.flatMap(({ data }) => {
		const parsed = toolResult.or(inline).safeParse(data?.ai_tool?.[0]?.[0]?.json);
		return parsed.success ? [parsed.data] : [];
	});
}

/** Runs an agent over the rows. By default, they are the output of the node Rows. */
async function run({ tools, rows = PEOPLE, version = 3.1, ...arrangement }: Arrangement) {
	const { nodes = [], agentSettings, answer, steps } = arrangement;
	const names = tools.map(({ name }) => name);
	const { arrows = [['Rows', 'Agent'], ...uses('Agent', ...names)] } = arrangement;
	const options = { maxIterations: 100 };
	const agent = { ...aiAgent('Agent', version, { text: 'Go', options }), ...agentSettings };
	const all = [agent, chatModel(modelCredentials), ...tools, ...nodes];
	model.follow(...steps);
	const workflow = await account.create(flowOnRows(rows, all, arrows));
	await n8n.startManually(workflow, 'Start');
	const id = await account.executionOf(workflow);
	await answer?.(id);
	const { status } = await n8n.finished(id);
	const results = await resultsIn(id, tools);
	return { status, results, outcomes: results.map(({ outcome }) => outcome) };
}

const called = () => simulator.placedCalls().map(({ phone }) => phone.replace('+91', ''));
const placeCall = (phoneNumber: string, name = 'Call', more: INodeParameters = {}): INode =>
	ours(name, 'placeCallTool', { ...CALL, phoneNumber, ...more });
const request = (args: IDataObject = {}, tool = 'Call'): Step => ({ calls: [{ tool, args }] });

const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3, { batchSize: 1 });
const INTO_LOOP: Arrow[] = [
	['Rows', 'Loop'],
	['Loop', 'Agent', 'main', 1],
	['Agent', 'Loop'],
];

const COLUMN = '={{ $json.phone }}';
const FROM_MODEL = "={{ $fromAI('whom') }}";

/** The tools, and how they read the number. */
const READS = {
	Column: COLUMN,
	Item: "={{ $('Rows').item.json.phone }}",
	Given: FROM_MODEL,
	Mixed: "={{ $json.phone || $fromAI('whom') }}",
};
const EACH = ['Column', 'Given', 'Mixed'];

/** AI Agent 3 processes the rows together, round by round. Older agents, and loops, one row after another. */
test.each([
	[2.2, 'one row', ONE, EACH],
	[2.2, 'three rows', PEOPLE, ['Given']],
	[2.2, 'a loop', PEOPLE, EACH],
	[3.1, 'three rows', PEOPLE, EACH],
	[3.1, 'a loop', PEOPLE, EACH],
])(
	'AI Agent %s, with %s: which tools call the person of each row',
	async (version, input, rows, who) => {
		const names = Object.keys(READS);
		const tools = Object.entries(READS).map(([name, phoneNumber]) =>
			placeCall(phoneNumber, name, { personName: name }),
		);
		const requestOf = (phone: string, name: string) => request({ whom: phone }, name);
		const isTogether = version > 3 && input !== 'a loop';
		const steps = isTogether
			? [
					...names.flatMap((name) => rows.map(({ phone }) => requestOf(phone, name))),
					...rows.map(() => finish),
				]
			: rows.flatMap(({ phone }) => [...names.map((name) => requestOf(phone, name)), finish]);
		const inLoop = { nodes: [loop], arrows: [...INTO_LOOP, ...uses('Agent', ...names)] };
		await run({ version, rows, tools, steps, ...(input === 'a loop' && inLoop) });
		const phonesOf = (name: string) =>
			simulator
				.placedCalls()
				.filter(({ request: body }) => body?.person_name === name)
				.map(({ phone }) => phone.replace('+91', ''));
		const everyone = rows.map(({ phone }) => phone);
		expect(names.filter((name) => isEqual(phonesOf(name).sort(), everyone))).toEqual(who);
		expect(called()).toHaveLength(who.length * rows.length);
	},
);

test('calls nobody if the model gives an argument with the name of the column, and it is told so', async () => {
	const steps = [
		...PEOPLE.map(() => request({ phone: '9123456780' })),
		...PEOPLE.map(() => finish),
	];
	const { outcomes, results } = await run({ tools: [placeCall(COLUMN)], steps });
	expect(called()).toEqual([]);
	expect(outcomes).toEqual(PEOPLE.map(() => 'not_sent'));
	expect(results[0]?.next_step).toContain("Give no argument 'phone'");
});

test('an agent that another one uses reads the row of that one', async () => {
	const helper = request({ task: 'Call' }, 'Helper');
	const arrows: Arrow[] = [
		['Rows', 'Agent'],
		...uses('Agent', 'Helper'),
		...uses('Helper', 'Call'),
	];
	const ofHelpers = PEOPLE.flatMap(() => [request(), finish]);
	const steps = [...PEOPLE.map(() => helper), ...ofHelpers, ...PEOPLE.map(() => finish)];
	await run({ tools: [placeCall(COLUMN)], nodes: [agentTool('Helper')], arrows, steps });
	expect(called().sort()).toEqual(PEOPLE.map(({ phone }) => phone));
});

const helper = request({}, 'Helper');
const twice = [callsDirectly('Call', CUSTOMER), callsDirectly('Call', CUSTOMER), finish];

test.each<[string, Arrow[], number, Step[]]>([
	[
		'an agent that uses another one as a tool, twice',
		[['Rows', 'Agent'], ...uses('Agent', 'Helper'), ...uses('Helper', 'Call')],
		3.1,
		[helper, ...twice, helper, ...twice, finish],
	],
	[
		'two agents of version 2.2 that share a tool',
		[['Rows', 'Agent'], ['Rows', 'Other'], ...uses('Agent', 'Call'), ...uses('Other', 'Call')],
		2.2,
		[...twice, ...twice],
	],
])('a tool calls a person once in an execution: %s', async (_name, arrows, version, steps) => {
	const others = [agentTool('Helper'), aiAgent('Other', version)];
	const nodes = others.filter(({ name }) => arrows.flat().includes(name));
	const tools = [callTool('Call', account.credentials)];
	const { status } = await run({ rows: ONE, version, tools, nodes, arrows, steps });
	expect(status).toBe('success');
	expect(simulator.callsTo(CUSTOMER)).toBe(1);
});

test.each([2.2, 3.1])(
	'if AI Agent %s fails and is retried, the same call is placed once, and the same message is sent again',
	async (version) => {
		const { open: sessionId } = fixtures.sessions;
		const message = ours('Say', 'chatSendTool', { sessionId, message: FROM_MODEL });
		const both = [request({ whom: ASHA }), request({ whom: 'Hello' }, 'Say')];
		const { outcomes } = await run({
			...{ version, rows: ONE, tools: [placeCall(FROM_MODEL), message] },
			steps: [...both, { fails: true }, ...both, finish],
			agentSettings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 10 },
		});
		expect(called()).toEqual([ASHA]);
		expect(outcomes).toEqual(['done', 'already_done', 'done', 'done']);
	},
);

describe('a human review in Slack', () => {
	const parties = new ThirdParties(n8nFolder().thirdParties);
	beforeAll(async () => await parties.start());
	afterAll(async () => await parties.stop());

	/** n8n asks only for the first row, and counts the others as declined. */
	async function approve(id: string): Promise<void> {
		const { messages } = parties.slack;
		await until('the message', () => messages.length === 1);
		await account.untilWaiting(id);
		const [, url = ''] = /"url":"([^"]+approved=true[^"]+)"/.exec(JSON.stringify(messages)) ?? [];
		// n8n ignores programs that open links.
		await fetch(url, { headers: { 'user-agent': 'Mozilla/5.0 Firefox/140.0' } });
	}

	test('an approved request is sent once, although n8n repeats it for each row', async () => {
		const slack = { accessToken: slackToken, signatureSecret: '' };
		const slackApi = await n8n.createCredential('slackApi', slack);
		const parameters = {
			...{ select: 'channel', channelId: { __rl: true, mode: 'name', value: '#calls' } },
			...{ message: 'May I call?', approvalOptions: { values: { approvalType: 'double' } } },
		};
		const rest = { credentials: { slackApi }, webhookId: randomUUID() };
		const ask = node('Ask', 'n8n-nodes-base.slackHitlTool', 2.3, parameters, rest);
		const reviewed = PEOPLE.map(({ phone }) =>
			request({ toolParameters: { whom: phone }, hitlParameters: {} }),
		);
		const { outcomes, results } = await run({
			...{ tools: [placeCall(FROM_MODEL)], nodes: [ask], answer: approve },
			arrows: [['Rows', 'Agent'], ...uses('Agent', ['Ask', 'Call'])],
			steps: [...reviewed, ...PEOPLE.map(() => finish)],
		});
		expect(called()).toEqual([ASHA]);
		expect(outcomes).toEqual(['done', 'not_sent', 'not_sent']);
		expect(results[1]?.what_happened).toContain('repeats an approved request');
	});
});

/** Executes a step in the editor. */
async function executeStep(id: string, trigger: string, nodeName: string): Promise<unknown> {
	return await n8n.request('POST', `/workflows/${id}/run`, {
		triggerToStartFrom: { name: trigger },
		destinationNode: { nodeName, mode: 'inclusive' },
	});
}

test('the agent uses its tools if only it, or a node after it, is executed in the editor', async () => {
	const jsonOutput = JSON.stringify({ phone: ASHA });
	const rows = node('Rows', 'n8n-nodes-base.set', 3.4, { mode: 'raw', jsonOutput });
	const tools = [placeCall(COLUMN)];
	const after = node('After', 'n8n-nodes-base.noOp', 1);
	const { nodes, connections } = chain('', manualTrigger(), rows, aiAgent(), after);
	const { id } = await account.create({
		name: 'execute step',
		nodes: [...nodes, chatModel(modelCredentials), ...tools],
		connections: { ...connections, ...connect(uses('Agent', 'Call')) },
	});
	for (const name of ['Agent', 'After']) {
		model.follow(request(), finish);
		const started = await executeStep(id, 'Start', name);
		const { executionId } = z.object({ executionId: z.string() }).parse(started);
		await n8n.finished(executionId);
		expect(await resultsIn(executionId, tools)).toMatchObject([{ outcome: 'done' }]);
	}
	expect(called()).toEqual([ASHA, ASHA]);
});

test.each([3.1, 2.2])(
	'the tools of AI Agent %s call nobody if another node below a webhook is executed in the editor, with which n8n runs it, too',
	async (version) => {
		const path = randomUUID();
		const workflow = await account.create({
			name: 'execute step of another branch',
			nodes: [
				webhook(path, { responseMode: 'onReceived' }),
				...[aiAgent('Agent', version), chatModel(modelCredentials)],
				...[placeCall(ASHA), node('Other', 'n8n-nodes-base.noOp', 1)],
			],
			connections: connect([['Webhook', 'Other'], ['Webhook', 'Agent'], ...uses('Agent', 'Call')]),
		});
		model.follow(request(), finish);
		await executeStep(workflow.id, 'Webhook', 'Other');
		const url = `${sharedN8n().baseUrl}/webhook-test/${path}`;
		await until('n8n to listen', async () => (await fetch(url, { method: 'POST' })).ok);
		const id = await account.executionOf(workflow);
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		expect(model.isAtEnd).toBe(true);
		expect(model.toolResults().join()).toContain("You executed 'Other', so this node did nothing");
		expect(called()).toEqual([]);
	},
);

test("the model gets the outcomes of two calls that n8n's Call n8n Workflow Tool places at the same time", async () => {
	const waits = account.placeCall({ options: { waitMinutes: 60 } });
	const sub = await account.publish(chain('calls', subTrigger(), waits));
	simulator.setAutoComplete({ afterMs: 500 });
	const calls = PEOPLE.map(({ phone }) => ({ tool: 'Sub', args: { phone } }));
	await run({ rows: ONE, tools: [workflowTool(sub.id)], steps: [{ calls }, finish] });
	expect(model.isAtEnd).toBe(true);
	expect(called()).toEqual(PEOPLE.map(({ phone }) => phone));
	const results = model.toolResults();
	expect(results.map((text) => text.includes('"outcome":"Answered"'))).toEqual([true, true, true]);
});
