/** An AI Agent that processes several rows: each row makes its own requests, and none is sent with a value of another row. */
import { randomUUID } from 'node:crypto';
import isEqual from 'lodash/isEqual';
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import type { Reference } from '../n8n/driver';
import type { Step } from '../n8n/scriptedModel';
import { ThirdParties } from '../n8n/thirdParties';
import { slackToken } from '../n8n/thirdParties/slack';
import { until } from '../n8n/until';
import { byId, manualTrigger, node, webhook } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import {
	agentTool,
	aiAgent,
	type Arrow,
	CALL,
	chatModel,
	connect,
	finish,
	useModel,
	uses,
} from './callingAgent';
import { n8nFolder } from './n8nFolder';
import { flowOnRows } from './rowRun';
import { sharedN8n } from './shared';
import { askMcp, connectMcp, ToolHost, toolResult, type ToolResult } from './toolHost';

const account = useAccount({ isMapped: true });
const { n8n, simulator, ours } = account;
const parties = new ThirdParties(n8nFolder().thirdParties);
const { model, modelCredentials } = useModel(n8n);
let slackApi: Reference;

beforeAll(async () => {
	await parties.start();
	slackApi = await n8n.createCredential('slackApi', {
		accessToken: slackToken,
		signatureSecret: '',
	});
});
beforeEach(() => {
	simulator.reset();
	parties.reset();
});
afterAll(async () => {
	await parties.stop();
});

const ASHA = '9876543210';
const BELA = '9876543211';
const CHAN = '9876543212';
const OTHER = '9123456780';
const PEOPLE = [
	{ name: 'Asha', phone: ASHA },
	{ name: 'Bela', phone: BELA },
	{ name: 'Chan', phone: CHAN },
];

const inline = z
	.object({ response: z.tuple([toolResult]) })
	.transform(({ response: [one] }) => one);

type Arrangement = {
	rows?: IDataObject[];
	/** Of the agent. */
	version?: number;
	/** Tools of the agent, some behind a review. */
	tools: INode[];
	/** Of the agent and the nodes before it. */
	arrows?: Arrow[];
	/** Other nodes. */
	nodes?: INode[];
	/** What the model requests for each row. */
	script?: Step[][];
	/** All responses of the model, if the script isn't by row. */
	steps?: Step[];
	/** Answers reviews, until the execution has ended. */
	answer?: (id: string) => Promise<string>;
	agentSettings?: Partial<INode>;
};

type Outcome = {
	status: string;
	/** Of all tools, in the order in which n8n ran them. */
	results: ToolResult[];
	outcomes: string[];
	/** The numbers that were called. */
	called: string[];
};

/** AI Agent 3 processes the rows together, round by round. Older agents process one row after another. */
function scriptOf(version: number, ofRows: Step[][]): Step[] {
	if (version < 3) return ofRows.flatMap((steps) => [...steps, finish]);
	const rounds = Math.max(...ofRows.map(({ length }) => length)) + 1;
	return [...Array(rounds).keys()].flatMap((round) =>
		ofRows.map((steps) => steps[round] ?? finish),
	);
}

/** Runs an agent over the rows. By default, they are the output of the node Rows. */
async function run(arrangement: Arrangement): Promise<Outcome> {
	const { version = 3.1, tools, nodes = [], rows = PEOPLE, agentSettings } = arrangement;
	const { script = [], steps = scriptOf(version, script) } = arrangement;
	const names = tools.map(({ name }) => name);
	const { arrows = [['Rows', 'Agent'], ...uses('Agent', ...names)] } = arrangement;
	const options = { maxIterations: 100 };
	const agent = { ...aiAgent('Agent', version, { text: 'Go', options }), ...agentSettings };
	const all = [agent, chatModel(modelCredentials), ...tools, ...nodes];
	model.follow(...steps);
	const workflow = await account.create(flowOnRows(rows, all, arrows));
	await n8n.startManually(workflow, 'Start');
	const id = await account.executionOf(workflow);
	const { answer = async () => (await n8n.finished(id)).status } = arrangement;
	const status = await answer(id);
	return { status, ...(await outcomeOf(id, names)) };
}

