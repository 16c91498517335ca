import type { INode, WorkflowExecuteMode } from 'n8n-workflow';
import { makeWorkflow, resume, runDataOf, runKilled, records } from './engine';
import { nodeTypes } from './nodeTypes';
import { callWebhook, hookContext, type WebhookRequest } from './triggers';

/** The start of the last execution, because n8n recognizes a retry by the start of its first one. */
let lastStart = 1_800_000_000_000;

/** A webhook trigger in a published workflow: each request that it accepts starts an execution, as in n8n. */
export function webhookTrigger(node: INode) {
	const workflow = makeWorkflow([node]);
	const receive = async (request: WebhookRequest, mode: WorkflowExecuteMode) => {
		const { response, result } = await callWebhook(workflow, node, request, mode);
		return { response, input: result?.workflowData?.[0] };
	};
	return {
		workflow,
		/** Sends a request, and runs its execution. */
		deliver: async (request: WebhookRequest, mode: WorkflowExecuteMode = 'webhook') => {
			const { response, input } = await receive(request, mode);
			if (input === undefined) return { response, execution: undefined, items: [] };
			const data = runDataOf(node, input);
			if (data.executionData !== undefined) {
				data.executionData.runtimeData = {
					version: 1,
					establishedAt: ++lastStart,
					source: 'webhook',
				};
			}
			const execution = await resume(workflow, data, mode);
			const items = records(execution, node.name);
			return { response, execution, items };
		},
		/** Sends a request. n8n is killed when the trigger has passed its items on. Returns what n8n has stored. */
		deliverAndKill: async (request: WebhookRequest) => {
			const { input = [] } = await receive(request, 'webhook');
			return { data: await runKilled(workflow, node, input, ++lastStart) };
		},
		publish: async () => {
			const methods = nodeTypes.getByNameAndVersion(node.type).webhookMethods?.default;
			return await methods?.checkExists.call(hookContext(workflow, node));
		},
	};
}
