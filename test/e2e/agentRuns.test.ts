import type { INode } from 'n8n-workflow';
import type { Step } from '../n8n/scriptedModel';
import { manualTrigger, node } from '../n8n/workflow';
import { useAccount } from './account';
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
	toolsOf,
	type Arrow,
	useModel,
	uses,
} from './callingAgent';
import { answerQuestions } from './questions';

const account = useAccount();
const { n8n, simulator, credentials } = account;
const { model, modelCredentials } = useModel(n8n);

afterEach(() => simulator.reset());

/** The kind of a node by the beginning of its name. */
const KINDS: { [name: string]: (name: string, version?: number) => INode } = {
	Agent: aiAgent,
	Helper: agentTool,
	Call: (name) => callTool(name, credentials),
	Ask: (name) => callReview(name, credentials),
	Row: (name) => node(name, 'n8n-nodes-base.noOp', 1),
	Sheet: (name) =>
		node(name, 'n8n-nodes-base.set', 3.4, { mode: 'raw', jsonOutput: '{ "rows": [1, 2] }' }),
	Split: (name) => node(name, 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'rows' }),
	Loop: (name) => node(name, 'n8n-nodes-base.splitInBatches', 3),
};

/** The nodes between which there are arrows. */
function nodesOf(arrows: Arrow[], version?: number): INode[] {
	const names = new Set(arrows.flatMap(([from, to]) => [from, to]));
	return [...names].flatMap(
		(name) => KINDS[/^[A-Z][a-z]+/.exec(name)?.[0] ?? '']?.(name, version) ?? [],
	);
}

/** Starts a workflow with an agent whose model follows the script. Returns the execution ID. */
async function start({ arrows, version, script }: Arrangement): Promise<string> {
	const workflow = await account.create({
		name: 'agent runs',
		nodes: [manualTrigger(), chatModel(modelCredentials), ...nodesOf(arrows, version)],
		connections: connect(arrows),
	});
	model.follow(...script);
	await n8n.startManually(workflow, 'Start');
	return await account.executionOf(workflow);
}

type Arrangement = {
	arrows: Arrow[];
	/** Of the agents. */
	version?: number;
	script: Step[];
	/** Answers in the order of the questions. Further answers are "yes". */
	answers?: string[];
	/** The number of calls to the customer and to the other person. */
	calls: [number, number];
};

const reviewed = uses('Agent', ['Ask', 'Call']);
const helper: Step = { calls: [{ tool: 'Helper' }] };
const askedOnce = [callsReviewed('Call', CUSTOMER), finish];
const requestedTwice = [callsDirectly('Call', CUSTOMER), callsDirectly('Call', CUSTOMER), finish];
const toBoth = callsReviewed('Call', CUSTOMER, OTHER);
const twoAgents: Arrow[] = [
	['Start', 'Row'],
	['Row', 'Agent1'],
	['Row', 'Agent2'],
];

const arrangements: { [name: string]: Arrangement } = {
	'two requests at the same time, one denied and then approved': {
		arrows: [['Start', 'Agent'], ...reviewed],
		script: [toBoth, toBoth, finish],
		answers: ['no'],
		calls: [1, 1],
	},
	'an agent that uses another one as a tool, twice': {
		arrows: [['Start', 'Agent'], ...uses('Agent', 'Helper'), ...uses('Helper', 'Call')],
		script: [helper, ...requestedTwice, helper, ...requestedTwice, finish],
		calls: [1, 0],
	},
	'the rounds of a loop': {
		arrows: [
			['Start', 'Sheet'],
			['Sheet', 'Split'],
			['Split', 'Loop'],
			['Loop', 'Agent', 'main', 1],
			['Agent', 'Loop'],
			...reviewed,
		],
		script: [callsReviewed('Call', CUSTOMER), ...askedOnce, ...askedOnce],
		calls: [1, 0],
	},
	'two agents that share a review': {
		arrows: [
			...twoAgents,
			...modelOf('Agent1', 'Agent2'),
			...toolsOf('Agent1', 'Ask'),
			...toolsOf('Agent2', 'Ask'),
			...toolsOf('Ask', 'Call'),
		],
		script: [...askedOnce, ...askedOnce],
		calls: [1, 0],
	},
	'two agents of version 2.2 that share a tool': {
		arrows: [...twoAgents, ...uses('Agent1', 'Call'), ...uses('Agent2', 'Call')],
		version: 2.2,
		script: [...requestedTwice, ...requestedTwice],
		calls: [1, 0],
	},
	'two tools, which know nothing of each other': {
		arrows: [['Start', 'Agent'], ...uses('Agent', 'Call1', ['Ask', 'Call2'])],
		script: [callsDirectly('Call1', CUSTOMER), callsReviewed('Call2', CUSTOMER), finish],
		calls: [2, 0],
	},
};

test.each(Object.entries(arrangements))(
	'a tool calls a person once in an execution: %s',
	async (_name, arrangement) => {
		const id = await start(arrangement);
		const { answers = [], calls } = arrangement;
		expect(await answerQuestions({ n8n, simulator }, id, ...answers)).toBe('success');
		expect([simulator.callsTo(CUSTOMER), simulator.callsTo(OTHER)]).toEqual(calls);
	},
);