async function outcomeOf(id: string, tools: string[]): Promise<Omit<Outcome, 'status'>> {
	const { runData } = await n8n.runData(id);
	const runs = tools.flatMap((name) => runData[name] ?? []);
	const results = runs.flatMap(({ data }) => {
		const parsed = toolResult.or(inline).safeParse(data?.ai_tool?.[0]?.[0]?.json);
		return parsed.success ? [parsed.data] : [];
	});
	return {
		results,
		outcomes: results.map(({ outcome }) => outcome),
		called: simulator.placedCalls().map(({ phone }) => phone.replace('+91', '')),
	};
}

const placeCall = (parameters: INodeParameters, name = 'Call'): INode =>
	ours(name, 'placeCallTool', { ...CALL, ...parameters });
const request = (args: IDataObject = {}, tool = 'Call'): Step => ({ calls: [{ tool, args }] });
const reviewed = (args: IDataObject = {}): Step =>
	request({ toolParameters: args, hitlParameters: {} });
/** The same request for each row. */
const eachRow = (step: Step, rows: readonly unknown[] = PEOPLE): Step[][] => rows.map(() => [step]);

const pushTool = (more: INodeParameters = {}): INode =>
	ours('Push', 'pushCampaignContactsTool', {
		campaignId: byId(fixtures.campaigns.active),
		agentUuid: byId(fixtures.agents.full),
		whatToDo: 'wait',
		contactsFrom: 'items',
		...more,
	});

const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3, { batchSize: 1 });
const inLoop: Arrow[] = [
	['Rows', 'Loop'],
	['Loop', 'Agent', 'main', 1],
	['Agent', 'Loop'],
	...uses('Agent', 'Call'),
];

const ROW_PHONE = '={{ $json.phone }}';
const FIRST_ROW = "={{ $('Rows').item.json.phone }}";
const FROM_MODEL = "={{ $fromAI('whom') }}";
const NOT_OWN = /'Phone Number' another value than is meant, so nothing was sent/;

/** The tools, and how they read the number. */
const READS = {
	Column: ROW_PHONE,
	Item: FIRST_ROW,
	Given: FROM_MODEL,
	Mixed: "={{ $json.phone || $fromAI('whom') }}",
};
const ALL = { Column: 'each', Item: 'nobody', Given: 'each', Mixed: 'each' };
const ONLY_GIVEN = { ...ALL, Column: 'nobody', Mixed: 'nobody' };

test.each([
	[2.2, 'one row', PEOPLE.slice(0, 1), ALL],
	[2.2, 'three rows', PEOPLE, ONLY_GIVEN],
	[2.2, 'a loop', PEOPLE, ALL],
	[3, 'one row', PEOPLE.slice(0, 1), ALL],
	[3, 'three rows', PEOPLE, ALL],
	[3, 'a loop', PEOPLE, ALL],
	[3.1, 'one row', PEOPLE.slice(0, 1), ALL],
	[3.1, 'three rows', PEOPLE, ALL],
	[3.1, 'a loop', PEOPLE, ALL],
])('whom the tools of AI Agent %s call, with %s', async (version, input, rows, expected) => {
	const names = Object.keys(READS);
	const tools = Object.entries(READS).map(
		([name, phoneNumber]): INode => ({
			...placeCall({ phoneNumber, personName: name }, name),
		}),
	);
	const script = rows.map(({ phone }) => names.map((name) => request({ whom: phone }, name)));
	const isLoop = input === 'a loop';
	const arrows: Arrow[] = [...inLoop.slice(0, 3), ...uses('Agent', ...names)];
	const steps = script.flatMap((ofRow) => [...ofRow, finish]);
	await run({ version, rows, tools, script, ...(isLoop && { nodes: [loop], arrows, steps }) });
	const called = names.map((name) => {
		const calls = simulator.placedCalls().filter(({ request: body }) => body?.person_name === name);
		const phones = calls.map(({ phone }) => phone.replace('+91', '')).sort();
		return [
			name,
			isEqual(
				phones,
				rows.map(({ phone }) => phone),
			)
				? 'each'
				: phones,
		];
	});
	const wanted = Object.entries(expected);
	expect(called).toEqual(wanted.map(([name, who]) => [name, who === 'each' ? who : []]));
});

