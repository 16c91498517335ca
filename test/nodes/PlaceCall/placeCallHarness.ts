import type {
	IDataObject,
	INode,
	INodeExecutionData,
	INodeParameters,
	IRun,
	IWorkflowSettings,
} from 'n8n-workflow';
import type nock from 'nock';
import { engineHarness, runNode, service } from '../../engine';

export const CALL = {
	agentUuid: { __rl: true, mode: 'id', value: 'agent_a1' },
	countryCode: 'IN',
	phoneNumber: '9876543210',
} satisfies INodeParameters;

export const BODY = { agent_uuid: 'agent_a1', country_code: 'IN', phone_number: '9876543210' };

/** *Wait for Completion* with these settings, and other options. */
export const waitBy = (
	way: 'webhook' | 'reading',
	settings: INodeParameters = {},
	options: INodeParameters = {},
) => ({
	options: {
		...options,
		wait: {
			settings: { waitForCompletion: way, waitLimit: 1, waitLimitUnit: 'hours', ...settings },
		},
	},
});

/** Runs Place Call in the real engine, with these parameters and those of a valid call. */
export function placeCallHarness() {
	const harness = engineHarness();
	const node = (parameters: INodeParameters = {}, over: Partial<INode> = {}) =>
		harness.node('placeCall', { parameters: { ...CALL, ...parameters }, ...over });
	return {
		...harness,
		place: async (
			parameters: INodeParameters = {},
			{ items = [{}], over = {}, settings = {}, sinks = [] }: Setting = {},
		): Promise<IRun> => {
			const input: INodeExecutionData[] = items.map((json) => ({ json }));
			return await runNode(harness.credentials, node(parameters, over), input, sinks, settings);
		},
		placeCallNode: node,
	};
}

type Setting = {
	items?: IDataObject[];
	over?: Partial<INode>;
	settings?: IWorkflowSettings;
	sinks?: string[];
};

export const callsEndpoint = (path = '/v1/call') => service().post(path);

export function phoneOf(body: nock.Body): string {
	return typeof body === 'string' ? '' : String(body.phone_number);
}

/** The service accepts every call and records the bodies. */
export function acceptCalls(count: number, path = '/v1/call'): IDataObject[] {
	const bodies: IDataObject[] = [];
	const callIds = new CallIds();
	service()
		.post(path)
		.times(count)
		.reply(200, (_uri, body) => {
			bodies.push(typeof body === 'string' ? {} : body);
			return { success: true, data: { call_id: callIds.next(phoneOf(body)) } };
		});
	return bodies;
}

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
