/** The nodes of an AI Agent that calls people: the agent, its model, and Place Call as a tool. */
import type { IConnections, INode, INodeParameters } from 'n8n-workflow';
import type { N8nDriver, Reference } from '../n8n/driver';
import { ScriptedModel, type Step } from '../n8n/scriptedModel';
import { node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { PACKAGE } from './calls';

const LANGCHAIN = '@n8n/n8n-nodes-langchain';
export const CUSTOMER = '9000000002';
export const OTHER = '9000000003';

export const CALL: INodeParameters = {
	whatToDo: 'place',
	agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
	countryCode: 'IN',
};

type Credentials = Record<string, Reference>;

/** Starts a scripted model, and creates a credential for it. */
export async function startModel(n8n: N8nDriver, model = new ScriptedModel()) {
	const key = { apiKey: 'none', url: await model.listen() };
	return { model, modelCredentials: { openAiApi: await n8n.createCredential('openAiApi', key) } };
}

/** For the tests of a file: the same. The credential is added to these. */
export function useModel(n8n: N8nDriver, modelCredentials: Credentials = {}) {
	const model = new ScriptedModel();
	beforeAll(async () => {
		Object.assign(modelCredentials, (await startModel(n8n, model)).modelCredentials);
	});
	afterAll(async () => await model.stop());
	return { model, modelCredentials };
}

export const chatModel = (credentials: Credentials, options: INodeParameters = {}): INode =>
	node(
		'Model',
		`${LANGCHAIN}.lmChatOpenAi`,
		1.2,
		{ model: { __rl: true, mode: 'id', value: 'scripted' }, options },
		{ credentials },
	);

export const aiAgent = (
	name = 'Agent',
	version = 3.1,
	parameters: INodeParameters = { text: 'Go' },
): INode => node(name, `${LANGCHAIN}.agent`, version, { promptType: 'define', ...parameters });

/** An agent that another agent uses as its tool. */
export const agentTool = (name: string): INode =>
	node(name, `${LANGCHAIN}.agentTool`, 3, { text: 'Go' });

/** A tool with a phone number from the model. */
export const callTool = (name: string, credentials: Credentials): INode =>
	node(
		name,
		`${PACKAGE}.placeCallTool`,
		1,
		{ ...CALL, phoneNumber: "={{ $fromAI('phone') }}" },
		{ credentials },
	);

type Link = 'main' | 'ai_tool' | 'ai_languageModel';
/** A connection between two nodes: its type, and the index of the output. */
export type Arrow = [from: string, to: string, type?: Link, output?: number];

export function connect(arrows: Arrow[]): IConnections {
	const connections: IConnections = {};
	for (const [from, to, type = 'main', output = 0] of arrows) {
		const outputs = ((connections[from] ??= {})[type] ??= []);
		while (outputs.length <= output) outputs.push([]);
		outputs[output]?.push({ node: to, type, index: 0 });
	}
	return connections;
}

export const modelOf = (...agents: string[]): Arrow[] =>
	agents.map((name) => ['Model', name, 'ai_languageModel']);
export const toolsOf = (user: string, ...tools: string[]): Arrow[] =>
	tools.map((name) => [name, user, 'ai_tool']);

/** An agent with its model and its tools, some of them behind a review. */
export const uses = (
	agent: string,
	...tools: Array<string | [review: string, tool: string]>
): Arrow[] => [
	...modelOf(agent),
	...tools.flatMap((tool) =>
		typeof tool === 'string'
			? toolsOf(agent, tool)
			: [...toolsOf(agent, tool[0]), ...toolsOf(...tool)],
	),
];

/** A response of the model that requests a tool. */
export const callsDirectly = (tool: string, phone: string): Step => ({
	calls: [{ tool, args: { phone } }],
});
export const finish: Step = { text: 'done' };