describe('AI Agent 3.1', () => {
	test('calls the person of each row, as many rows as there are', async () => {
		const phones = [ASHA, BELA, CHAN, '9876543213', '9876543214'];
		const rows = phones.map((phone) => ({ name: `Person ${phone}`, phone }));
		const tools = [placeCall({ phoneNumber: ROW_PHONE })];
		const { called, outcomes } = await run({ rows, tools, script: eachRow(request(), rows) });
		expect(called.sort()).toEqual(phones);
		expect(outcomes).toEqual(rows.map(() => 'done'));
	});

	test('calls nobody if the model gives an argument with the name of the column, and it is told so', async () => {
		const tools = [placeCall({ phoneNumber: ROW_PHONE })];
		const script = eachRow(request({ phone: OTHER }));
		const { called, outcomes, results } = await run({ tools, script });
		expect(called).toEqual([]);
		expect(outcomes).toEqual(PEOPLE.map(() => 'not_sent'));
		expect(results[0]?.next_step).toContain("Give no argument 'phone'");
	});

	test('uses its tools if only the agent, or a node after it, is executed in the editor', async () => {
		const rows = node('Rows', 'n8n-nodes-base.set', 3.4, {
			mode: 'raw',
			jsonOutput: JSON.stringify({ phone: ASHA }),
		});
		const workflow = await account.create({
			name: 'execute step',
			nodes: [
				...[manualTrigger(), rows, aiAgent('Agent', 3.1), chatModel(modelCredentials)],
				...[placeCall({ phoneNumber: ROW_PHONE }), node('After', 'n8n-nodes-base.noOp', 1)],
			],
			connections: connect([
				['Start', 'Rows'],
				['Rows', 'Agent'],
				['Agent', 'After'],
				...uses('Agent', 'Call'),
			]),
		});
		for (const nodeName of ['Agent', 'After']) {
			model.follow(request(), finish);
			const started = await n8n.request('POST', `/workflows/${workflow.id}/run`, {
				triggerToStartFrom: { name: 'Start' },
				destinationNode: { nodeName, mode: 'inclusive' },
			});
			const { executionId } = z.object({ executionId: z.string() }).parse(started);
			await n8n.finished(executionId);
			expect((await outcomeOf(executionId, ['Call'])).outcomes).toEqual(['done']);
		}
		expect(simulator.callsTo(`+91${ASHA}`)).toBe(2);
	});

	test.each([3.1, 2.2])(
		'of version %s: its tools call nobody if another node below a webhook is executed in the editor, with which n8n runs it, too',
		async (version) => {
			const path = randomUUID();
			const workflow = await account.create({
				name: 'execute step of another branch',
				nodes: [
					webhook(path, { responseMode: 'onReceived' }),
					...[aiAgent('Agent', version), chatModel(modelCredentials)],
					...[placeCall({ phoneNumber: ASHA }), node('Other', 'n8n-nodes-base.noOp', 1)],
				],
				connections: connect([
					['Webhook', 'Other'],
					['Webhook', 'Agent'],
					...uses('Agent', 'Call'),
				]),
			});
			model.follow(request(), finish);
			await n8n.request('POST', `/workflows/${workflow.id}/run`, {
				triggerToStartFrom: { name: 'Webhook' },
				destinationNode: { nodeName: 'Other', mode: 'inclusive' },
			});
			const url = `${sharedN8n().baseUrl}/webhook-test/${path}`;
			await until('n8n to listen', async () => (await fetch(url, { method: 'POST' })).ok);
			const id = await account.executionOf(workflow);
			expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
			expect(model.isAtEnd).toBe(true);
			expect(model.toolResults().join()).toContain(
				"You executed 'Other', so this node did nothing",
			);
			expect(simulator.callsTo(`+91${ASHA}`)).toBe(0);
		},
	);

	test('sends nothing of another node, and the person who builds the workflow is told how to do it', async () => {
		const tools = [placeCall({ phoneNumber: FIRST_ROW })];
		const { called, outcomes, results } = await run({ tools, script: eachRow(request()) });
		expect(called).toEqual([]);
		expect(outcomes).toEqual(PEOPLE.map(() => 'not_sent'));
		expect(results[1]?.what_happened).toMatch(NOT_OWN);
		expect(results[1]?.next_step).toContain('the person who set up this tool must fix this');
		expect(results[0]?.next_step).toContain('use {{ $json.column }}');
	});

	test('reads the first item of a node for every row', async () => {
		const name = "={{ $('Sheet').first().json.rows[0].name }}";
		const tools = [placeCall({ phoneNumber: ROW_PHONE, personName: name })];
		const { called } = await run({ tools, script: eachRow(request()) });
		expect(called.sort()).toEqual([ASHA, BELA, CHAN]);
		const names = simulator.placedCalls().map(({ request: body }) => body?.person_name);
		expect(names).toEqual(PEOPLE.map(() => 'Asha'));
	});

	test('a number in two rows is called once, and the model of the other row is told so', async () => {
		const rows = [
			{ name: 'Asha', phone: ASHA },
			{ name: 'A. Rao', phone: `+91 ${ASHA}` },
		];
		const tools = [placeCall({ phoneNumber: ROW_PHONE, personName: '={{ $json.name }}' })];
		const script = eachRow(request(), rows);
		const { called, outcomes, results } = await run({ rows, tools, script });
		expect(called).toEqual([ASHA]);
		expect(outcomes).toEqual(['done', 'not_sent']);
		expect(results[1]?.what_happened).toContain('this number was called before');
		expect(results[1]?.result).toBeNull();
	});

	test('pushes the contact of the row, without what the model gives', async () => {
		const tools = [pushTool({ campaignId: byId("={{ $fromAI('Campaign') }}") })];
		const Campaign = String(fixtures.campaigns.active);
		const script = eachRow(request({ Campaign, plan: 'Gold' }, 'Push'));
		const { outcomes } = await run({ tools, script });
		expect(outcomes).toEqual(['done', 'done', 'done']);
		const contacts = simulator.contactsOf(fixtures.campaigns.active);
		expect(contacts.map(({ phone, personName, extra }) => [phone, personName, extra])).toEqual(
			PEOPLE.map(({ phone, name }) => [`+91${phone}`, name, {}]),
		);
	});

	test('pushes nobody if the model gives the phone column', async () => {
		const script = eachRow(request({ phone: OTHER }, 'Push'));
		const { outcomes } = await run({ tools: [pushTool()], script });
		expect(outcomes).toEqual(['not_sent', 'not_sent', 'not_sent']);
		expect(simulator.contactsOf(fixtures.campaigns.active)).toEqual([]);
	});

	test('a number that two rows push is pushed once, and the model of the other row is told so', async () => {
		const rows = [
			{ name: 'Asha', phone: ASHA },
			{ name: 'A. Rao', phone: ASHA },
		];
		const push = request({}, 'Push');
		const script = rows.map(() => [push, push]);
		const { outcomes, results } = await run({ rows, tools: [pushTool()], script });
		expect(outcomes).toEqual(['done', 'not_sent', 'not_sent', 'not_sent']);
		expect(results[1]?.next_step).toContain('sent this number, or may have');
		expect(simulator.contactsOf(fixtures.campaigns.active)).toHaveLength(1);
	});

	test('equal rows are one row', async () => {
		const rows = [PEOPLE[0], PEOPLE[0], PEOPLE[1]].flatMap((row) => row ?? []);
		const tools = [placeCall({ phoneNumber: ROW_PHONE })];
		const { called, outcomes } = await run({ rows, tools, script: eachRow(request(), rows) });
		expect(called).toEqual([ASHA, BELA]);
		expect(outcomes).toEqual(['done', 'already_done', 'done']);
	});

	test('an agent that another one uses reads the row of that one', async () => {
		const helper: Step = request({ task: 'Call' }, 'Helper');
		const tools = [placeCall({ phoneNumber: ROW_PHONE })];
		const arrows: Arrow[] = [
			['Rows', 'Agent'],
			...uses('Agent', 'Helper'),
			...uses('Helper', 'Call'),
		];
		const ofHelpers = PEOPLE.flatMap(() => [request(), finish]);
		const steps = [helper, helper, helper, ...ofHelpers, finish, finish, finish];
		const { called } = await run({ tools, nodes: [agentTool('Helper')], arrows, steps });
		expect(called.sort()).toEqual([ASHA, BELA, CHAN]);
	});
});

