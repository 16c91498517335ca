import type { INode } from 'n8n-workflow';
import { z } from 'zod';
import type { Execution, N8nDriver, Reference, Workflow } from '../n8n/driver';
import { withCredentials, readExample, type Credentials } from '../n8n/examples';
import { ThirdParties } from '../n8n/thirdParties';
import { hubspotToken } from '../n8n/thirdParties/hubspot';
import { slackToken } from '../n8n/thirdParties/slack';
import { until } from '../n8n/until';
import type { WorkflowJson } from '../n8n/workflow';
import { Account } from './account';
import { allExecutions } from './calls';
import { n8nFolder } from './n8nFolder';

/** The placeholder in the examples for the URL of the user's spreadsheet. */
export const SHEET = 'put-the-address-of-your-sheet-here';

/** The types of credentials with which a user signs in. */
const SIGNED_IN = [
	'googleSheetsOAuth2Api',
	'gmailOAuth2',
	'zohoOAuth2Api',
	'salesforceOAuth2Api',
] as const;

/** A workflow in n8n, and the imported JSON. */
export type Imported = Workflow & { json: WorkflowJson };

/** For the tests of a file: the examples, with nothing left of the test before. */
export function useExamples(): ExampleRun {
	const run = new ExampleRun();
	beforeAll(async () => await run.open());
	beforeEach(() => run.reset());
	afterAll(async () => {
		await run.close();
		expect(run.parties.rejected).toEqual([]);
	});
	return run;
}

/** The examples in a real n8n, with a simulated service and simulated third parties. */
export class ExampleRun {
	private readonly account = new Account({ isMapped: true });
	readonly n8n = this.account.n8n;
	readonly simulator = this.account.simulator;
	readonly parties = new ThirdParties(n8nFolder().thirdParties);
	/** Those of third parties, by type. */
	readonly credentials: Credentials = {};

	async open(): Promise<void> {
		const { account, parties, n8n, credentials } = this;
		await account.open();
		await parties.start();
		const slack = { accessToken: slackToken, signatureSecret: '' };
		credentials.slackApi = await n8n.createCredential('slackApi', slack);
		const hubspot = { appToken: hubspotToken };
		credentials.hubspotAppToken = await n8n.createCredential('hubspotAppToken', hubspot);
		for (const type of SIGNED_IN) credentials[type] = await signIn(n8n, type);
	}

	/** Imports the unchanged file, then selects the credentials and changes nodes, as a user does in the editor. */
	async import(file: string, change = (node: INode) => node): Promise<Imported> {
		const json = readExample(file);
		const imported = await this.account.create(json);
		const credentials = { ...this.credentials, ...this.account.credentials };
		const { nodes } = withCredentials(json, credentials);
		const workflow = await this.n8n.updateWorkflow(imported, { nodes: nodes.map(change) });
		return { ...workflow, json };
	}

	/** Imports and publishes it. Its triggers respond a moment later. */
	async publish(file: string, change?: (node: INode) => INode): Promise<Imported> {
		const workflow = await this.import(file, change);
		await this.n8n.activate(workflow);
		return workflow;
	}

	/** Waits until at least `count` executions of the workflow have ended and none is running. */
	async ended(workflow: Reference, count: number): Promise<Array<{ id: string; status: string }>> {
		return await until(`${count} executions of ${workflow.name}`, async () => {
			const all = await allExecutions(this.n8n, workflow);
			const ended = all.filter(({ status }) => !['new', 'running', 'waiting'].includes(status));
			return ended.length >= count && ended.length === all.length && ended;
		});
	}

	/** Runs it from its trigger as the editor's button does. Throws unless it succeeds. */
	async run(workflow: Reference, trigger: string): Promise<Execution> {
		return await this.successful(await this.n8n.runManually(workflow, trigger));
	}

	/** Starts it by its form, which has no fields. Throws unless it succeeds. */
	async runByForm(workflow: Reference): Promise<Execution> {
		const id = await this.n8n.startByForm(workflow);
		return await this.successful(await this.n8n.finished(id));
	}

	private async successful(execution: Execution): Promise<Execution> {
		if (execution.status === 'success') return execution;
		const { error, lastNodeExecuted } = await this.n8n.runData(execution.id);
		throw new Error(`${lastNodeExecuted}: ${error?.message} ${error?.description ?? ''}`);
	}

	reset(): void {
		this.simulator.reset();
		this.parties.reset();
	}

	async close(): Promise<void> {
		await this.account.close();
		for (const { id } of Object.values(this.credentials)) {
			await this.n8n.request('DELETE', `/credentials/${id}`);
		}
		await this.parties.stop();
	}
}

/** Signs in at a third party as the button of an OAuth2 credential does, so that n8n stores a token. */
async function signIn(n8n: N8nDriver, type: string): Promise<Reference> {
	const credential = await n8n.createCredential(type, {
		clientId: 'n8n of the tests',
		clientSecret: 'a secret',
	});
	const url = String(await n8n.request('GET', `/oauth2-credential/auth?id=${credential.id}`));
	const state = new URL(url).searchParams.get('state') ?? '';
	const query = new URLSearchParams({ code: 'a code', state });
	const page = await n8n.page(`/oauth2-credential/callback?${query.toString()}`);
	if (!page.includes('success')) throw new Error(`Sign in for ${type}: ${page}`);
	return credential;
}

/** Fills in values of the node *Settings*, as the note of the example says. */
export function withSettings(values: { [name: string]: string | number }): (node: INode) => INode {
	return (node) => {
		if (node.name !== 'Settings') return node;
		const { assignments } = z
			.object({ assignments: z.object({ assignments: z.array(assignment) }) })
			.parse(node.parameters);
		const filled = assignments.assignments.map((one) => ({
			...one,
			value: values[one.name] ?? one.value,
		}));
		return {
			...node,
			parameters: { ...node.parameters, assignments: { assignments: filled } },
		};
	};
}

const assignment = z.object({
	id: z.string(),
	name: z.string(),
	value: z.union([z.string(), z.number()]),
	type: z.string(),
});
