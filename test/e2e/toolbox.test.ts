/** Each action as a tool in the AI Agent and MCP Server Trigger nodes: listed, used correctly, and used with a mistake. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import { byId, node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { PACKAGE, removeWorkflow } from './calls';
import { sharedN8n } from './shared';
import { askMcp, connectMcp, ToolHost, type ToolResult } from './toolHost';

const { agents, calls, campaigns, sessions } = fixtures;

type Args = Record<string, unknown>;

/** A tool, valid arguments from the model, and arguments with a mistake. */
type Tool = {
	/** The name of the node on the canvas. */
	name: string;
	type: string;
	parameters: INodeParameters;
	args: Args;
	outcome?: string;
	mistake: Args;
	expected: { outcome: string; what_happened: string };
};

const AGENT = { agentUuid: { __rl: true, mode: 'id', value: agents.full } };
const from = (key: string, type = 'string') =>
	`={{ $fromAI('${key}', 'The ${key} of this call', '${type}') }}`;
const noSuchCall = {
	mistake: { call: 'none/such' },
	expected: {
		outcome: 'not_sent',
		what_happened: '\'Call ID\' must be the ID of a call (got "none/such")',
	},
};
const noSession = {
	mistake: { session: 'mine' },
	expected: { outcome: 'not_sent', what_happened: "isn't a session ID" },
};
const noPhone = {
	mistake: { phone: 'n/a' },
	expected: { outcome: 'not_sent', what_happened: 'Phone' },
};
const call = (operation: string, name: string): Tool => ({
	name: `${name} in Get Call`,
	type: 'getCall',
	parameters: { operation, callId: from('call') },
	args: { call: calls.finished },
	...noSuchCall,
});
const dnd = (operation: string, name: string, phone: string): Tool => ({
	name: `${name} DND list in DND List`,
	type: 'dnd',
	parameters: { operation, ...AGENT, phone: from('phone') },
	args: { phone },
	...noPhone,
});
const session = (resource: string, operation: string, name: string, more = {}): Tool => ({
	name: `${name} in Chat Session`,
	type: 'chatSession',
	parameters: { resource, operation, sessionId: from('session'), ...more },
	args: { session: sessions.open },
	...noSession,
});

let trigger = '';