describe('a human review in Slack', () => {
	const review = (): INode =>
		node(
			'Ask',
			'n8n-nodes-base.slackHitlTool',
			2.3,
			{
				select: 'channel',
				channelId: { __rl: true, mode: 'name', value: '#calls' },
				message: 'May I call?',
				approvalOptions: { values: { approvalType: 'double' } },
			},
			{ credentials: { slackApi }, webhookId: randomUUID() },
		);
	const arrows: Arrow[] = [['Rows', 'Agent'], ...uses('Agent', ['Ask', 'Call'])];

	/** n8n asks only for the first row, and counts the others as declined. */
	async function approve(id: string, times = 1): Promise<string> {
		const { messages } = parties.slack;
		for (let count = 1; count <= times; count++) {
			await until('the message', () => messages.length === count);
			await account.untilWaiting(id);
			const message = JSON.stringify(messages.at(-1));
			const [, url = ''] = /"url":"([^"]+approved=true[^"]+)"/.exec(message) ?? [];
			// n8n ignores programs that open links.
			await fetch(url, { headers: { 'user-agent': 'Mozilla/5.0 Firefox/140.0' } });
		}
		return (await n8n.finished(id)).status;
	}

	test('an approved request is sent once, although n8n repeats it for each row', async () => {
		const tools = [placeCall({ phoneNumber: FROM_MODEL })];
		const script = PEOPLE.map(({ phone }) => [reviewed({ whom: phone })]);
		const outcome = await run({ tools, nodes: [review()], arrows, script, answer: approve });
		expect(outcome.called).toEqual([ASHA]);
		expect(outcome.outcomes).toEqual(['done', 'not_sent', 'not_sent']);
		expect(outcome.results[1]?.what_happened).toContain('repeats an approved request');
	});

	test('so is a message, which a model may repeat', async () => {
		const { open } = fixtures.sessions;
		const tools = [ours('Call', 'chatSendTool', { sessionId: open, message: FROM_MODEL })];
		const script = PEOPLE.map(({ name }) => [reviewed({ whom: name })]);
		const { outcomes } = await run({ tools, nodes: [review()], arrows, script, answer: approve });
		expect(outcomes).toEqual(['done', 'not_sent', 'not_sent']);
	});

	test('no column is read, because the person may have approved another row', async () => {
		const tools = [placeCall({ phoneNumber: ROW_PHONE })];
		const script = eachRow(reviewed());
		const outcome = await run({ tools, nodes: [review()], arrows, script, answer: approve });
		expect(outcome.called).toEqual([]);
		expect(outcome.results[0]?.next_step).toContain('add Loop Over Items with batch size 1');
	});

	test('with one row at a time, the column of the row is read', async () => {
		const tools = [placeCall({ phoneNumber: ROW_PHONE })];
		const steps = PEOPLE.flatMap(() => [reviewed(), finish]);
		const tooled = [...inLoop.slice(0, 3), ...uses('Agent', ['Ask', 'Call'])];
		const answer = async (id: string) => await approve(id, 3);
		const nodes = [review(), loop];
		const outcome = await run({ tools, nodes, arrows: tooled, steps, answer });
		expect(outcome.called).toEqual([ASHA, BELA, CHAN]);
	});
});

