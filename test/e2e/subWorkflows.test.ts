import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { allExecutions, credentialFor, PACKAGE } from './calls';
import { removeServer, startServer } from './ownServer';
import { KEY } from './questions';

const ASK = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes', noValues: 'no' };
const byWebhook = { waitForCompletion: 'webhook' };
const byReading = { waitForCompletion: 'reading' };

/** A started workflow whose result is expected. */
type Started = {
	people: string[];
	/** The node with the results, and its output. */
	last: string;
	execution: () => Promise<string>;
	/** The expected answer of a question. */
	answer?: string;
};

/** Starts its own n8n, because the tests kill it. */
describe('Place Call waits in sub-workflows, loops, and error workflows in real n8n', () => {
	let server: N8nServer;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let credentials: Record<string, Reference>;
	let persons = 0;

	beforeAll(async () => {
		server = await startServer();
		simulator = await startSimulator({ dialect: dialects.plain });
		n8n = await N8nDriver.signIn(server.baseUrl);
		credentials = await credentialFor(n8n, simulator);
	});
	afterEach(() => simulator.reset());
	afterAll(async () => {
		await simulator.stop();
		await removeServer(server);
	});

	const split = () =>
		node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
	const loop = () => node('Loop', 'n8n-nodes-base.splitInBatches', 3, { options: {} });
	const place = (parameters: INodeParameters) =>
		node(
			'Place Call',
			`${PACKAGE}.placeCall`,
			1,
			{
				agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
				countryCode: 'IN',
				phoneNumber: '={{ $json.phone }}',
				...parameters,
			},
			{ credentials },
		);

	async function publish(workflow: WorkflowJson): Promise<Workflow> {
		const saved = await n8n.createWorkflow(workflow);
		await n8n.activate(saved);
		return saved;
	}

	/** A node that runs a sub-workflow with Place Call: with all items, or once for each. */
	async function execute(mode: 'once' | 'each', parameters: INodeParameters): Promise<INode> {
		const type = 'n8n-nodes-base.executeWorkflowTrigger';
		const trigger = node('Sub', type, 1.1, { inputSource: 'passthrough' });
		const sub = await publish(chain('sub', trigger, place(parameters)));
		return node('Execute', 'n8n-nodes-base.executeWorkflow', 1.2, {
			mode,
			workflowId: { __rl: true, mode: 'id', value: sub.id },
			options: {},
		});
	}

	const newPeople = (count: number) =>
		Array.from({ length: count }, () => String(9_000_000_001 + persons++));
	const executionOf = (workflow: Reference) => async () =>
		await until('the execution', async () => (await allExecutions(n8n, workflow))[0]?.id);

	/** Starts webhook → one item per person → the node. */
	async function start(count: number, last: INode): Promise<Started> {
		return await startFlow(count, (trigger) => chain('waits', trigger, split(), last), last.name);
	}

	/** Starts webhook → one item per person → a loop over the node. */
	async function startInLoop(count: number, looped: INode): Promise<Started> {
		const head = loop();
		const to = (name: string) => [{ node: name, type: 'main' as const, index: 0 }];
		const flow = (trigger: INode) => {
			const { name, nodes, connections } = chain('waits in a loop', trigger, split(), head);
			return {
				name,
				nodes: [...nodes, looped],
				connections: {
					...connections,
					[head.name]: { main: [[], to(looped.name)] },
					[looped.name]: { main: [to(head.name)] },
				},
			};
		};
		return await startFlow(count, flow, head.name);
	}

	async function startFlow(
		count: number,
		flow: (trigger: INode) => WorkflowJson,
		last: string,
	): Promise<Started> {
		const path = randomUUID();
		const workflow = await publish(flow(webhook(path, { responseMode: 'onReceived' })));
		const people = newPeople(count);
		const body = { people: people.map((phone) => ({ phone })) };
		expect((await n8n.webhook(path, body)).status).toBe(200);
		return { people, last, execution: executionOf(workflow) };
	}

	/** Starts a workflow that fails, and whose error workflow has Place Call. */
	async function startOnError(parameters: INodeParameters): Promise<Started> {
		const [phone = ''] = newPeople(1);
		const trigger = node('Error', 'n8n-nodes-base.errorTrigger', 1);
		const last = place({ ...parameters, phoneNumber: phone });
		const errors = await publish(chain('on error', trigger, last));
		const path = randomUUID();
		const start = webhook(path, { responseMode: 'onReceived' });
		const fail = node('Fail', 'n8n-nodes-base.stopAndError', 1, { errorMessage: 'Down' });
		const settings = { errorWorkflow: errors.id };
		await publish({ ...chain('fails', start, fail), settings });
		expect((await n8n.webhook(path, {})).status).toBe(200);
		return { people: [phone], last: last.name, execution: executionOf(errors) };
	}

	const placed = () => simulator.placedCalls();

	async function untilPlaced(count: number): Promise<void> {
		await until(`${count} calls`, async () => Promise.resolve(placed().length === count));
	}

	/** Each result once, in the order of the input, and nobody called twice. */
	async function expectResults(all: Started[]): Promise<void> {
		for (const { people, last, execution, answer } of all) {
			const id = await execution();
			expect(await n8n.finished(id, 60_000)).toMatchObject({ status: 'success' });
			const items = (await n8n.output(id, last)).map(({ json }) => json);
			const expected = { timed_out: false, ...(answer !== undefined && { answer }) };
			expect(items).toMatchObject(
				people.map((phone) => ({ phone_key: `91${phone}`, ...expected })),
			);
		}
		const called = placed().map(({ phone }) => phone);
		const people = all.flatMap((one) => one.people.map((phone) => `+91${phone}`));
		expect(called.sort()).toEqual(people.sort());
	}

	const untilAllWait = async (all: Started[]) => {
		for (const { execution } of all) {
			const id = await execution();
			await until(`execution ${id} to wait`, async () => {
				return (await n8n.execution(id)).status === 'waiting';
			});
		}
	};

	it('by webhook: each result arrives once, even if n8n is killed during the wait', async () => {
		const outcome = { data_captured: { [KEY]: 'yes' } };
		const calls = [
			await start(3, await execute('once', byWebhook)),
			await startInLoop(2, await execute('once', byWebhook)),
			await startInLoop(2, place(byWebhook)),
			await startOnError(byWebhook),
		];
		const questions = [
			await start(2, await execute('once', ASK)),
			await startInLoop(2, place(ASK)),
			await startOnError(ASK),
		];
		const all = [...calls, ...questions.map((question) => ({ ...question, answer: 'yes' }))];
		// Each loop calls its second person after the first one.
		await untilPlaced(10);
		await untilAllWait(all);
		await server.kill();
		await server.boot();
		n8n = await N8nDriver.signIn(server.baseUrl);
		simulator.setAutoComplete({ afterMs: 2_000, outcome });
		for (const { callId } of placed()) await simulator.completeCall(callId, outcome);
		await untilPlaced(13);
		await expectResults(all);
	});

	it('by reading: each result arrives once, also from a sub-workflow for each item', async () => {
		simulator.setAutoComplete({ afterMs: 500 });
		const all = [
			await start(3, await execute('each', byReading)),
			await startInLoop(2, await execute('once', byReading)),
			await startInLoop(2, place(byReading)),
			await startOnError(byReading),
		];
		await expectResults(all);
	});
});
