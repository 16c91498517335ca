/** Clients of tools: an AI Agent with a scripted model, and a client of the MCP Server Trigger. */
import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { INode } from 'n8n-workflow';
import { z } from 'zod';
import type { N8nDriver, Reference, Workflow } from '../n8n/driver';
import type { ScriptedModel, Step } from '../n8n/scriptedModel';
import { until } from '../n8n/until';
import { node, webhook } from '../n8n/workflow';
import {
	aiAgent,
	chatModel,
	connect,
	finish,
	modelOf,
	startModel,
	toolsOf,
	type Arrow,
} from './callingAgent';

const LANGCHAIN = '@n8n/n8n-nodes-langchain';

export const toolResult = z.object({
	outcome: z.string(),
	what_happened: z.string(),
	next_step: z.string(),
	result: z.unknown(),
});
export type ToolResult = z.infer<typeof toolResult>;

/** The call of a tool result. */
export const callIdOf = ({ result }: ToolResult): string | undefined =>
	z.object({ call_id: z.string() }).safeParse(result).data?.call_id;

const mcpContent = z.tuple([z.object({ text: z.string() })]);
const ofMcpClient = z
	.tuple([z.object({ response: mcpContent })])
	.transform(([{ response }]) => response[0].text);

/** Parses the tool result of a model: a list with one item, as text. n8n's MCP Client returns the content of MCP with it. */
function readResult(text: string): ToolResult {
	const parsed: unknown = JSON.parse(text);
	const inContent = ofMcpClient.safeParse(parsed);
	if (inContent.success) return readResult(inContent.data);
	const [item, ...others] = z.array(toolResult.strict()).parse(parsed);
	expect(others).toEqual([]);
	if (item === undefined) throw new Error(`The tool result is empty: ${text}`);
	return item;
}

/** Runs the agent for a row with a scripted model. Returns the tool results. */
export type AskAgent = (row: string, ...script: Step[]) => Promise<ToolResult[]>;

export class ToolHost {
	private readonly made: Workflow[] = [];

	private constructor(
		private readonly n8n: N8nDriver,
		readonly model: ScriptedModel,
		private readonly modelCredentials: Record<string, Reference>,
	) {}

	static async start(n8n: N8nDriver): Promise<ToolHost> {
		const { model, modelCredentials } = await startModel(n8n);
		return new ToolHost(n8n, model, modelCredentials);
	}

	async stop(): Promise<void> {
		for (const workflow of this.made) await this.n8n.deleteWorkflow(workflow);
		await this.model.stop();
	}

	/** Webhook → AI Agent with the tools, and the scripted model. */
	async agentWith(version: number, ...tools: INode[]): Promise<AskAgent> {
		const path = randomUUID();
		const agent = aiAgent('Agent', version, {
			text: '={{ $json.body.text }}',
			options: { maxIterations: 100 },
		});
		const edit = node('Row', 'n8n-nodes-base.set', 3.4, {
			mode: 'raw',
			jsonOutput: '={{ { phone: $json.body.phone } }}',
			includeOtherFields: true,
		});
		const nodes = [webhook(path), edit, agent, chatModel(this.modelCredentials), ...tools];
		await this.activate(`agent ${version} ${path}`, nodes, [
			['Webhook', 'Row'],
			['Row', 'Agent'],
			...modelOf('Agent'),
			...toolsOf('Agent', ...tools.map(({ name }) => name)),
		]);
		return async (row, ...script) => {
			this.model.follow(...script, finish);
			const response = await this.n8n.webhook(path, { text: 'Go', phone: row });
			if (!response.ok)
				throw new Error(`The workflow of the agent failed: ${await response.text()}`);
			return this.model.toolResults().map(readResult);
		};
	}

	/** Publishes an MCP Server Trigger with the tools. Returns its URL. */
	async mcpWith(...tools: INode[]): Promise<URL> {
		const path = randomUUID();
		const trigger = node('MCP', `${LANGCHAIN}.mcpTrigger`, 2.1, { path }, { webhookId: path });
		const names = tools.map(({ name }) => name);
		await this.activate(`mcp ${path}`, [trigger, ...tools], toolsOf('MCP', ...names));
		return new URL(`${this.n8n.baseUrl}/mcp/${path}`);
	}

	private async activate(name: string, nodes: INode[], arrows: Arrow[]): Promise<void> {
		const workflow = await this.n8n.createWorkflow({ name, nodes, connections: connect(arrows) });
		this.made.push(workflow);
		await this.n8n.activate(workflow);
	}
}

export async function connectMcp(url: URL): Promise<Client> {
	return await until('the MCP server', async () => {
		const client = new Client({ name: 'test', version: '1.0.0' });
		await client.connect(new StreamableHTTPClientTransport(url));
		return client;
	});
}

export async function askMcp(
	client: Client,
	name: string,
	args: Record<string, unknown>,
): Promise<ToolResult> {
	const result = await client.callTool({ name, arguments: args });
	const { content } = z.object({ content: mcpContent }).parse(result);
	return readResult(content[0].text);
}
