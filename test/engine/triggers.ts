import { Container } from '@n8n/di';
import {
	ActiveWorkflowTriggers,
	HookContext,
	PollContext,
	TriggerContext,
	WebhookContext,
} from 'n8n-core';
import type {
	IDataObject,
	INode,
	INodeExecutionData,
	IRunExecutionData,
	ITriggerFunctions,
	IWebhookData,
	IWorkflowExecuteAdditionalData,
	Workflow,
	WorkflowActivateMode,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { z } from 'zod';
import type { TestCredentialsHelper } from './credentialsHelper';
import { makeAdditionalData } from './engine';
import { nodeTypes } from './nodeTypes';
import { isObject } from './isObject';

/** Where n8n tells that an execution has ended, or could not start. */
export type ExecutionEnd = NonNullable<Parameters<ITriggerFunctions['emit']>[2]>;

export type Emission = { items: INodeExecutionData[][]; deduplicationKey?: string | undefined };

/** An active workflow: what its triggers emitted, the errors they raised, a way to stop them. */
export type ActiveWorkflow = {
	emitted: Emission[];
	/** Of the emissions that asked for it. */
	ends: ExecutionEnd[];
	errors: Error[];
	/** What was reported as a failed execution while the trigger goes on. */
	failed: Error[];
	/** Resolves at the next emission or error. */
	next(): Promise<void>;
	stop(): Promise<boolean>;
};

/** Activates trigger and polling nodes through n8n-core's own `ActiveWorkflowTriggers`. */
export async function activate(
	credentialsHelper: TestCredentialsHelper,
	workflow: Workflow,
	activation: WorkflowActivateMode = 'activate',
): Promise<ActiveWorkflow> {
	const active = Container.get(ActiveWorkflowTriggers);
	const errors: Error[] = [];
	const failed: Error[] = [];
	const waiting: Array<() => void> = [];
	const wake = () => waiting.splice(0).forEach((resolve) => resolve());
	const emitted: Emission[] = [];
	const take = (items: INodeExecutionData[][], deduplicationKey?: string) => {
		emitted.push({ items, deduplicationKey });
		wake();
	};
	const ends: ExecutionEnd[] = [];
	const emit: ITriggerFunctions['emit'] = (items, _response, done, key) => {
		if (done !== undefined) ends.push(done);
		take(items, key);
	};
	const emitError = (error: Error) => {
		errors.push(error);
		wake();
	};
	const saveFailedExecution = (error: Error) => {
		failed.push(error);
		wake();
	};
	await active.addAllTriggers(
		workflow.id,
		workflow,
		makeAdditionalData(credentialsHelper, 'trigger'),
		'trigger',
		activation,
		(flow, node, data, mode, activation) =>
			new TriggerContext(flow, node, data, mode, activation, emit, emitError, saveFailedExecution),
		(flow, node, data, mode, activation) =>
			new PollContext(flow, node, data, mode, activation, (items) => take(items), emitError),
	);
	return {
		emitted,
		ends,
		errors,
		failed,
		next: async () => await new Promise<void>((resolve) => waiting.push(resolve)),
		stop: async () => await active.remove(workflow.id),
	};
}

/** For a trigger of which nothing that it emits is looked at. */
export function triggerContext(
	credentialsHelper: TestCredentialsHelper,
	workflow: Workflow,
	node: INode,
): TriggerContext {
	const data = makeAdditionalData(credentialsHelper, 'trigger');
	return new TriggerContext(workflow, node, data, 'trigger', 'activate');
}

export function pollContext(
	credentialsHelper: TestCredentialsHelper,
	workflow: Workflow,
	node: INode,
	mode: WorkflowExecuteMode = 'trigger',
): PollContext {
	const data = makeAdditionalData(credentialsHelper, mode);
	return new PollContext(workflow, node, data, mode, mode === 'manual' ? 'manual' : 'activate');
}

export type WebhookRequest = {
	method?: string;
	body?: unknown;
	headers?: IDataObject;
	query?: IDataObject;
	params?: IDataObject;
	/** The body as bytes; that of `body` when left out. */
	rawBody?: Buffer;
	/** Where n8n reads the bytes, and finds them too many or broken. */
	readRawBody?: () => Promise<void>;
	/** Node's stream below n8n's request: whether its last byte has arrived, and what it holds. */
	complete?: boolean;
	read?: () => unknown;
};

/** Records what a node answers to the sender of a webhook. */
export class FakeResponse {
	statusCode = 200;
	body: unknown;
	readonly headers: Record<string, unknown> = {};
	private readonly waiting: Array<() => void> = [];

	/** Resolves when the node answers, which may be after its webhook has returned. */
	async sent(): Promise<void> {
		await new Promise<void>((resolve) => this.waiting.push(resolve));
	}

	status(code: number): this {
		this.statusCode = code;
		return this;
	}

	setHeader(name: string, value: unknown): this {
		this.headers[name] = value;
		return this;
	}

	json(body: unknown): this {
		this.body = body;
		this.waiting.splice(0).forEach((resolve) => resolve());
		return this;
	}

	send(body: unknown): this {
		return this.json(body);
	}

	end(body?: unknown): this {
		return this.json(body ?? this.body);
	}
}

export function webhookContext(
	credentialsHelper: TestCredentialsHelper,
	workflow: Workflow,
	node: INode,
	request: WebhookRequest,
	mode: WorkflowExecuteMode = 'webhook',
	/** What n8n stored of a sleeping execution, for the webhook that wakes it. */
	sleeping?: { executionId: string; data: IRunExecutionData },
): { context: WebhookContext; response: FakeResponse } {
	const response = new FakeResponse();
	const httpRequest = {
		method: 'POST',
		body: {},
		headers: {},
		query: {},
		params: {},
		rawBody: Buffer.from(JSON.stringify(request.body ?? {})),
		readRawBody: async () => {},
		...request,
	};
	const served = z.custom<Partial<IWorkflowExecuteAdditionalData>>(isObject).parse({
		httpRequest,
		httpResponse: response,
		...(sleeping && { executionId: sleeping.executionId }),
	});
	const data = makeAdditionalData(credentialsHelper, mode, served);
	const webhook = webhookData(workflow, node, data);
	return {
		context: new WebhookContext(workflow, node, data, mode, webhook, [], sleeping?.data ?? null),
		response,
	};
}

/** Delivers a request to the address of a node, and returns what the node gives to n8n and what it answers itself. */
export async function callWebhook(...given: Parameters<typeof webhookContext>) {
	const { context, response } = webhookContext(...given);
	const answered = response.sent();
	const { type } = given[2];
	const result = await nodeTypes.getByNameAndVersion(type).webhook?.call(context);
	return { response, result, answered };
}

export function hookContext(
	credentialsHelper: TestCredentialsHelper,
	workflow: Workflow,
	node: INode,
): HookContext {
	const data = makeAdditionalData(credentialsHelper, 'trigger');
	return new HookContext(
		workflow,
		node,
		data,
		'trigger',
		'activate',
		webhookData(workflow, node, data),
	);
}

function webhookData(
	workflow: Workflow,
	node: INode,
	workflowExecuteAdditionalData: IWorkflowExecuteAdditionalData,
): IWebhookData {
	const { webhooks = [] } = nodeTypes.getByNameAndVersion(node.type, node.typeVersion).description;
	const [webhookDescription] = webhooks;
	if (webhookDescription === undefined) throw new Error(`${node.type} has no webhook`);
	return {
		httpMethod: 'POST',
		node: node.name,
		path: 'p',
		webhookDescription,
		workflowId: workflow.id,
		workflowExecuteAdditionalData,
	};
}
