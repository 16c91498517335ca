/** The nodes of an AI Agent that calls people: the agent, its model, and Place Call as a tool. */
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import type { N8nDriver, Reference } from '../n8n/driver';
import { ScriptedModel, type Step } from '../n8n/scriptedModel';
import { byId, node, type Arrow } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { PACKAGE } from './calls';

export const LANGCHAIN = '@n8n/n8n-nodes-langchain';
export const CUSTOMER = '9000000002';
export const OTHER = '9000000003';

export const CALL: INodeParameters = {
	whatToDo: 'place',
	agentUuid: byId(fixtures.agents.full),
	countryCode: 'IN',
};

export const toolResult = z.object({
	outcome: z.string(),
	what_happened: z.string(),
	next_step: z.string(),
	result: z.unknown(),
});
export type ToolResult = z.infer<typeof toolResult>;

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

const modelOf = (...agents: string[]): Arrow[] =>
	agents.map((name) => ['Model', name, 'ai_languageModel']);
/** Offers a workflow as a tool, with a phone number from the model. */
export const workflowTool = (id: string): INode =>
	node('Sub', `${LANGCHAIN}.toolWorkflow`, 2.2, {
		workflowId: byId(id),
		workflowInputs: {
			mappingMode: 'defineBelow',
			value: { phone: "={{ $fromAI('phone') }}" },
			schema: [{ id: 'phone', displayName: 'phone', type: 'string', display: true }],
		},
	});

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
