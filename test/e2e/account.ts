import { randomBytes, randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import { serviceHost } from '../n8n/ports';
import { until } from '../n8n/until';
import { byId, chain, connect, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { dialects, fixtures } from '../simulator';
import { Simulator, type SimulatorOptions } from '../simulator/simulator';
import { PACKAGE, post } from './calls';
import { sharedN8n } from './shared';

/** Triggers whose newest version is 2. */
const VERSION_2 = ['callCompletedTrigger', 'chatDeliveryTrigger'];

/** The node of `publishReported`. */
export const REPORTED = 'Call Completed Trigger';

interface AccountOptions extends Partial<SimulatorOptions> {
	/** Of n8n. Default: the shared one. */
	n8nUrl?: string;
	/** Whether the credential has the profile of the simulator. */
	isMapped?: boolean;
}

/** For the tests of a file: an account in the shared n8n. Its credential and workflows are removed at the end. */
export function useAccount(options: AccountOptions = {}): Account {
	const account = new Account(options);
	beforeAll(async () => await account.open());
	afterAll(async () => await account.close());
	return account;
}

/** A simulator, and a credential for it in n8n. */
export class Account {
	readonly n8n: N8nDriver;
	readonly simulator: Simulator;
	readonly credentials: Record<string, Reference> = {};
	private readonly isMapped: boolean;
	private created: Workflow[] = [];

	constructor({ isMapped = false, n8nUrl = sharedN8n().baseUrl, ...options }: AccountOptions) {
		this.n8n = new N8nDriver(n8nUrl);
		this.isMapped = isMapped;
		// Unique, so that a search finds only this one.
		const token = randomBytes(8).toString('hex');
		this.simulator = new Simulator({
			dialect: dialects.plain,
			token,
			host: serviceHost,
			...options,
		});
	}

	get credential(): Reference {
		const { [CREDENTIAL]: credential } = this.credentials;
		if (credential === undefined) throw new Error('The credential is not created yet');
		return credential;
	}

	async open(): Promise<void> {
		const { n8n, simulator, isMapped, credentials } = this;
		await n8n.signIn();
		await simulator.listen(0);
		const { baseUrl, token: apiToken } = simulator;
		const data = isMapped ? credentialFor(simulator) : { baseUrl, apiToken };
		credentials[CREDENTIAL] = await n8n.createCredential(CREDENTIAL, data);
	}

	async close(): Promise<void> {
		await this.removeWorkflows();
		await this.n8n.request('DELETE', `/credentials/${this.credential.id}`);
		await this.simulator.stop();
	}

	readonly removeWorkflows = async (): Promise<void> => {
		for (const workflow of this.created.splice(0)) await this.n8n.deleteWorkflow(workflow);
	};

	/** A node of this package with the credential. */
	readonly ours = (
		name: string,
		type: string,
		parameters: INodeParameters = {},
		rest: Partial<INode> = {},
	): INode => {
		const version = VERSION_2.includes(type) ? 2 : 1;
		const { credentials } = this;
		return node(name, `${PACKAGE}.${type}`, version, parameters, { credentials, ...rest });
	};

	/** Calls the person of each item. */
	readonly placeCall = (parameters: INodeParameters = {}): INode =>
		this.ours('Place Call', 'placeCall', {
			whatToDo: 'place',
			agentUuid: byId(fixtures.agents.full),
			countryCode: 'IN',
			phoneNumber: '={{ $json.phone }}',
			...parameters,
		});

	readonly create = async (json: WorkflowJson): Promise<Workflow> => {
		const workflow = await this.n8n.createWorkflow(json);
		this.created.push(workflow);
		return workflow;
	};

	readonly publish = async (json: WorkflowJson): Promise<Workflow> => {
		const workflow = await this.create(json);
		await this.n8n.activate(workflow);
		return workflow;
	};

	/** Publishes Call Completed Trigger. Returns the workflow, and the URL for reports. */
	readonly publishReported = async (rest: Partial<INode> = {}, next?: (url: string) => INode) => {
		const webhookId = randomUUID();
		const url = `${this.n8n.baseUrl}/webhook/${webhookId}/call-completed`;
		const trigger = this.ours(REPORTED, 'callCompletedTrigger', {}, { webhookId, ...rest });
		const workflow = await this.publish(chain('reported', trigger, ...(next ? [next(url)] : [])));
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);
		return { workflow, url };
	};

	/** Publishes webhook → one item per person → nodes, and starts it. Returns the workflow, its nodes, and the execution ID. */
	readonly start = async (
		people: readonly string[],
		nodes: INode[],
		settings: Record<string, unknown> = {},
	) => {
		const flow = (trigger: INode) => chain('people', trigger, split(), ...nodes);
		return await this.startFlow(people, (trigger) => ({ ...flow(trigger), settings }));
	};

	/** The same with any flow after the webhook. */
	readonly startFlow = async (
		people: readonly string[],
		flowAfter: (trigger: INode) => WorkflowJson,
	) => {
		const path = randomUUID();
		const flow = flowAfter(webhook(path, { responseMode: 'onReceived' }));
		const workflow = await this.publish(flow);
		const body = { people: people.map((phone) => ({ phone })) };
		expect((await this.n8n.webhook(path, body)).status).toBe(200);
		return { workflow, nodes: flow.nodes, id: await this.executionOf(workflow) };
	};

	/** Waits for the first execution of a workflow. Returns its ID. */
	readonly executionOf = async (workflow: Reference): Promise<string> =>
		await until('the execution', async () => (await this.n8n.executions(workflow)).at(-1)?.id);

	/** Waits until an execution waits, such as for a call. */
	readonly untilWaiting = async (id: string): Promise<void> => {
		const isWaiting = async () => (await this.n8n.execution(id)).status === 'waiting';
		await until(`execution ${id} to wait`, isWaiting);
	};
}

/** Trigger → one item per person → a loop over the node. */
export function loopOver(trigger: INode, looped: INode): WorkflowJson {
	const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3, { options: {} });
	return {
		name: 'waits in a loop',
		nodes: [trigger, split(), loop, looped],
		connections: connect([
			[trigger.name, 'Split'],
			['Split', 'Loop'],
			['Loop', looped.name, 'main', 1],
			[looped.name, 'Loop'],
		]),
	};
}

/** One item per person of a request. */
export const split = (): INode =>
	node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
