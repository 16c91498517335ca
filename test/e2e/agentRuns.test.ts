import type { INode } from 'n8n-workflow';
import type { Step } from '../n8n/scriptedModel';
import { manualTrigger, node } from '../n8n/workflow';
import { useAccount } from './account';
import {
	aiAgent,
	agentTool,
	callTool,
	callsDirectly,
	chatModel,
	connect,
	CUSTOMER,
	finish,
	type Arrow,
	useModel,
	uses,
} from './callingAgent';

const account = useAccount();
const { n8n, simulator, credentials } = account;
const { model, modelCredentials } = useModel(n8n);

afterEach(() => simulator.reset());

/** The kind of a node by the beginning of its name. */
const KINDS: { [name: string]: (name: string, version?: number) => INode } = {
	Agent: aiAgent,
	Helper: agentTool,
	Call: (name) => callTool(name, credentials),
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
	/** The number of calls to the customer. */
	calls: number;
};

const helper: Step = { calls: [{ tool: 'Helper' }] };
const requestedOnce = [callsDirectly('Call', CUSTOMER), finish];
const requestedTwice = [callsDirectly('Call', CUSTOMER), callsDirectly('Call', CUSTOMER), finish];
const twoAgents: Arrow[] = [
	['Start', 'Row'],
	['Row', 'Agent1'],
	['Row', 'Agent2'],
];

const arrangements: { [name: string]: Arrangement } = {
	'an agent that uses another one as a tool, twice': {
		arrows: [['Start', 'Agent'], ...uses('Agent', 'Helper'), ...uses('Helper', 'Call')],
		script: [helper, ...requestedTwice, helper, ...requestedTwice, finish],
		calls: 1,
	},
	'the rounds of a loop': {
		arrows: [
			['Start', 'Sheet'],
			['Sheet', 'Split'],
			['Split', 'Loop'],
			['Loop', 'Agent', 'main', 1],
			['Agent', 'Loop'],
			...uses('Agent', 'Call'),
		],
		script: [callsDirectly('Call', CUSTOMER), ...requestedOnce, ...requestedOnce],
		calls: 1,
	},
	'two agents of version 2.2 that share a tool': {
		arrows: [...twoAgents, ...uses('Agent1', 'Call'), ...uses('Agent2', 'Call')],
		version: 2.2,
		script: [...requestedTwice, ...requestedTwice],
		calls: 1,
	},
	'two tools, which know nothing of each other': {
		arrows: [['Start', 'Agent'], ...uses('Agent', 'Call1', 'Call2')],
		script: [callsDirectly('Call1', CUSTOMER), callsDirectly('Call2', CUSTOMER), finish],
		calls: 2,
	},
};

test.each(Object.entries(arrangements))(
	'a tool calls a person once in an execution: %s',
	async (_name, arrangement) => {
		const id = await start(arrangement);
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		expect(simulator.callsTo(CUSTOMER)).toBe(arrangement.calls);
	},
);
