/** Each action as a tool of the AI Agent and MCP Server Trigger nodes: listed with its arguments, and used. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
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
import { agent } from '../contract/contractCase';
import { byId, chain } from '../n8n/workflow';
import { OPERATIONS, operationNamed, useOf } from '../operations/operations';
import { useAccount } from './account';
import { PACKAGE } from './calls';
import { askMcp, connectMcp, ToolHost } from './toolHost';

/** An operation as a tool, and the arguments from the model. */
type Tool = {
	/** In the table of operations. */
	operation: string;
	/** The name of the node on the canvas. */
	name: string;
	type: string;
	parameters: INodeParameters;
	args: Record<string, unknown>;
};

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
	return {
		operation,
		type,
		name: NodeHelpers.makeNodeName(own, form),
		parameters: { ...own, ...Object.fromEntries(left.map(({ field, shown }) => [field, shown])) },
		args: Object.fromEntries(left.map(({ field, arg }) => [field, arg])),
	};
}

const descriptions = z.array(z.custom<INodeTypeDescription>());

const { n8n, simulator, ours, publish } = useAccount({ isMapped: true });
let host: ToolHost;
let client: Client;
let box: Tool[];

beforeAll(async () => {
	host = await ToolHost.start(n8n);
	const webhookId = randomUUID();
	const { triggerSecret: watchSecret = '' } = useOf('chatSession › watch').parameters;
	const watching = { sessions: 'watched', watchSecret };
	await publish(chain('Watching', ours('Events', 'chatEventsTrigger', watching, { webhookId })));
	const forms = descriptions.parse(
		await n8n.request('POST', '/node-types', {
			nodeInfos: uniq(Object.keys(OPERATIONS).map((name) => useOf(name).node)).map((node) => ({
				name: `${PACKAGE}.${node}`,
				version: 1,
			})),
		}),
	);
	const triggerUrl = `${n8n.baseUrl}/webhook/${webhookId}/watch`;
	box = Object.keys(OPERATIONS).map((operation) => {
		const form = forms.find(({ name }) => name.endsWith(useOf(operation).node));
		if (form === undefined) throw new Error(`n8n has no node for ${operation}`);
		const ofTool = { ...form, name: `${form.name}Tool`, outputs: [NodeConnectionTypes.AiTool] };
		return toolOf(operation, ofTool, triggerUrl);
	});
	client = await connectMcp(await host.mcpWith(...box.map(nodeOf)));
});
afterAll(async () => {
	await client.close();
	await host.stop();
});

const nodeOf = ({ name, type, parameters }: Tool): INode => ours(name, `${type}Tool`, parameters);
const toolName = (name: string) => name.replaceAll(' ', '_');

const listed = z.array(
	z.object({
		name: z.string(),
		description: z.string(),
		inputSchema: z.object({ properties: z.record(z.object({ description: z.string() })) }),
	}),
);

/** Checks names, descriptions, and arguments of the listed tools. */
function expectListed(
	seen: Array<{ name: string; description: string; properties: Record<string, object> }>,
): void {
	const byName = (one: { name: string }, other: { name: string }) =>
		one.name < other.name ? -1 : 1;
	expect(
		seen
			.map(({ name, properties }) => ({ name, args: Object.keys(properties).sort() }))
			.sort(byName),
	).toEqual(
		box
			.map(({ name, args }) => ({ name: toolName(name), args: Object.keys(args).sort() }))
			.sort(byName),
	);
	expect(new Set(seen.map(({ description }) => description)).size).toBe(box.length);
	const warned = seen.filter(({ description }) => description.includes('real phone call'));
	const calling = box.filter(({ operation }) => operationNamed(operation).callsPeople === true);
	expect(warned.map(({ name }) => name).sort()).toEqual(
		calling.map(({ name }) => toolName(name)).sort(),
	);
}

test('MCP Server Trigger lists each tool with its description and arguments', async () => {
	const { tools: found } = await client.listTools();
	const described = listed.parse(found).find(({ name }) => name.startsWith('Place_call'));
	expect(formatsIn(described?.description ?? '')).toEqual([
		'Country',
		'Phone Number',
		'When to Call',
	]);
	expectListed(listed.parse(found).map(({ inputSchema, ...one }) => ({ ...one, ...inputSchema })));
});

/** What a description says about the formats of values. */
const formatsIn = (description: string) =>
	[...description.matchAll(/(?<=[.] )([A-Z][A-Za-z ]+): /g)].map(([, label]) => label);

test.each([3.1, 2.2])(
	'AI Agent %s: a description has the formats of the fields that are left to the model, and no others',
	async (version) => {
		const button = (label: string) =>
			`={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${label}', \`\`, 'string') }}`;
		const description = 'Calls a customer of our shop.';
		const calling = ours('Calling', 'placeCallTool', {
			...{ ...agent(), whatToDo: 'place', description, countryCode: 'IN' },
			phoneNumber: button('Phone_Number'),
			when: button('When_to_Call'),
		});
		const listing = ours('Listing', 'getCallTool', {
			operation: 'getMany',
			...{ period: 'between', from: '={{ $now.minus(1, "day") }}' },
			filters: { status: button('Status') },
		});
		const ask = await host.agentWith(version, calling, listing);
		expect(await ask('')).toEqual([]);
		const described = new Map(host.model.offered().map((one) => [one.name, one.description]));
		expect(described.get('Calling')).toMatch(
			/^Calls a customer of our shop\. Phone Number: digits/,
		);
		expect(formatsIn(described.get('Calling') ?? '')).toEqual(['Phone Number', 'When to Call']);
		expect(formatsIn(described.get('Listing') ?? '')).toEqual(['Status']);
	},
);

test('MCP Server Trigger: each tool works', async () => {
	const placed: string[] = [];
	for (const { operation, name, args } of box) {
		simulator.reset();
		const { prepare, outcome = 'done' } = operationNamed(operation);
		prepare?.(simulator);
		const result = await askMcp(client, toolName(name), args);
		expect({ name, ...result }).toMatchObject({ name, outcome });
		placed.push(...simulator.placedCalls().map(() => operation));
	}
	expect(placed).toEqual(['placeCall › place', 'placeCall › askAndWait']);
});

test('AI Agent offers each tool to the model', async () => {
	const ask = await host.agentWith(3.1, ...box.map(nodeOf));
	expect(await ask('')).toEqual([]);
	expectListed(host.model.offered().map(({ parameters, ...one }) => ({ ...one, ...parameters })));
});
