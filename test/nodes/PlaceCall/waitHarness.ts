import { randomUUID } from 'node:crypto';
import nock from 'nock';
import type { IBinaryKeyData, IDataObject, INode, INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { CREDENTIAL } from '../../../nodes/host/http/credential';
import {
	callWebhook,
	makeWorkflow,
	oneNodeWorkflow,
	records,
	resume,
	runWorkflow,
	type WebhookRequest,
} from '../../engine';
import { until } from '../../n8n/until';
import { dialects, fixtures, type Simulator } from '../../simulator';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { itemsOf, perItem, placeCallHarness, waitBy } from './placeCallHarness';

/** n8n's base URL. */
export const N8N = 'http://localhost:5678';
export const PINGS = /^\/webhook-waiting\/[^/]+\/id-Node/;

export const HOUR = 3_600_000;
export const byWebhook = waitBy('webhook');
export const byReading = waitBy('reading');

/** How a wait learns of the ends of its calls. */
export const MODES = ['reading', 'webhook'] as const;
export type Mode = (typeof MODES)[number];

export const people = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ phone: String(9_000_000_000 + index) }));

/** n8n's real response at the resume URL of a running execution. */
const ownAddress = () =>
	nock(N8N)
		.get(/^\/webhook-waiting\//)
		.reply(409, {});

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
				...perItem,
				...parameters,
			},
			{
				credentials: { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) },
				...over,
			},
		);
	}

	/** @param binary the files of each item */
	async function runOrPause(
		placeCall: INode,
		rows: number | IDataObject[],
		binary?: IBinaryKeyData,
	): Promise<IRun> {
		executionId = randomUUID();
		const { workflow, start } = oneNodeWorkflow(placeCall, ['After']);
		const items = itemsOf(typeof rows === 'number' ? people(rows) : rows);
		const input = items.map((item) => ({ ...item, ...(binary && { binary }) }));
		return await runWorkflow(workflow, start, input);
	}

	/** A request to the resume URL of the waiting execution. Returns `items` if the execution resumed. */
	async function deliver(placeCall: INode, run: IRun, request: WebhookRequest) {
		const data = structuredClone(run.data);
		const { response, result } = await callWebhook(
			makeWorkflow([placeCall]),
			placeCall,
			request,
			'webhook',
			{ executionId, data },
		);
		const items = result?.workflowData?.[0]?.map(({ json }) => json);
		return { response, result, items, customData: data.resultData.metadata };
	}

	/** n8n's own limit ends the wait. */
	const runOutOfTime = async (placeCall: INode, { data }: IRun): Promise<IRun> =>
		await resume(oneNodeWorkflow(placeCall, ['After']).workflow, structuredClone(data));

	/** The calls of a waiting execution, and requests that resume it. */
	async function waiting(
		parameters: INodeParameters,
		rows: number | IDataObject[] = 1,
		over: Partial<INode> = {},
		binary?: IBinaryKeyData,
	) {
		ownAddress();
		const placeCall = await node(parameters, over);
		const run = await runOrPause(placeCall, rows, binary);
		const calls = simulator()
			.placedCalls()
			.map(({ callId }) => callId);
		const [callId = ''] = calls;
		return {
			...{ placeCall, run, calls, callId },
			arrive: async (body: object = {}) => await deliver(placeCall, run, { body }),
			deliver: async (request: WebhookRequest) => await deliver(placeCall, run, request),
			/** The output if n8n's own limit ends the wait. */
			untilLimit: async () => records(await runOutOfTime(placeCall, run), 'After'),
			runOutOfTime: async () => await runOutOfTime(placeCall, run),
		};
	}

	return { node, runOrPause, waiting, deliver };
}

/** A service, whose dialect makes no difference here, and Place Call. The test controls the clock. */
export function waitHarness() {
	const harness = placeCallHarness();
	let now: jest.SpyInstance<number, []>;
	let waits: number[];

	beforeEach(() => {
		waits = [];
		now = jest.spyOn(clock, 'now');
		jest.spyOn(clock, 'elapsed').mockImplementation(clock.now.bind(clock));
		// No automatic pings: each test sends its own.
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			waits.push(ms);
			await new Promise(() => {});
		});
	});
	const service = useSimulator({ dialect: dialects.plain });
	const executions = waitingExecutions(harness, service);
	const { node, runOrPause, waiting } = executions;

	/** From now on, a wait ends immediately and advances the clock. */
	const timeFlies = (
		waitingRun: (ms: number) => Promise<void> = async () => await Promise.resolve(),
	): void => {
		let time = clock.now();
		now.mockImplementation(() => time);
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			waits.push(ms);
			await waitingRun(ms);
			time += ms;
		});
	};
	const placed = () =>
		service()
			.placedCalls()
			.map(({ callId }) => callId);

	return {
		...executions,
		harness,
		service,
		ownAddress,
		placed,
		timeFlies,
		isNow: (time: number) => now.mockReturnValue(time),
		/** The waits beside the waiting execution. */
		waits: () => waits,
		/** The output of a wait of at most an hour, during which this happens. */
		waitedFor: async (
			mode: Mode,
			meanwhile: (calls: string[]) => Promise<unknown>,
			{ rows = 1, parameters = {}, options = {}, over = {} }: Waited = {},
		): Promise<object[] | undefined> => {
			const all = { ...parameters, ...waitBy(mode, {}, options) };
			if (mode === 'reading') {
				timeFlies(async () => {
					if (waits.length === 1) await meanwhile(placed());
				});
				return records(await runOrPause(await node(all, over), rows));
			}
			const { calls, arrive } = await waiting(all, rows, over);
			await meanwhile(calls);
			return (await arrive({ call_id: calls.at(-1) ?? '' })).items;
		},
		/** n8n's responses to the pings of the resume URL, by status or text. */
		answerPings: (...answers: Array<number | string>) => {
			const pings: unknown[] = [];
			nock(N8N)
				.post(PINGS)
				.times(answers.length)
				.reply((_uri, body) => {
					pings.push(body);
					const answer = answers[pings.length - 1];
					return typeof answer === 'string' ? [200, answer] : [answer, {}];
				});
			const last = async () =>
				await until('the last ping', async () => pings.length === answers.length);
			return { pings, last };
		},
	};
}

type Waited = {
	rows?: number | IDataObject[];
	parameters?: INodeParameters;
	options?: INodeParameters;
	over?: Partial<INode>;
};
