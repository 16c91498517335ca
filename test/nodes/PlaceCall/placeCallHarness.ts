import type {
	IDataObject,
	INode,
	INodeExecutionData,
	INodeParameters,
	IRun,
	IRunExecutionData,
	IWorkflowSettings,
} from 'n8n-workflow';
import type nock from 'nock';
import { clock } from '../../../nodes/host/clock';
import {
	engineHarness,
	inTwoBranches,
	oneNodeWorkflow,
	resume,
	retryFailed,
	runKilled,
	runNode,
	runWorkflow,
	service,
	storedCopy,
} from '../../engine';

export const CALL = {
	whatToDo: 'place',
	agentUuid: { __rl: true, mode: 'id', value: 'agent_a1' },
	countryCode: 'IN',
	phoneNumber: '9876543210',
} satisfies INodeParameters;

export const BODY = { agent_uuid: 'agent_a1', country_code: 'IN', phone_number: '9876543210' };

/** Calls the number of each item. */
export const perItem = { phoneNumber: '={{ $json.phone }}' };

/** Calls each item on another day. */
export const onOtherDays = {
	when: 'dateTime',
	scheduledAt: '=2040-01-{{ 10 + $itemIndex }}T12:00:00+05:30',
} satisfies INodeParameters;

export const phone = (index: number) => String(9_876_543_210 + index);

export const people = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ phone: phone(index) }));

export const itemsOf = (rows: IDataObject[]): INodeExecutionData[] =>
	rows.map((json) => ({ json }));

/** *Calling Hours*. */
export const HOURS = {
	callingHours: 'within',
	callingDays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'],
	callingFrom: '09:00',
	callingUntil: '18:00',
	timeZone: 'Asia/Kolkata',
};

/** Within {@link HOURS}. */
export const NOON = '2026-11-20T12:00:00+05:30';

/** After {@link HOURS}. */
export const NIGHT = '2026-11-20T22:00:00+05:30';

/** *On Error* of a node: *Continue*. */
export const CONTINUE = { onError: 'continueRegularOutput' } as const;

/** Runs Place Call in the real engine, with these parameters and those of a valid call. */
export function placeCallHarness() {
	const harness = engineHarness();
	afterEach(() => jest.restoreAllMocks());
	const node = (parameters: INodeParameters = {}, over: Partial<INode> = {}) =>
		harness.node('placeCall', { parameters: { ...CALL, ...parameters }, ...over });
	const place = async (
		parameters: INodeParameters = {},
		{ items = [{}], over = {}, settings = {} }: Setting = {},
	): Promise<IRun> => await runNode(node(parameters, over), itemsOf(items), [], settings);
	return {
		...harness,
		place,
		placeCallNode: node,
		/** The request of the call that the node places. */
		sent: async (parameters: INodeParameters, setting: Setting = {}) => {
			const bodies = acceptCalls(1);
			const run = await place(parameters, setting);
			expect(run.data.resultData.error).toBeUndefined();
			return bodies[0] ?? {};
		},
		/** What the node says if it places no call, and what to do. */
		refusal: async (parameters: INodeParameters, setting: Setting = {}): Promise<string> => {
			const { message, description } = faultOf(await place(parameters, setting));
			expect(`${message} ${description}`).not.toMatch(/error|problem|failure/i);
			return `${message}. ${description}`.replace(
				/ Nothing was sent or changed in this run\.$/,
				'',
			);
		},
		/** The output of each run of the node, to which two connections lead from the node before it. */
		inTwoBranches: async (ofRuns: INode, ...rows: IDataObject[]) => {
			const { workflow, start } = inTwoBranches(ofRuns);
			const run = await runWorkflow(workflow, start, itemsOf(rows.length > 0 ? rows : [{}]));
			const runs = run.data.resultData.runData.Node ?? [];
			return {
				run,
				items: runs.flatMap(({ data }) => data?.main?.[0] ?? []).map(({ json }) => json),
			};
		},
		/** An execution of this node. */
		run: async (ofRun: INode, rows: IDataObject[]): Promise<IRun> => {
			const { workflow, start } = oneNodeWorkflow(ofRun);
			return await runWorkflow(workflow, start, itemsOf(rows));
		},
		/** *Retry* of a failed execution. */
		retry: async (failed: IRun, current: INode): Promise<IRun> =>
			await retryFailed(failed, oneNodeWorkflow(current).workflow),
		/** Runs the node, and n8n is killed before it stores the execution. */
		kill: async (ofRun: INode, rows: IDataObject[]): Promise<IRunExecutionData> => {
			const { workflow, start } = oneNodeWorkflow(ofRun);
			return await runKilled(workflow, start, itemsOf(rows), clock.now());
		},
		/** *Retry* of a killed execution, with the same or newly read rows. */
		retryAfterKill: async (
			begun: IRunExecutionData,
			current: INode,
			rows?: IDataObject[],
		): Promise<IRun> => {
			const data = storedCopy(begun);
			const [task] = data.executionData?.nodeExecutionStack ?? [];
			if (rows !== undefined && task !== undefined) task.data = { main: [itemsOf(rows)] };
			return await resume(oneNodeWorkflow(current).workflow, data, 'retry');
		},
	};
}

type Setting = {
	items?: IDataObject[];
	over?: Partial<INode>;
	settings?: IWorkflowSettings;
};

export const callsEndpoint = () => service().post('/v1/call');

export function phoneOf(body: nock.Body): string {
	return typeof body === 'string' ? '' : String(body.phone_number);
}

/** The service accepts every call and records the bodies. */
export const acceptCalls = (count: number): IDataObject[] =>
	accept(callsEndpoint().times(count), '');

/** The service would accept up to this many calls, with other IDs. Records the bodies of those that are sent. */
export const acceptUpTo = (count: number): IDataObject[] =>
	accept(callsEndpoint().times(count).optionally(), 'another-');

function accept(calls: nock.Interceptor, idPrefix: string): IDataObject[] {
	const bodies: IDataObject[] = [];
	const callIds = new CallIds();
	calls.reply(200, (_uri, body) => {
		const sent: IDataObject = typeof body === 'string' ? {} : body;
		bodies.push(sent);
		const callId = `${idPrefix}${callIds.next(phoneOf(body))}`;
		return { success: true, data: { call_id: callId, ...dueOf(sent) } };
	});
	return bodies;
}

function dueOf({ scheduled_at: at }: IDataObject): IDataObject {
	if (typeof at !== 'string') return {};
	return { scheduled_at: at, scheduled_at_epoch: Math.floor(Date.parse(at) / 1_000) };
}

/** The service rejects the next call. */
export const rejectCall = () => callsEndpoint().reply(400, { success: false, error: 'no' });

/** `call-<number>`, and another ID for each further call to the number. */
export class CallIds {
	private readonly counts = new Map<string, number>();

	next(phone: string): string {
		const count = (this.counts.get(phone) ?? 0) + 1;
		this.counts.set(phone, count);
		return count === 1 ? `call-${phone}` : `call-${phone}-${count}`;
	}
}

export function faultOf(run: IRun): IDataObject & { message: string; description: string } {
	const { error } = run.data.resultData;
	if (error === undefined) throw new Error('the run did not stop');
	return { ...error, message: error.message, description: String(error.description) };
}