const tools = (): Tool[] => [
	{
		name: 'Place call in Place Call',
		type: 'placeCall',
		parameters: {
			...AGENT,
			countryCode: from('country'),
			phoneNumber: from('phone'),
			when: from('when'),
			options: { maximumCallsPerRun: 5 },
		},
		args: { country: 'IN', phone: '9876543210', when: '18:30' },
		mistake: { country: 'India', phone: '9876543210', when: 'now' },
		expected: {
			outcome: 'not_sent',
			what_happened: '\'Country\' must be a country code (got "India")',
		},
	},
	{
		name: 'Push Campaign Contacts',
		type: 'pushCampaignContacts',
		parameters: {
			campaignId: byId(from('campaign', 'number')),
			...AGENT,
			contactsFrom: 'json',
			contacts: from('contacts', 'json'),
		},
		args: { campaign: campaigns.active, contacts: [{ phone: '9876543210', city: 'Pune' }] },
		mistake: { campaign: campaigns.archived, contacts: [{ phone: '9876543211' }] },
		expected: { outcome: 'rejected', what_happened: 'archived' },
	},
	{
		name: 'Campaign Status',
		type: 'campaignStatus',
		parameters: { campaignId: byId(from('campaign', 'number')) },
		args: { campaign: campaigns.active },
		mistake: { campaign: -1 },
		expected: { outcome: 'not_sent', what_happened: "'Campaign'" },
	},
	call('get', 'Get call'),
	call('getRecording', 'Get call recording'),
	call('getTranscript', 'Get call transcript'),
	{
		name: 'Get many calls in Get Call',
		type: 'getCall',
		parameters: { operation: 'getMany', limit: from('limit', 'number') },
		args: { limit: 2 },
		mistake: { limit: 0 },
		expected: { outcome: 'not_sent', what_happened: "'Limit' must be at least 1" },
	},
	{
		name: 'Check agent availability in Agents',
		type: 'agents',
		parameters: { operation: 'check', agentUuid: { __rl: true, mode: 'id', value: from('agent') } },
		args: { agent: agents.full },
		mistake: { agent: 'Asha' },
		expected: { outcome: 'not_sent', what_happened: 'Asha' },
	},
	{
		name: 'Get many active agents in Agents',
		type: 'agents',
		parameters: {
			operation: 'getMany',
			simplify: 'selected',
			selectedFields: from('fields'),
		},
		args: { fields: 'agent_name' },
		mistake: { fields: ',' },
		expected: { outcome: 'not_sent', what_happened: "'Fields' is empty" },
	},
	dnd('add', 'Add number to', '+919000000009'),
	dnd('check', 'Check number against', fixtures.dndPhone),
	dnd('checkMany', 'Check many numbers against', fixtures.dndPhone),
	dnd('remove', 'Remove number from', fixtures.dndPhone),
	{
		name: 'Get many numbers from DND list in DND List',
		type: 'dnd',
		parameters: { operation: 'getMany', ...AGENT, limit: from('limit', 'number') },
		args: { limit: 2 },
		mistake: { limit: 0 },
		expected: { outcome: 'not_sent', what_happened: "'Limit' must be at least 1" },
	},
	{
		name: 'Send chat message in Chat Send',
		type: 'chatSend',
		parameters: { sessionId: from('session'), message: from('message') },
		args: { session: sessions.open, message: 'Hello' },
		mistake: { session: sessions.closed, message: 'Hello' },
		expected: { outcome: 'not_sent', what_happened: 'closed' },
	},
	{
		name: 'Answer interactive chat message in Chat Send',
		type: 'chatSend',
		parameters: {
			operation: 'answerInteraction',
			sessionId: from('session'),
			interactionId: from('question'),
			optionId: from('option'),
		},
		args: { session: sessions.open, question: 'interaction_1', option: 'yes' },
		mistake: { session: sessions.open, question: 'interaction_9', option: 'yes' },
		expected: { outcome: 'rejected', what_happened: 'rejected this answer' },
	},
	{
		name: 'Inject Context',
		type: 'injectContext',
		parameters: { sessionId: from('session'), context: from('context') },
		args: { session: sessions.open, context: 'Asked for a visit' },
		mistake: { session: sessions.open, context: ' ' },
		expected: { outcome: 'not_sent', what_happened: 'Context' },
	},
	{
		name: 'Create chat session in Chat Session',
		type: 'chatSession',
		parameters: {
			resource: 'session',
			operation: 'create',
			agentUuid: { __rl: true, mode: 'id', value: from('agent') },
		},
		args: { agent: agents.full },
		mistake: { agent: agents.foreign },
		expected: { outcome: 'rejected', what_happened: 'no such agent' },
	},
	{
		name: 'Create legacy chat session in Chat Session',
		type: 'chatSession',
		parameters: {
			resource: 'legacy',
			operation: 'legacyCreate',
			...AGENT,
			metadata: from('metadata', 'json'),
		},
		args: { metadata: { source: 'website' } },
		mistake: { metadata: ['website'] },
		expected: { outcome: 'not_sent', what_happened: "'Metadata' must be a JSON object" },
	},
	...(['Pause', 'Close'] as const).map((what) => ({
		...session('legacy', `legacy${what}`, `${what} legacy chat session`, AGENT),
		args: { session: sessions.dormant },
		mistake: { session: ' ' },
		expected: { outcome: 'not_sent', what_happened: 'Session ID' },
	})),
	{
		...session('session', 'waitForEvent', 'Wait for chat session event', { timeLimit: 1 }),
		outcome: 'timed_out',
	},
	session('watchList', 'watch', 'Watch chat session', {
		triggerUrl: trigger,
		triggerSecret: 'sesame',
	}),
	session('watchList', 'unwatch', 'Stop watching chat session', {
		triggerUrl: trigger,
		triggerSecret: 'sesame',
	}),
	{
		...session('session', 'supportCommand', 'Send support command to chat session', {
			command: from('command'),
		}),
		args: { session: sessions.inactiveAgent, command: 'close' },
		mistake: { session: sessions.inactiveAgent, command: ' ' },
		expected: { outcome: 'not_sent', what_happened: 'Command' },
	},
	session('session', 'close', 'Close chat session'),
];

let n8n: N8nDriver;
let simulator: Simulator;
let host: ToolHost;
let credential: Reference;
let watching: Workflow;

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain, token: 'toolbox-token-01' });
	credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
	host = await ToolHost.start(n8n);
	const webhookId = randomUUID();
	trigger = `${n8n.baseUrl}/webhook/${webhookId}/watch`;
	const events = node(
		'Events',
		`${PACKAGE}.chatEventsTrigger`,
		1,
		{ sessions: 'watched', watchSecret: 'sesame' },
		{ webhookId, credentials: { [CREDENTIAL]: credential } },
	);
	watching = await n8n.createWorkflow({ name: 'Watching', nodes: [events], connections: {} });
	await n8n.activate(watching);
});
afterAll(async () => {
	await host.stop();
	await removeWorkflow(n8n, watching);
	await n8n.request('DELETE', `/credentials/${credential.id}`);
	await simulator.stop();
});

