/** Controls a running n8n through the REST API of its editor. */
import { parse } from 'flatted';
import type { IDataObject, INodeExecutionData, IRunExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { n8nVersion } from './host';
import type { WorkflowJson } from './workflow';
import { until } from './until';

/** The owner of a new n8n, or of the running one that N8N_URL names. */
export const owner = {
	email: process.env.N8N_EMAIL ?? 'owner@example.com',
	firstName: 'Owner',
	lastName: 'Example',
	password: process.env.N8N_PASSWORD ?? 'Passw0rd!',
};

const identified = z.object({ id: z.string(), name: z.string() });
const workflowSchema = identified.extend({ versionId: z.string(), active: z.boolean() });
const formsSchema = z.object({
	nodes: z.array(
		z.object({ name: z.string(), type: z.string(), webhookId: z.string().optional() }),
	),
});
const publication = z.object({
	data: z.object({
		status: z.string(),
		triggers: z.array(z.object({ errorMessage: z.string().nullable() })),
	}),
});
const executionSchema = z.object({
	id: z.string(),
	workflowId: z.string(),
	status: z.string(),
	startedAt: z.string().nullish(),
	stoppedAt: z.string().nullish(),
});
const storedRun = z.custom<IRunExecutionData>(
	(value) => z.object({ resultData: z.object({}) }).safeParse(value).success,
);
/** A type of a node or a credential, as n8n lists it. */
const listedType = z.object({
	name: z.string(),
	iconUrl: z.object({ light: z.string(), dark: z.string() }).optional().catch(undefined),
	supportedNodes: z.array(z.string()).optional(),
	inputs: z.unknown(),
	codex: z
		.object({
			alias: z.array(z.string()),
			categories: z.array(z.string()),
			resources: z.object({ primaryDocumentation: z.array(z.object({ url: z.string() })) }),
		})
		.optional()
		.catch(undefined),
});
export type ListedType = z.infer<typeof listedType>;

/** Some requests are different in n8n 1. */
export const isN8n1 = n8nVersion.startsWith('1.');

export type Execution = z.infer<typeof executionSchema>;
export type Workflow = z.infer<typeof workflowSchema>;
export interface Reference {
	id: string;
	name: string;
}

export class N8nDriver {
	private cookie = '';

	constructor(readonly baseUrl: string) {}

	static async signIn(baseUrl: string): Promise<N8nDriver> {
		const driver = new N8nDriver(baseUrl);
		await driver.signIn();
		return driver;
	}

	/** Creates the owner on a new instance, or signs in if the owner exists. */
	async signIn(): Promise<void> {
		// n8n limits sign-ins per minute, and jest gives each test file its own modules, so all files share
		// the session that the global setup stores in the environment.
		const session = `N8N_DRIVER_SESSION_${new URL(this.baseUrl).port}`;
		this.cookie = process.env[session] ?? '';
		if (this.cookie !== '' && (await this.send('GET', '/login')).ok) return;
		const response = await this.send('POST', '/owner/setup', owner);
		if (!response.ok) {
			await this.request('POST', '/login', {
				emailOrLdapLoginId: owner.email,
				password: owner.password,
			});
		}
		process.env[session] = this.cookie;
	}

	/** Sends any request of the editor. Returns the response's `data`. */
	async request(method: string, path: string, body?: unknown): Promise<unknown> {
		const response = await this.send(method, path, body);
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
		return z.object({ data: z.unknown() }).parse(JSON.parse(text)).data;
	}

	/** The HTML of a page for the signed-in user. */
	async page(path: string): Promise<string> {
		return await (await this.send('GET', path)).text();
	}

	async createCredential(type: string, data: IDataObject, name = type): Promise<Reference> {
		return identified.parse(await this.request('POST', '/credentials', { name, type, data }));
	}

	async updateCredential(id: string, type: string, data: IDataObject, name = type): Promise<void> {
		await this.request('PATCH', `/credentials/${id}`, { name, type, data });
	}

	async credentials(): Promise<Reference[]> {
		return z.array(identified).parse(await this.request('GET', '/credentials'));
	}

	async createWorkflow(workflow: WorkflowJson): Promise<Workflow> {
		const settings = { executionOrder: 'v1', ...workflow.settings };
		// Without it, n8n's editor can't execute a later node.
		const pinData = {};
		const body = { pinData, ...workflow, settings, ...(isN8n1 && { active: false }) };
		return workflowSchema.parse(await this.request('POST', '/workflows', body));
	}

	async workflows(): Promise<Reference[]> {
		return z.array(identified).parse(await this.request('GET', '/workflows'));
	}

	async workflow(id: string): Promise<Workflow> {
		return workflowSchema.parse(await this.request('GET', `/workflows/${id}`));
	}

	async updateWorkflow(workflow: Workflow, changes: Partial<WorkflowJson>): Promise<Workflow> {
		const body = { ...changes, versionId: workflow.versionId };
		return workflowSchema.parse(await this.request('PATCH', `/workflows/${workflow.id}`, body));
	}

	async activate({ id, versionId }: Workflow): Promise<void> {
		if (isN8n1) await this.request('PATCH', `/workflows/${id}`, { active: true, versionId });
		else await this.request('POST', `/workflows/${id}/activate`, { versionId });
	}

	/**
	 * Why n8n didn't publish each trigger of the workflow, or an empty text. Undefined while it's publishing them, which it does
	 * after the request. Older versions do it in the request.
	 */
	async publicationErrors({ id }: Reference): Promise<string[] | undefined> {
		const response = await this.send('GET', `/workflows/${id}/publication-status`);
		if (response.status === 404) return [];
		const { status, triggers } = publication.parse(await response.json()).data;
		// n8n may say for a moment that it isn't published, before it stores what became of each trigger.
		if (['in_progress', 'not_published'].includes(status)) return undefined;
		return triggers.map(({ errorMessage }) => errorMessage ?? '');
	}

	async deactivate({ id }: Reference): Promise<void> {
		if (isN8n1) await this.request('PATCH', `/workflows/${id}`, { active: false });
		else await this.request('POST', `/workflows/${id}/deactivate`);
	}

	/** n8n deletes archived workflows only, when it has unpublished them. */
	async deleteWorkflow({ id }: Reference): Promise<void> {
		await this.request('POST', `/workflows/${id}/archive`);
		await until('the workflow to be deleted', async () => {
			await this.request('DELETE', `/workflows/${id}`);
			return true;
		});
	}

	/** Runs a saved workflow as the editor's button does, and waits until it ends. */
	async runManually(
		workflow: Reference,
		triggerName: string,
		timeout = 60_000,
	): Promise<Execution> {
		const run = await this.startManually(workflow, triggerName);
		const { executionId } = z.object({ executionId: z.string() }).parse(run);
		return await this.finished(executionId, timeout);
	}

	/** Does what the editor's button does: starts an execution, or a trigger that listens for a test event. */
	async startManually({ id }: Reference, triggerName: string): Promise<unknown> {
		return await this.request('POST', `/workflows/${id}/run`, {
			triggerToStartFrom: { name: triggerName },
			...(isN8n1 && { workflowData: await this.request('GET', `/workflows/${id}`) }),
		});
	}

	/** Starts it as a person does in the editor who executes it and submits its form, which has no fields. */
	async startByForm(workflow: Reference): Promise<string> {
		const { nodes } = formsSchema.parse(await this.request('GET', `/workflows/${workflow.id}`));
		const form = nodes.find(({ type }) => type.endsWith('.formTrigger'));
		const earlier = new Set((await this.executions(workflow)).map(({ id }) => id));
		await this.startManually(workflow, form?.name ?? '');
		const url = `${this.baseUrl}/form-test/${form?.webhookId}`;
		await fetch(url, { method: 'POST', body: new FormData() });
		return await until('the execution of the form', async () => {
			const started = (await this.executions(workflow)).find(({ id }) => !earlier.has(id));
			return started?.id ?? false;
		});
	}

	async executions(workflow: Reference): Promise<Execution[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId: workflow.id }));
		const list = await this.request('GET', `/executions?filter=${filter}&limit=100`);
		return z.object({ results: z.array(executionSchema) }).parse(list).results;
	}

	async finished(executionId: string, timeout = 60_000): Promise<Execution> {
		return await until(
			`execution ${executionId} to end`,
			async () => {
				const execution = await this.execution(executionId);
				return !['new', 'running', 'waiting'].includes(execution.status) && execution;
			},
			{ timeout, every: 200 },
		);
	}

	/** *Retry* in the list of executions, with the original or the currently saved workflow. */
	async retry(executionId: string, workflow: 'original' | 'current'): Promise<Execution> {
		const body = { loadWorkflow: workflow === 'current' };
		const started = await this.request('POST', `/executions/${executionId}/retry`, body);
		return await this.finished(z.object({ id: z.string() }).parse(started).id);
	}

	/** The stored data of an execution: each node's output, and the error if it failed. */
	async runData(executionId: string): Promise<IRunExecutionData['resultData']> {
		const { data } = await this.execution(executionId);
		return storedRun.parse(parse(data)).resultData;
	}

	/** The items of one output of a node's last run. */
	async output(executionId: string, nodeName: string, index = 0): Promise<INodeExecutionData[]> {
		const { runData, error } = await this.runData(executionId);
		const run = runData[nodeName]?.at(-1);
		if (!run) throw new Error(`${nodeName} did not run in ${executionId}: ${error?.message ?? ''}`);
		return run.data?.main?.[index] ?? [];
	}

	/** Sends a request to a production webhook. Retries while it returns 404, because n8n registers it seconds after activation. */
	async webhook(
		path: string,
		body: unknown = {},
		headers: Record<string, string> = {},
	): Promise<Response> {
		return await until(`the webhook ${path}`, async () => {
			const response = await fetch(`${this.baseUrl}/webhook/${path}`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', ...headers },
				body: JSON.stringify(body),
			});
			if (response.status === 404) return undefined;
			return response;
		});
	}

	/** All types that this instance has loaded. */
	async types(kind: 'nodes' | 'credentials'): Promise<ListedType[]> {
		const response = await this.sendTo(`/types/${kind}.json`, 'GET');
		return z.array(listedType).parse(await response.json());
	}

	async execution(id: string) {
		const withData = executionSchema.extend({ data: z.string() });
		return withData.parse(await this.request('GET', `/executions/${id}`));
	}

	private async send(method: string, path: string, body?: unknown): Promise<Response> {
		return await this.sendTo(`/rest${path}`, method, body);
	}

	private async sendTo(path: string, method: string, body?: unknown): Promise<Response> {
		const response = await fetch(this.baseUrl + path, {
			method,
			headers: {
				'content-type': 'application/json',
				'browser-id': 'driver',
				cookie: this.cookie,
				// n8n closes idle connections, which a busy test would notice only when it uses one again.
				connection: 'close',
			},
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		this.cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.cookie;
		return response;
	}
}
