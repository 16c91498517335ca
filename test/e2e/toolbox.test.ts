/** Each action as a tool of the AI Agent and MCP Server Trigger nodes: listed with its arguments, and used. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { byId, chain } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { askMcp, connectMcp, ToolHost } from './toolHost';

const { agents, calls, campaigns, sessions } = fixtures;

/** A tool, and arguments from the model. */
type Tool = {
	/** The name of the node on the canvas. */
	name: string;
	type: string;
	parameters: INodeParameters;
	args: Record<string, unknown>;
	/** Default: done. */
	outcome?: string;
};

const AGENT = { agentUuid: byId(agents.full) };
const from = (key: string, type = 'string') =>
	`={{ $fromAI('${key}', 'The ${key} of this call', '${type}') }}`;
const call = (operation: string, name: string): Tool => ({
	name: `${name} in Get Call`,
	type: 'getCall',
	parameters: { operation, callId: from('call') },
	args: { call: calls.finished },
});
const dnd = (operation: string, name: string, phone: string): Tool => ({
	name: `${name} DND list in DND List`,
	type: 'dnd',
	parameters: { operation, ...AGENT, phone: from('phone') },
	args: { phone },
});
const session = (
	resource: string,
	operation: string,
	name: string,
	more: INodeParameters = {},
	sessionId: string = sessions.open,
): Tool => ({
	name: `${name} in Chat Session`,
	type: 'chatSession',
	parameters: { resource, operation, sessionId: from('session'), ...more },
	args: { session: sessionId },
});

const tools = (triggerUrl: string): Tool[] => [
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
	},
	{
		name: 'Push Campaign Contacts',
		type: 'pushCampaignContacts',
		parameters: {
			campaignId: byId(from('campaign', 'number')),
			...AGENT,
			whatToDo: 'wait',
			contactsFrom: 'json',
			contacts: from('contacts', 'json'),
		},
		args: { campaign: campaigns.active, contacts: [{ phone: '9876543210', city: 'Pune' }] },
	},
	{
		name: 'Campaign Status',
		type: 'campaignStatus',
		parameters: { campaignId: byId(from('campaign', 'number')) },
		args: { campaign: campaigns.active },
	},
	call('get', 'Get call'),
	call('getRecording', 'Get call recording'),
	call('getTranscript', 'Get call transcript'),
	{
		name: 'Get many calls in Get Call',
		type: 'getCall',
		parameters: { operation: 'getMany', limit: from('limit', 'number') },
		args: { limit: 2 },
	},
	{
		name: 'Check agent availability in Agents',
		type: 'agents',
		parameters: { operation: 'check', agentUuid: byId(from('agent')) },
		args: { agent: agents.full },
	},
	{
		name: 'Get many active agents in Agents',
		type: 'agents',
		parameters: { operation: 'getMany', simplify: 'selected', selectedFields: from('fields') },
		args: { fields: 'agent_name' },
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
	},
	{
		name: 'Send chat message in Chat Send',
		type: 'chatSend',
		parameters: { sessionId: from('session'), message: from('message') },
		args: { session: sessions.open, message: 'Hello' },
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
	},
	{
		name: 'Inject Context',
		type: 'injectContext',
		parameters: { sessionId: from('session'), context: from('context') },
		args: { session: sessions.open, context: 'Asked for a visit' },
	},
	{
		name: 'Create chat session in Chat Session',
		type: 'chatSession',
		parameters: { resource: 'session', operation: 'create', agentUuid: byId(from('agent')) },
		args: { agent: agents.full },
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
	},
	session('legacy', 'legacyPause', 'Pause legacy chat session', AGENT, sessions.dormant),
	session('legacy', 'legacyClose', 'Close legacy chat session', AGENT, sessions.dormant),
	{
		...session('session', 'waitForEvent', 'Wait for chat session event', {
			timeLimit: 1,
			// The tools before it cause other events.
			eventTypes: ['nudge_sent'],
		}),
		outcome: 'timed_out',
	},
	session('watchList', 'watch', 'Watch chat session', { triggerUrl, triggerSecret: 'sesame' }),
	session('watchList', 'unwatch', 'Stop watching chat session', {
		triggerUrl,
		triggerSecret: 'sesame',
	}),
	{
		...session('session', 'supportCommand', 'Send support command to chat session', {
			command: from('command'),
		}),
		args: { session: sessions.inactiveAgent, command: 'close' },
	},
	session('session', 'close', 'Close chat session'),
];

const { n8n, simulator, ours, publish } = useAccount({ isMapped: true });
let host: ToolHost;
let client: Client;
let box: Tool[];

beforeAll(async () => {
	host = await ToolHost.start(n8n);
	const webhookId = randomUUID();
	const watching = { sessions: 'watched', watchSecret: 'sesame' };
	await publish(chain('Watching', ours('Events', 'chatEventsTrigger', watching, { webhookId })));
	box = tools(`${n8n.baseUrl}/webhook/${webhookId}/watch`);
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
	expect(warned.map(({ name }) => name).sort()).toEqual([
		'Place_call_in_Place_Call',
		'Push_Campaign_Contacts',
		'Remove_number_from_DND_list_in_DND_List',
	]);
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
			...{ ...AGENT, description, countryCode: 'IN' },
			phoneNumber: button('Phone_Number'),
			when: button('When_to_Call'),
		});
		const listing = ours('Listing', 'getCallTool', {
			operation: 'getMany',
			filters: { status: button('Status'), from: '={{ $now.minus(1, "day") }}' },
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
	const interaction = { id: 'interaction_1', options: ['yes', 'no'], answered: false };
	simulator.sessions.get(sessions.open).interactions.set(interaction.id, interaction);
	for (const { name, args, outcome = 'done' } of box) {
		const result = await askMcp(client, toolName(name), args);
		expect({ name, ...result }).toMatchObject({ name, outcome });
	}
	expect(simulator.placedCalls()).toHaveLength(1);
});

test('AI Agent offers each tool to the model', async () => {
	const ask = await host.agentWith(3.1, ...box.map(nodeOf));
	expect(await ask('')).toEqual([]);
	expectListed(host.model.offered().map(({ parameters, ...one }) => ({ ...one, ...parameters })));
});
