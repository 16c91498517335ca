import type { INode } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { N8nDriver, type Execution, type Reference, type Workflow } from '../n8n/driver';
import { withCredentials, readExample, type Credentials } from '../n8n/examples';
import { ThirdParties } from '../n8n/thirdParties';
import { hubspotToken } from '../n8n/thirdParties/hubspot';
import { slackToken } from '../n8n/thirdParties/slack';
import { until } from '../n8n/until';
import type { WorkflowJson } from '../n8n/workflow';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { allExecutions } from './calls';
import { sharedN8n } from './shared';

/** The placeholder in the examples for the URL of the user's spreadsheet. */
export const SHEET = 'put-the-address-of-your-sheet-here';

/** A workflow in n8n, and the imported JSON. */
export type Imported = Workflow & { json: WorkflowJson };

/** The examples in a real n8n, with a simulated service and simulated third parties. */
export class ExampleRun {
	private readonly imported: Workflow[] = [];

	private constructor(
		readonly n8n: N8nDriver,
		readonly simulator: Simulator,
		readonly parties: ThirdParties,
		readonly credentials: Credentials,
	) {}

	/** @param more further credentials by type */
	static async open(more: Credentials = {}): Promise<ExampleRun> {
		const { baseUrl, thirdParties } = sharedN8n();
		const n8n = await N8nDriver.signIn(baseUrl);
		const simulator = await startSimulator({ dialect: dialects.plain });
		const parties = await ThirdParties.start(thirdParties);
		const slack = { accessToken: slackToken, signatureSecret: '' };
		return new ExampleRun(n8n, simulator, parties, {
			[CREDENTIAL]: await n8n.createCredential(CREDENTIAL, credentialFor(simulator)),
			googleSheetsOAuth2Api: await signIn(n8n, 'googleSheetsOAuth2Api'),
			gmailOAuth2: await signIn(n8n, 'gmailOAuth2'),
			slackApi: await n8n.createCredential('slackApi', slack),
			hubspotAppToken: await n8n.createCredential('hubspotAppToken', { appToken: hubspotToken }),
			zohoOAuth2Api: await signIn(n8n, 'zohoOAuth2Api'),
			salesforceOAuth2Api: await signIn(n8n, 'salesforceOAuth2Api'),
			...more,
		});
	}

	/** Imports the unchanged file, then selects the credentials and changes nodes, as a user does in the editor. */
	async import(file: string, change = (node: INode) => node): Promise<Imported> {
		const json = readExample(file);
		const imported = await this.n8n.createWorkflow(json);
		const { nodes } = withCredentials(json, this.credentials);
		const workflow = await this.n8n.updateWorkflow(imported, { nodes: nodes.map(change) });
		this.imported.push(workflow);
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
		const execution = await this.n8n.runManually(workflow, trigger);
		if (execution.status === 'success') return execution;
		const { error, lastNodeExecuted } = await this.n8n.runData(execution.id);
		throw new Error(`${lastNodeExecuted}: ${error?.message} ${error?.description ?? ''}`);
	}

	reset(): void {
		this.simulator.reset();
		this.parties.reset();
	}

	async close(): Promise<void> {
		for (const workflow of this.imported) await this.n8n.deleteWorkflow(workflow);
		for (const { id } of Object.values(this.credentials)) {
			await this.n8n.request('DELETE', `/credentials/${id}`);
		}
		await this.parties.stop();
		await this.simulator.stop();
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