describe('AI Agent 2.2', () => {
	const version = 2.2;

	test('over several rows, reads no column, because n8n reads that of the first row', async () => {
		const tools = [placeCall({ phoneNumber: ROW_PHONE })];
		const outcome = await run({ version, tools, script: eachRow(request()) });
		expect(outcome.called).toEqual([]);
		expect(outcome.results[0]?.what_happened).toMatch(NOT_OWN);
		expect(outcome.results[0]?.next_step).toContain('add Loop Over Items with batch size 1');
	});

	test('over several rows, calls a number once, also under another name', async () => {
		const personName = "={{ $fromAI('who') }}";
		const tools = [placeCall({ phoneNumber: FROM_MODEL, personName })];
		const script = PEOPLE.map(({ name }) => [request({ whom: ASHA, who: name })]);
		const { called, outcomes } = await run({ version, tools, script });
		expect(called).toEqual([ASHA]);
		expect(outcomes).toEqual(['done', 'not_sent', 'not_sent']);
	});

	test('over several rows, pushes no row', async () => {
		const script = eachRow(request({ phone: OTHER }, 'Push'));
		const { outcomes, results } = await run({ version, tools: [pushTool()], script });
		expect(outcomes).toEqual(['not_sent', 'not_sent', 'not_sent']);
		expect(results[0]?.next_step).toContain('the person who set up this tool');
		expect(simulator.contactsOf(fixtures.campaigns.active)).toEqual([]);
	});

	test('over one row, reads its columns and pushes it, without what the model gives', async () => {
		const rows = PEOPLE.slice(0, 1);
		const tools = [placeCall({ phoneNumber: ROW_PHONE }), pushTool()];
		const script = [[request(), request({ phone: OTHER }, 'Push')]];
		const { called, outcomes } = await run({ version, rows, tools, script });
		expect(outcomes).toEqual(['done', 'done']);
		expect(called).toEqual([ASHA]);
		const contacts = simulator.contactsOf(fixtures.campaigns.active);
		expect(contacts.map(({ phone, personName }) => [phone, personName])).toEqual([
			[`+91${ASHA}`, 'Asha'],
		]);
	});
});

