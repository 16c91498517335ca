import { randomUUID } from 'node:crypto';
import type { Account } from '../../e2e/account';
import { post } from '../../e2e/calls';
import { sharedN8n } from '../../e2e/shared';
import { packageName } from '../../n8n/package-install';
import { until } from '../../n8n/until';
import { connect, manualTrigger, node, type Arrow } from '../../n8n/workflow';
import { fixtures, type Simulator } from '../../simulator';
import type { Editor } from '../editor';

/** A node as a person uses it, and a text in the output. firstClicks.ts has the others. */
type Case = {
	node: string;
	fill?: (editor: Editor) => Promise<void>;
	shown: string;
};

const { agents, calls, campaigns, sessions } = fixtures;
const AGENT = 'Sales India';

const actions: Case[] = [
	{
		node: 'Get Call',
		fill: async (editor) => editor.write('callId', calls.finished),
		shown: calls.finished,
	},
	{
		node: 'Campaign Status',
		fill: async (editor) => editor.enterId('campaignId', String(campaigns.active)),
		shown: 'connect_rate',
	},
	{
		node: 'Dnd',
		fill: async (editor) => {
			await editor.pick('agentUuid', AGENT);
			await editor.write('phone', '+919800000001');
		},
		shown: '+919800000001',
	},
	{
		node: 'Agents',
		shown: agents.full,
	},
	{
		node: 'Chat Send',
		fill: async (editor) => {
			await editor.write('sessionId', sessions.open);
			await editor.write('message', 'Is the flat still free?');
		},
		shown: sessions.open,
	},
	{
		node: 'Chat Session',
		fill: async (editor) => editor.pick('agentUuid', AGENT),
		shown: 'session_id',
	},
	{
		node: 'Inject Context',
		fill: async (editor) => {
			await editor.write('sessionId', sessions.open);
			await editor.write('context', 'The customer has paid.');
		},
		shown: sessions.open,
	},
];

/** A trigger, and a function that causes an event while its test listens. */
type TriggerCase = {
	node: string;
	/** Default: 1. */
	version?: number;
	fill?: (editor: Editor) => Promise<void>;
	event?: (simulator: Simulator, address: (path: string) => string) => Promise<unknown>;
	shown: string;
};

const triggers: TriggerCase[] = [
	{
		node: 'Call Completed Trigger',
		version: 2,
		event: async (_, address) =>
			postUntilListening(address('call-completed'), { call_id: calls.finished }),
		shown: calls.finished,
	},
	{
		node: 'Chat Delivery Trigger',
		version: 2,
		event: async (_, address) =>
			postUntilListening(address('chat-delivery'), { text: 'Good morning' }),
		shown: 'Good morning',
	},
	{
		node: 'Chat Events Trigger',
		fill: async (editor) => editor.write('sessionIds', sessions.open),
		event: async (service) => {
			const isOpen = () => service.sessions.openSockets(sessions.open) > 0;
			await until('the socket', () => isOpen());
			service.sessions.nudge(sessions.open);
		},
		shown: 'nudge_sent',
	},
];

const webhookIds = Object.fromEntries(triggers.map(({ node: name }) => [name, randomUUID()]));

/** A place on the canvas that no other node covers. */
const placeOf = (index: number): [number, number] => [
	(index % 5) * 300,
	Math.floor(index / 5) * 200,
];

export function everyNode(account: Account, editor: () => Editor): void {
	/** One workflow with all nodes, because the editor takes long to load a workflow. */
	beforeAll(async () => {
		const start = manualTrigger();
		const { credentials } = account;
		const nodes = [
			start,
			...triggers.map(({ node: name, version = 1 }) =>
				node(name, typeOf(name), version, {}, { credentials, webhookId: webhookIds[name] }),
			),
			...actions.map(({ node: name }) => node(name, typeOf(name), 1, {}, { credentials })),
		];
		const workflow = await account.create({
			name: 'every node',
			nodes: nodes.map((one, index) => ({ ...one, position: placeOf(index) })),
			connections: connect(actions.map(({ node: name }): Arrow => [start.name, name])),
		});
		await editor().openWorkflow(workflow.id);
	});
	/** Opens the panel of a node, and closes that of the last one. */
	async function open(name: string): Promise<void> {
		await editor().page.keyboard.press('Escape');
		await editor().openNode(name);
	}

	// First, because a chat session that another node has just used is already connected.
	it.each(triggers)('$node listens for a test event', async (one) => {
		await open(one.node);
		await one.fill?.(editor());
		expect(await editor().page.getByTestId('parameter-issues').count()).toBe(0);
		await editor().execute();
		const { baseUrl } = sharedN8n();
		await one.event?.(
			account.simulator,
			(path) => `${baseUrl}/webhook-test/${webhookIds[one.node]}/${path}`,
		);
		await editor().readOutput(one.shown);
		expect(editor().errors.splice(0)).toEqual([]);
	});

	it.each(actions)('$node runs with input from the editor', async (one) => {
		await open(one.node);
		await one.fill?.(editor());
		expect(await editor().page.getByTestId('parameter-issues').count()).toBe(0);
		await editor().execute();
		await editor().readOutput(one.shown);
		expect(editor().errors.splice(0)).toEqual([]);
	});
}

/** Repeats the request, because n8n listens a moment after the click. */
async function postUntilListening(url: string, body: object): Promise<void> {
	await until('n8n to listen', async () => (await post(url, body)).status !== 404);
}

const typeOf = (name: string) =>
	`${packageName}.${name.charAt(0).toLowerCase()}${name.replaceAll(' ', '').slice(1)}`;
