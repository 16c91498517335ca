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
	IRun,
	IRunExecutionData,
	ITriggerFunctions,
	IWebhookData,
	IWorkflowExecuteAdditionalData,
	Workflow,
	WorkflowActivateMode,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { z } from 'zod';
import { makeAdditionalData } from './engine';
import { nodeTypes } from './nodeTypes';
import { isObject } from './isObject';

/** The result of an execution, which triggers don't read. */
export const ENDED = z.custom<IRun>().parse({});

/** n8n resolves it when an execution has ended, and rejects it if the execution could not start. */
export type ExecutionEnd = NonNullable<Parameters<ITriggerFunctions['emit']>[2]>;

export type Emission = { items: INodeExecutionData[][]; deduplicationKey?: string | undefined };

/** An active workflow: the items and errors of its triggers, and a way to stop them. */
export type ActiveWorkflow = {
	emitted: Emission[];
	/** One per emission that waits for the end of its execution. */
	ends: ExecutionEnd[];
	errors: Error[];
	/** Errors that a running trigger reported as failed executions. */
	failed: Error[];
	/** Ends the executions that have started. */
	endExecutions(): void;
	/** Resolves at the next emission or error. */
	next(): Promise<void>;
	stop(): Promise<boolean>;
};

/** Checks webhooks, and activates trigger and polling nodes through n8n-core's own `ActiveWorkflowTriggers`. */
export async function activate(
	workflow: Workflow,
	activation: WorkflowActivateMode = 'activate',
): Promise<ActiveWorkflow> {
	const active = Container.get(ActiveWorkflowTriggers);
	for (const node of Object.values(workflow.nodes)) {
		const methods = nodeTypes.getByNameAndVersion(node.type).webhookMethods?.default;
		await methods?.checkExists.call(hookContext(workflow, node));
	}
	const errors: Error[] = [];
	const failed: Error[] = [];
	const waiters: Array<() => void> = [];
	const notify = () => waiters.splice(0).forEach((resolve) => resolve());
	const emitted: Emission[] = [];
	const record = (items: INodeExecutionData[][], deduplicationKey?: string) => {
		emitted.push({ items, deduplicationKey });
		notify();
	};
	const ends: ExecutionEnd[] = [];
	const emit: ITriggerFunctions['emit'] = (items, _response, done, key) => {
		if (done !== undefined) ends.push(done);
		record(items, key);
	};
	const emitError = (error: Error) => {
		errors.push(error);
		notify();
	};
	const saveFailedExecution = (error: Error) => {
		failed.push(error);
		notify();
	};
	await active.addAllTriggers(
		workflow.id,
		workflow,
		makeAdditionalData('trigger'),
		'trigger',
		activation,
		(flow, node, data, mode, activation) =>
			new TriggerContext(flow, node, data, mode, activation, emit, emitError, saveFailedExecution),
		(flow, node, data, mode, activation) =>
			new PollContext(flow, node, data, mode, activation, (items) => record(items), emitError),
	);
	return {
		emitted,
		ends,
		errors,
		failed,
		endExecutions: () => ends.splice(0).forEach((end) => end.resolve(ENDED)),
		next: async () => await new Promise<void>((resolve) => waiters.push(resolve)),
		stop: async () => await active.remove(workflow.id),
	};
}

/** A context for a trigger whose emissions don't matter. */
export function triggerContext(
	workflow: Workflow,
	node: INode,
	mode: WorkflowExecuteMode = 'trigger',
): TriggerContext {
	const data = makeAdditionalData(mode);
	return new TriggerContext(workflow, node, data, mode, mode === 'manual' ? 'manual' : 'activate');
}

export function pollContext(
	workflow: Workflow,
	node: INode,
	mode: WorkflowExecuteMode = 'trigger',
	budgetMs?: number,
): PollContext {
	const data = makeAdditionalData(mode);
	const activation = mode === 'manual' ? 'manual' : 'activate';
	const context = new PollContext(workflow, node, data, mode, activation);
	// As n8n's scheduler sets it.
	return budgetMs === undefined
		? context
		: Object.assign(context, { getPollBudgetMs: () => budgetMs });
}

export type WebhookRequest = {
	method?: string;
	body?: unknown;
	headers?: IDataObject;
	query?: IDataObject;
	params?: IDataObject;
	/** The body as bytes. Default: `body` as JSON. */
	rawBody?: Buffer | undefined;
	/** n8n reads the bytes here, and throws if there are too many or they can't be read. */
	readRawBody?: () => Promise<void>;
	/** Node's request stream: whether its last byte has arrived, and its buffered bytes. */
	complete?: boolean;
	read?: () => unknown;
};

/** Records a node's response to the sender of a webhook. */
export class FakeResponse {
	statusCode = 200;
	body: unknown;
	readonly headers: Record<string, unknown> = {};
	private readonly waiters: Array<() => void> = [];

	/** Resolves when the node responds, which may be after its webhook function has returned. */
	async sent(): Promise<void> {
		await new Promise<void>((resolve) => this.waiters.push(resolve));
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
		this.waiters.splice(0).forEach((resolve) => resolve());
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
	workflow: Workflow,
	node: INode,
	request: WebhookRequest,
	mode: WorkflowExecuteMode = 'webhook',
	/** The stored waiting execution that the webhook resumes. */
	waitingExecution?: { executionId: string; data: IRunExecutionData },
): { context: WebhookContext; response: FakeResponse } {
	const response = new FakeResponse();
	const httpRequest = {
		method: 'POST',
		body: {},
		headers: {},
		query: {},
		params: {},
		rawBody: request.rawBody ?? Buffer.from(JSON.stringify(request.body ?? {})),
		readRawBody: async () => {},
		...request,
	};
	const served = z.custom<Partial<IWorkflowExecuteAdditionalData>>(isObject).parse({
		httpRequest,
		httpResponse: response,
		...(waitingExecution && { executionId: waitingExecution.executionId }),
	});
	const data = makeAdditionalData(mode, served);
	const webhook = webhookData(workflow, node, data);
	return {
		context: new WebhookContext(
			workflow,
			node,
			data,
			mode,
			webhook,
			[],
			waitingExecution?.data ?? null,
		),
		response,
	};
}

/** Delivers a request to the webhook of a node. Returns the node's result for n8n and its own response. */
export async function callWebhook(...args: Parameters<typeof webhookContext>) {
	const { context, response } = webhookContext(...args);
	const answered = response.sent();
	const { type } = args[1];
	const result = await nodeTypes.getByNameAndVersion(type).webhook?.call(context);
	return { response, result, answered };
}

export function hookContext(workflow: Workflow, node: INode): HookContext {
	const data = makeAdditionalData('trigger');
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
