import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	INode,
	INodeParameters,
	IRun,
	WorkflowActivateMode,
} from 'n8n-workflow';
import { z } from 'zod';
import type { JsonObject } from '../../nodes/core/values/json';
import { clock } from '../../nodes/host/clock';
import { credentialFor } from '../contract/credentialFor';
import { simulatorWithSockets } from '../contract/simulatedNodes';
import {
	activate,
	type ActiveWorkflow,
	engineHarness,
	type Execution,
	HOST,
	makeWorkflow,
	runNode,
	speedUp,
	startNode,
	TOKEN,
} from '../engine';
import { eventually } from '../n8n/until';
import { dialects, fixtures, type Simulator } from '../simulator';

export { eventually };

export const { sessions, agents } = fixtures;

const minted = z.object({ data: z.object({ token: z.string(), ws_url: z.string() }) });

export type RunOptions = {
	items?: IDataObject[];
	overrides?: Partial<INode>;
	/** Replaces fields of the credential. */
	credential?: ICredentialDataDecryptedObject;
};

/** A chat node in n8n's engine, with the simulator or with nock. */
export function chatHarness(type: string, defaults: INodeParameters) {
	const harness = engineHarness();
	let active: ActiveWorkflow[] = [];
	// Before the hook below waits until all sockets are closed.
	afterEach(async () => {
		speedUp(500);
		await Promise.all(active.map(async (one) => await one.stop()));
		active = [];
	});
	const simulator = simulatorWithSockets(dialects.plain);

	const other = async (
		otherType: string,
		parameters: INodeParameters,
		overrides: Partial<INode> = {},
	): Promise<INode> =>
		await harness.nodeWith(credentialFor(simulator()), otherType, { parameters, ...overrides });
	const triggerNode = async (parameters: INodeParameters, overrides: Partial<INode> = {}) => {
		const names = { id: 'trigger-node', name: 'Trigger' };
		return await other('chatEventsTrigger', parameters, { ...names, ...overrides });
	};
	const receives = (frame: object) =>
		simulator().sessions.pushRaw(sessions.open, JSON.stringify(frame));
	const sockets = () =>
		simulator()
			.requests.filter(({ path }) => path.endsWith('/user-stream'))
			.map(({ query }) => query);
	const connected = async (count = 1) =>
		await eventually(() => simulator().sessions.openSockets() === count);
	const node = async (
		parameters: INodeParameters,
		{ overrides = {}, credential = {} }: RunOptions,
	): Promise<INode> =>
		await harness.nodeWith({ ...credentialFor(simulator()), ...credential }, type, {
			parameters: { ...defaults, ...parameters },
			...overrides,
		});
	const inputOf = ({ items = [{}] }: RunOptions) => items.map((json) => ({ json }));
	const run = async (parameters: INodeParameters, setting: RunOptions): Promise<IRun> =>
		await runNode(await node(parameters, setting), inputOf(setting));
	return {
		simulator,
		/** The service sends this frame as it is to the open session. */
		receives,
		acks: (payload: JsonObject) => receives({ type: 'ws_write_result', payload }),
		/** The query of each socket that was requested. */
		sockets,
		/** The number of requests for a WebSocket token. */
		tokens: () => simulator().requests.filter(({ path }) => path.endsWith('/ws_token')).length,
		/** Waits until that many sockets are open. */
		connected,
		/** Waits until that many sockets are open, and ready. */
		settled: async (count = 1) => {
			await connected(count);
			await clock.sleep(1_000);
		},
		/** Connects another client to the session, such as a support desk. */
		otherClient: async (sessionId: string) => await otherClient(simulator(), sessionId),
		/** A node of another type, for another workflow. */
		other,
		triggerNode,
		/** Publishes a Chat Events Trigger, and waits until a listed session is connected. The harness stops it after the test. */
		publish: async (
			parameters: INodeParameters = { sessionIds: sessions.open },
			activation: WorkflowActivateMode = 'activate',
			staticData: IDataObject = {},
			overrides: Partial<INode> = {},
		) => {
			const workflow = makeWorkflow([await triggerNode(parameters, overrides)]);
			// n8n-core deactivates an active workflow with the same ID.
			workflow.id = `workflow-of-${overrides.id ?? 'trigger'}`;
			workflow.staticData = staticData;
			const one = await activate(workflow, activation);
			active.push(one);
			const isListed = parameters.sessionIds !== undefined && activation === 'activate';
			await eventually(() => !isListed || simulator().sessions.openSockets() > 0);
			return { ...one, workflow };
		},
		/** Waits until the trigger has reported that many losses, for which it collects them half a minute. */
		reported: async ({ failed }: Pick<ActiveWorkflow, 'failed'>, count = 1) => {
			speedUp(1_000);
			await eventually(() => failed.length === count);
		},
		/** Breaks the connection to a session for which the service then gives no token. */
		loseForGood: (sessionId: string) => {
			simulator().faults.respond(`/v1/chat/session/${sessionId}/ws_token`, 403);
			simulator().sessions.closeSockets(4401, sessionId);
		},
		/** Runs the node with the simulator. */
		run: async (parameters: INodeParameters = {}, setting: RunOptions = {}) =>
			await run(parameters, setting),
		/** Starts the node with the simulator. */
		start: async (
			parameters: INodeParameters = {},
			setting: RunOptions = {},
		): Promise<{ execution: Execution }> => ({
			execution: startNode(await node(parameters, setting), inputOf(setting)),
		}),
		/** Runs the node with the nock responses of `service()`. */
		runOnNock: async (parameters: INodeParameters = {}, setting: RunOptions = {}) => {
			const credential = { apiToken: TOKEN, baseUrl: HOST, ...setting.credential };
			return await run(parameters, { ...setting, credential });
		},
	};
}

/** Connects to the session as a client other than n8n. */
async function otherClient(simulator: Simulator, sessionId: string): Promise<WebSocket> {
	const response = await fetch(`${simulator.baseUrl}/v1/chat/session/${sessionId}/ws_token`, {
		method: 'POST',
		headers: { 'API-Token': simulator.token, 'Content-Type': 'application/json' },
		body: JSON.stringify({ stream: 'user' }),
	});
	const { data } = minted.parse(await response.json());
	const socket = new WebSocket(`${data.ws_url}?token=${data.token}&client_id=desk`);
	await new Promise((resolve) => socket.addEventListener('open', resolve));
	return socket;
}

/** The message and description of the error that stops the node. */
export function stopMessage(run: IRun): { message: string; description: unknown } {
	const { error } = run.data.resultData;
	return { message: error?.message ?? 'The node did not stop', description: error?.description };
}

/** The events that started an execution. */
function eventsOf({ emitted }: Pick<ActiveWorkflow, 'emitted'>): IDataObject[] {
	return emitted.flatMap(({ items }) => items[0]?.map(({ json }) => json) ?? []);
}

/** The types of the events that started an execution. */
export const typesOf = (active: Pick<ActiveWorkflow, 'emitted'>): unknown[] =>
	eventsOf(active).map(({ type }) => type);

/** The IDs of the events that started an execution. */
export const eventIds = (active: Pick<ActiveWorkflow, 'emitted'>): unknown[] =>
	eventsOf(active).map(({ event_id }) => event_id);