test.each([2.2, 3.1])(
	'if AI Agent %s fails and is retried, the same call is placed once, and the same message is sent again',
	async (version) => {
		const { open: sessionId } = fixtures.sessions;
		const message = ours('Say', 'chatSendTool', { sessionId, message: FROM_MODEL });
		const tools = [placeCall({ phoneNumber: FROM_MODEL }), message];
		const both = [request({ whom: ASHA }), request({ whom: 'Hello' }, 'Say')];
		const steps: Step[] = [...both, { fails: true }, ...both, finish];
		const agentSettings = { retryOnFail: true, maxTries: 2, waitBetweenTries: 10 };
		const rows = PEOPLE.slice(0, 1);
		const { called, outcomes } = await run({ version, rows, tools, steps, agentSettings });
		expect(called).toEqual([ASHA]);
		expect(outcomes).toEqual(['done', 'already_done', 'done', 'done']);
	},
);

test('an MCP client pushes no row, because it has none', async () => {
	const host = await ToolHost.start(n8n);
	const tool = pushTool({ personNameColumn: "={{ $fromAI('phone') }}" });
	const client = await connectMcp(await host.mcpWith(tool));
	expect(await askMcp(client, 'Push', { phone: OTHER })).toMatchObject({ outcome: 'not_sent' });
	expect(simulator.contactsOf(fixtures.campaigns.active)).toEqual([]);
	await client.close();
	await host.stop();
});
