import { randomUUID } from 'node:crypto';
import nock from 'nock';
import type { IDataObject, INode, INodeParameters, IRun, IWebhookResponseData } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import {
	makeWorkflow,
	callWebhook,
	oneNodeWorkflow,
	resume,
	runWorkflow,
	type FakeResponse,
	type WebhookRequest,
	records,
} from '../../engine';
import { fixtures, type Simulator } from '../../simulator';
import type { placeCallHarness } from './placeCallHarness';

/** n8n's base URL. */
export const N8N = 'http://localhost:5678';

export const people = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ phone: String(9_000_000_000 + index) }));

/** The response to a request at the resume URL. `items` if the execution resumed. */
export type Arrival = {
	response: FakeResponse;
	result: IWebhookResponseData | undefined;
	items: object[] | undefined;
};

/** Executions in which Place Call waits, and requests to their resume URLs. */
export function waitingExecutions(
	harness: ReturnType<typeof placeCallHarness>,
	simulator: () => Simulator,
) {
	let executionId: string;

	async function node(parameters: INodeParameters, over: Partial<INode> = {}): Promise<INode> {
		const { baseUrl, token: apiToken } = simulator();
		return harness.placeCallNode(
			{
				agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
				phoneNumber: '={{ $json.phone }}',
				...parameters,
			},
			{
				credentials: { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) },
				...over,
			},
		);
	}

	/** n8n's real response at the resume URL of a running execution. */
	function ownAddress(): void {
		nock(N8N)
			.get(/^\/webhook-waiting\//)
			.reply(409, {});
	}

	async function runOrPause(placeCall: INode, rows: number | IDataObject[]): Promise<IRun> {
		executionId = randomUUID();
		const { workflow, start } = oneNodeWorkflow(placeCall, ['After']);
		const items = typeof rows === 'number' ? people(rows) : rows;
		const input = items.map((json) => ({ json }));
		return await runWorkflow(workflow, start, input);
	}

	/** A request to the resume URL of the waiting execution. */
	async function deliver(
		placeCall: INode,
		{ data }: IRun,
		request: WebhookRequest,
	): Promise<Arrival> {
		const { response, result } = await callWebhook(
			makeWorkflow([placeCall]),
			placeCall,
			request,
			'webhook',
			{ executionId, data: structuredClone(data) },
		);
		return { response, result, items: result?.workflowData?.[0]?.map(({ json }) => json) };
	}

	/** The calls of a waiting execution, and requests that resume it. */
	async function waiting(
		parameters: INodeParameters,
		rows: number | IDataObject[] = 1,
		over: Partial<INode> = {},
	) {
		ownAddress();
		const placeCall = await node(parameters, over);
		const run = await runOrPause(placeCall, rows);
		const calls = simulator()
			.placedCalls()
			.map(({ callId }) => callId);
		const [callId = ''] = calls;
		return {
			placeCall,
			run,
			calls,
			callId,
			arrive: async (body: object = {}) => await deliver(placeCall, run, { body }),
			deliver: async (request: WebhookRequest) => await deliver(placeCall, run, request),
			/** The output if n8n's own limit ends the wait. */
			untilLimit: async () => {
				const { workflow } = oneNodeWorkflow(placeCall, ['After']);
				const resumed = await resume(workflow, structuredClone(run.data));
				return records(resumed, 'After');
			},
		};
	}

	return { node, ownAddress, runOrPause, waiting };
}