const nodeOf = ({ name, type, parameters }: Tool): INode =>
	node(name, `${PACKAGE}.${type}Tool`, 1, parameters, {
		credentials: { [CREDENTIAL]: credential },
	});
const toolName = (name: string) => name.replaceAll(' ', '_');

/** Adds an interactive message to the session. */
function addInteraction(): void {
	const interaction = { id: 'interaction_1', options: ['yes', 'no'], answered: false };
	simulator.sessions.get(sessions.open).interactions.set(interaction.id, interaction);
}

/** Words for things that only a person in the editor can do. */
const ON_SCREEN =
	/\b(turn (it )?(on|off)|this item|[Dd]rag|Options →|open the node|in Options|the switch)\b/i;

function expectResults(one: Tool, right: ToolResult | undefined, wrong: ToolResult | undefined) {
	expect({ tool: one.name, outcome: right?.outcome, message: right?.what_happened }).toMatchObject({
		tool: one.name,
		outcome: one.outcome ?? 'done',
	});
	expect({ tool: one.name, ...wrong }).toMatchObject({
		tool: one.name,
		outcome: one.expected.outcome,
		what_happened: expect.stringContaining(one.expected.what_happened),
	});
	expect(`${wrong?.what_happened} ${wrong?.next_step}`).not.toMatch(ON_SCREEN);
}

const listed = z.array(
	z.object({
		name: z.string(),
		description: z.string(),
		inputSchema: z.object({ properties: z.record(z.object({ description: z.string() })) }),
	}),
);

/** Checks names, descriptions, and arguments of the listed tools. */
function expectListed(
	expectedTools: Tool[],
	seen: Array<{ name: string; description: string; properties: Record<string, object> }>,
): void {
	expect(seen.map(({ name }) => name).sort()).toEqual(
		expectedTools.map(({ name }) => toolName(name)).sort(),
	);
	expect(new Set(seen.map(({ description }) => description)).size).toBe(expectedTools.length);
	const warned = seen.filter(({ description }) => description.includes('real phone call'));
	expect(warned.map(({ name }) => name).sort()).toEqual([
		'Place_call_in_Place_Call',
		'Push_Campaign_Contacts',
		'Remove_number_from_DND_list_in_DND_List',
	]);
	for (const { name, args } of expectedTools) {
		const properties = seen.find((one) => one.name === toolName(name))?.properties;
		expect({ name, args: Object.keys(properties ?? {}).sort() }).toEqual({
			name,
			args: Object.keys(args).sort(),
		});
	}
}

describe('MCP Server Trigger', () => {
	let client: Client;

	beforeAll(async () => {
		simulator.reset();
		client = await connectMcp(await host.mcpWith(...tools().map(nodeOf)));
	});
	afterAll(async () => await client.close());

	test('lists each tool with its description and arguments', async () => {
		const { tools: found } = await client.listTools();
		const seen = listed.parse(found).map(({ inputSchema, ...one }) => ({ ...one, ...inputSchema }));
		expectListed(tools(), seen);
	});

	test('each tool works, and explains a mistake', async () => {
		for (const one of tools()) {
			addInteraction();
			const name = toolName(one.name);
			const wrong = await askMcp(client, name, one.mistake);
			const right = await askMcp(client, name, one.args);
			expectResults(one, right, wrong);
		}
		expect(simulator.placedCalls()).toHaveLength(1);
	});
});

test('AI Agent: the model gets each tool and the results of its tool requests', async () => {
	simulator.reset();
	addInteraction();
	const box = tools();
	const ask = await host.agentWith(3.1, ...box.map(nodeOf));
	const steps = box.flatMap(({ name, args, mistake }) =>
		[mistake, args].map((one) => ({ calls: [{ tool: toolName(name), args: one }] })),
	);
	const results = await ask('', ...steps);
	expectListed(
		box,
		host.model.offered().map(({ parameters, ...one }) => ({ ...one, ...parameters })),
	);
	expect(results).toHaveLength(steps.length);
	for (const [index, one] of box.entries()) {
		expectResults(one, results[2 * index + 1], results[2 * index]);
	}
	expect(simulator.placedCalls()).toHaveLength(1);
});
