import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IConnections, INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import { installPackage } from '../n8n/package-install';
import { ScriptedModel, type Turn } from '../n8n/scriptedModel';
import { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { allExecutions, credentialFor, PACKAGE } from './calls';
import { answerQuestions, APPROVER } from './questions';
import { sharedN8n } from './shared';

const LANGCHAIN = '@n8n/n8n-nodes-langchain';
const CUSTOMER = '9000000002';
const OTHER = '9000000003';
const LONG = { timeout: 60_000 };

let home: string;
let server: N8nServer;
let n8n: N8nDriver;
let simulator: Simulator;
let model: ScriptedModel;
let credentials: Record<string, Reference>;
let modelCredentials: Record<string, Reference>;

beforeAll(async () => {
	home = await mkdtemp(join(tmpdir(), 'n8n-agent-crash-'));
	await installPackage(home);
	server = await N8nServer.start({ host: sharedN8n().host, home });
	n8n = await N8nDriver.signIn(server.baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain });
	model = await ScriptedModel.start();
	credentials = await credentialFor(n8n, simulator);
	const key = { apiKey: 'none', url: model.baseUrl };
	modelCredentials = { openAiApi: await n8n.createCredential('openAiApi', key) };
}, 180_000);
afterAll(async () => {
	await model.stop();
	await simulator.stop();
	await server.stop();
	await rm(home, { recursive: true, force: true });
});

const call: INodeParameters = {
	agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
	countryCode: 'IN',
};
const placeCall = (): INode =>
	node(
		'Direct',
		`${PACKAGE}.placeCallTool`,
		1,
		{ ...call, phoneNumber: "={{ $fromAI('phone') }}" },
		{ credentials },
	);
const agent = (version: number): INode =>
	node('Agent', `${LANGCHAIN}.agent`, version, { promptType: 'define', text: 'Go' });
const chat = (): INode =>
	node(
		'Model',
		`${LANGCHAIN}.lmChatOpenAi`,
		1.2,
		{ model: { __rl: true, mode: 'id', value: 'scripted' }, options: { timeout: 600_000 } },
		{ credentials: modelCredentials },
	);
const review = (): INode =>
	node(
		'Ask',
		`${PACKAGE}.placeCallHitlTool`,
		1,
		{
			...call,
			yesValues: 'yes',
			noValues: 'no',
			phoneNumber: APPROVER,
			message: '=May I call {{ $tool.parameters.phone }}?',
		},
		{ credentials },
	);

const to = (name: string, type: 'main' | 'ai_tool' | 'ai_languageModel') => [
	[{ node: name, type, index: 0 }],
];
const straight = (user: string, ...others: string[]): IConnections => ({
	Webhook: { main: to('Agent', 'main') },
	Model: { ai_languageModel: to('Agent', 'ai_languageModel') },
	Direct: { ai_tool: to(user, 'ai_tool') },
	...Object.fromEntries(others.map((name) => [name, { ai_tool: to('Agent', 'ai_tool') }])),
});

const direct = (phone: string): Turn => ({ calls: [{ tool: 'Direct', args: { phone } }] });
const reviewed = (phone: string): Turn => ({
	calls: [{ tool: 'Direct', args: { toolParameters: { phone }, hitlParameters: {} } }],
});
const end: Turn = { says: 'done' };

type Scene = {
	nodes: () => INode[];
	connections: IConnections;
	ask: (phone: string) => Turn;
};

const scenes: { [name: string]: Scene } = {
	'AI Agent 3.1': {
		nodes: () => [agent(3.1), placeCall()],
		connections: straight('Agent'),
		ask: direct,
	},
	'AI Agent 2.2': {
		nodes: () => [agent(2.2), placeCall()],
		connections: straight('Agent'),
		ask: direct,
	},
	'behind a human review': {
		nodes: () => [agent(3.1), review(), placeCall()],
		connections: straight('Ask', 'Ask'),
		ask: reviewed,
	},
};

async function publish({ nodes, connections }: Scene): Promise<[Workflow, string]> {
	const path = randomUUID();
	const saved = await n8n.createWorkflow({
		name: `agent run after a crash ${path}`,
		nodes: [webhook(path, { responseMode: 'onReceived' }), chat(), ...nodes()],
		connections,
	});
	await n8n.activate(saved);
	return [saved, path];
}

describe('Retry of an agent run that n8n was killed in', () => {
	afterEach(() => simulator.reset());

	test.each(Object.entries(scenes))(
		"%s: a person who was called isn't called again",
		async (_name, scene) => {
			const [workflow, path] = await publish(scene);
			model.follow(scene.ask(CUSTOMER), { hangs: true });
			await n8n.webhook(path, {});
			const id = await until('the execution to be listed', async () => {
				return (await allExecutions(n8n, workflow)).at(-1)?.id;
			});
			// It never ends: n8n is killed while the model is silent.
			void answerQuestions({ n8n, simulator }, id).catch(() => undefined);
			const hangs = () => model.isAtEnd && simulator.callsTo(CUSTOMER) === 1;
			await until('the model to be silent', async () => await Promise.resolve(hangs()), LONG);
			await server.kill();
			await server.boot();
			n8n = await N8nDriver.signIn(server.baseUrl);
			model.follow(scene.ask(CUSTOMER), scene.ask(OTHER), end);
			await n8n.finished(id);
			const retry = await n8n.startRetry(id, 'original');
			expect(await answerQuestions({ n8n, simulator }, retry)).toBe('success');
			// With a review, n8n resumes after the approval, so the model reads of the same call twice.
			const [first, ...rest] = model.told();
			expect(first).toContain('"outcome":"unknown"');
			expect(rest.filter((text) => text.includes('"outcome":"done"'))).toEqual([rest.at(-1)]);
			expect([simulator.callsTo(CUSTOMER), simulator.callsTo(OTHER)]).toEqual([1, 1]);
		},
		300_000,
	);
});
