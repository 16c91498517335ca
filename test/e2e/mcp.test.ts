/** Each action as a tool of n8n's MCP Server Trigger and AI Agent: listed with its arguments, and used. */
import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import sortBy from 'lodash/sortBy';
import uniq from 'lodash/uniq';
import {
	isResourceLocatorValue,
	NodeConnectionTypes,
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { z } from 'zod';
import { until } from '../n8n/until';
import { byId, chain, connect, node, subTrigger } from '../n8n/workflow';
import { OPERATIONS, operationNamed, useOf } from '../operations/operations';
import { useAccount } from './account';
import { PACKAGE } from './calls';
import {
	aiAgent,
	callTool,
	chatModel,
	CUSTOMER,
	finish,
	LANGCHAIN,
	OTHER,
	toolResult,
	toolsOf,
	useModel,
	uses,
	workflowTool,
	type ToolResult,
} from './callingAgent';
import { flowOnRows } from './rowRun';

const account = useAccount({ isMapped: true });
const { n8n, simulator, ours, publish } = account;
const { model, modelCredentials } = useModel(n8n);

const clients: Client[] = [];
afterAll(async () => {
	for (const client of clients) await client.close();
});

/** Publishes an MCP Server Trigger with the tools. Returns its URL. */
async function publishMcp(...tools: INode[]): Promise<URL> {
	const path = randomUUID();
	const trigger = node('MCP', `${LANGCHAIN}.mcpTrigger`, 2.1, { path }, { webhookId: path });
	const connections = connect(toolsOf('MCP', ...tools.map(({ name }) => name)));
	await publish({ name: `mcp ${path}`, nodes: [trigger, ...tools], connections });
	return new URL(`${n8n.baseUrl}/mcp/${path}`);
}

/** A new session. */
async function connectTo(url: URL): Promise<Client> {
	return await until('the MCP server', async () => {
		const client = new Client({ name: 'test', version: '1.0.0' });
		await client.connect(new StreamableHTTPClientTransport(url));
		clients.push(client);
		return client;
	});
}

const content = z.object({ content: z.tuple([z.object({ text: z.string() })]) });
const oneResult = z.tuple([toolResult.strict()]);

async function ask(client: Client, name: string, args: object): Promise<ToolResult> {
	const response = await client.callTool({ name, arguments: { ...args } });
	const [{ text }] = content.parse(response).content;
	return oneResult.parse(JSON.parse(text))[0];
}

/** An operation as a tool, and the arguments from the model. */
type Tool = { operation: string; node: INode; args: Record<string, unknown> };

const leftToModel = (name: string, type: string) =>
	`={{ $fromAI('${name}', 'The ${name} of this call', '${type}') }}`;

/** The operation with its fields left to the model, and their values as arguments. */
function toolOf(operation: string, form: INodeTypeDescription, triggerUrl: string): Tool {
	const { byModel, asTool = {} } = operationNamed(operation);
	const { node: type, parameters } = useOf(operation);
	const used: INodeParameters = {
		...parameters,
		...asTool,
		...('triggerUrl' in parameters && { triggerUrl }),
	};
	const own = NodeHelpers.getNodeParameters(form.properties, used, true, false, null, form) ?? used;
	const left = byModel.map((field) => {
		const value = own[field];
		if (isResourceLocatorValue(value))
			return { field, arg: value.value, shown: byId(leftToModel(field, 'string')) };
		const isJson = typeof value === 'string' && /^[[{]/.test(value);
		const arg: unknown = isJson ? JSON.parse(value) : value;
		return { field, arg, shown: leftToModel(field, isJson ? 'json' : typeof value) };
	});
	const shown = Object.fromEntries(left.map((one) => [one.field, one.shown]));
	return {
		operation,
		node: ours(NodeHelpers.makeNodeName(own, form), `${type}Tool`, { ...own, ...shown }),
		args: Object.fromEntries(left.map(({ field, arg }) => [field, arg])),
	};
}

const toolName = ({ node: { name } }: Tool) => name.replaceAll(' ', '_');

describe('each action', () => {
	let tools: Tool[];
	let client: Client;

	beforeAll(async () => {
		const webhookId = randomUUID();
		const { triggerSecret: watchSecret = '' } = useOf('chatSession › watch').parameters;
		const watching = { sessions: 'watched', watchSecret };
		await publish(chain('Watching', ours('Events', 'chatEventsTrigger', watching, { webhookId })));
		const names = Object.keys(OPERATIONS);
		const types = uniq(names.map((name) => useOf(name).node));
		const nodeInfos = types.map((type) => ({ name: `${PACKAGE}.${type}`, version: 1 }));
		const forms = z
			.array(z.custom<INodeTypeDescription>())
			.parse(await n8n.request('POST', '/node-types', { nodeInfos }));
		const triggerUrl = `${n8n.baseUrl}/webhook/${webhookId}/watch`;
		tools = names.map((operation) => {
			const form = forms.find(({ name }) => name.endsWith(useOf(operation).node));
			if (form === undefined) throw new Error(`n8n has no node for ${operation}`);
			const ofTool = { ...form, name: `${form.name}Tool`, outputs: [NodeConnectionTypes.AiTool] };
			return toolOf(operation, ofTool, triggerUrl);
		});
		client = await connectTo(await publishMcp(...tools.map((tool) => tool.node)));
	});

	/** Expects each tool once, with its arguments and a description of its own. */
	function expectListed(
		seen: Array<{ name: string; description: string; properties: object }>,
	): void {
		const argsOf = (names: object) => Object.keys(names).sort();
		const listed = seen.map(({ name, properties }) => ({ name, args: argsOf(properties) }));
		const expected = tools.map((tool) => ({ name: toolName(tool), args: argsOf(tool.args) }));
		expect(sortBy(listed, 'name')).toEqual(sortBy(expected, 'name'));
		expect(new Set(seen.map(({ description }) => description)).size).toBe(tools.length);
		const warned = seen.filter(({ description }) => description.includes('real phone call'));
		const calling = tools.filter(({ operation }) => operationNamed(operation).callsPeople === true);
		expect(warned.map(({ name }) => name).sort()).toEqual(calling.map(toolName).sort());
	}

	test('is listed by MCP Server Trigger with its description and arguments', async () => {
		const listed = z.array(
			z.object({
				name: z.string(),
				description: z.string(),
				inputSchema: z.object({ properties: z.object({}).passthrough() }),
			}),
		);
		const { tools: found } = await client.listTools();
		expectListed(
			listed.parse(found).map(({ inputSchema, ...one }) => ({ ...one, ...inputSchema })),
		);
	});

	test('is offered to the model by AI Agent', async () => {
		const names = tools.map((tool) => tool.node.name);
		const nodes = [aiAgent(), chatModel(modelCredentials), ...tools.map((tool) => tool.node)];
		const flow = flowOnRows([{}], nodes, [['Rows', 'Agent'], ...uses('Agent', ...names)]);
		model.follow(finish);
		await n8n.runManually(await account.create(flow), 'Start');
		expectListed(model.offered().map(({ parameters, ...one }) => ({ ...one, ...parameters })));
	});

	test('works over MCP Server Trigger', async () => {
		const placed: string[] = [];
		for (const tool of tools) {
			simulator.reset();
			const { prepare, outcome = 'done' } = operationNamed(tool.operation);
			prepare?.(simulator);
			const result = await ask(client, toolName(tool), tool.args);
			expect({ name: tool.operation, ...result }).toMatchObject({ name: tool.operation, outcome });
			placed.push(...simulator.placedCalls().map(() => tool.operation));
		}
		expect(placed).toEqual(['placeCall › place', 'placeCall › askAndWait']);
	});
});

test('an MCP client calls a person once in a session, also at the same time, and again in another session', async () => {
	simulator.reset();
	const url = await publishMcp(callTool('Call', account.credentials));
	const client = await connectTo(url);
	const call = async (phone: string, session = client) =>
		(await ask(session, 'Call', { phone })).outcome;
	const results = await Promise.all([1, 2, 3].map(async () => await call(CUSTOMER)));
	results.push(await call(CUSTOMER));
	// n8n has no record of a session, so a repeat may have been sent.
	expect(results.sort()).toEqual(['done', 'unknown', 'unknown', 'unknown']);
	expect(simulator.callsTo(CUSTOMER)).toBe(1);
	expect(await call(OTHER)).toBe('done');
	expect(await call(CUSTOMER, await connectTo(url))).toBe('done');
	expect(simulator.callsTo(CUSTOMER)).toBe(2);
});

/** n8n doesn't store the execution in which an MCP client uses a tool. */
test("Place Call runs in a workflow that n8n's Call n8n Workflow Tool offers to an MCP client", async () => {
	const sub = await publish(chain('calls', subTrigger(), account.placeCall()));
	const client = await connectTo(await publishMcp(workflowTool(sub.id)));
	const { isError } = await client.callTool({ name: 'Sub', arguments: { phone: CUSTOMER } });
	expect(isError).toBeUndefined();
	const id = await account.executionOf(sub);
	expect((await n8n.runData(id)).error).toBeUndefined();
	expect(await n8n.output(id, 'Place Call')).toHaveLength(1);
});
