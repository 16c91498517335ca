import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	INode,
	INodeParameters,
	IRun,
} from 'n8n-workflow';
import { z } from 'zod';
import { credentialFor } from '../contract/credentialFor';
import { simulatorWithSockets } from '../contract/simulatedNodes';
import { startNode, engineHarness, HOST, runNode, TOKEN, type Execution } from '../engine';
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
	const simulator = simulatorWithSockets(dialects.plain);

	const node = async (
		host: string | undefined,
		parameters: INodeParameters,
		{ overrides = {}, credential = {} }: RunOptions,
	) => {
		const data = credentialFor(simulator());
		const onHost = host !== undefined && { apiToken: TOKEN, baseUrl: host };
		return await harness.nodeWith({ ...data, ...onHost, ...credential }, type, {
			parameters: { ...defaults, ...parameters },
			...overrides,
		});
	};
	const runOn = async (
		host: string | undefined,
		parameters: INodeParameters,
		setting: RunOptions,
	) => {
		const { items = [{}] } = setting;
		const input = items.map((json) => ({ json }));
		return await runNode(await node(host, parameters, setting), input);
	};
	return {
		simulator,
		/** The number of sockets that were requested. */
		connections: () =>
			simulator().requests.filter(({ path }) => path.endsWith('/user-stream')).length,
		/** Connects another client to the session, such as a support desk. */
		otherClient: async (sessionId: string) => await otherClient(simulator(), sessionId),
		/** A node of another type, for another workflow. */
		other: async (
			otherType: string,
			parameters: INodeParameters,
			overrides: Partial<INode> = {},
		): Promise<INode> =>
			await harness.nodeWith(credentialFor(simulator()), otherType, { parameters, ...overrides }),
		/** Runs the node with the simulator. */
		run: async (parameters: INodeParameters = {}, setting: RunOptions = {}): Promise<IRun> =>
			await runOn(undefined, parameters, setting),
		/** Starts the node with the simulator. */
		start: async (
			parameters: INodeParameters = {},
			setting: RunOptions = {},
		): Promise<{ execution: Execution }> => {
			const { items = [{}] } = setting;
			const input = items.map((json) => ({ json }));
			const started = await node(undefined, parameters, setting);
			return { execution: startNode(started, input) };
		},
		/** Runs the node with the nock responses of `service()`. */
		runOnNock: async (parameters: INodeParameters = {}, setting: RunOptions = {}): Promise<IRun> =>
			await runOn(HOST, parameters, setting),
	};
}

/** Connects to the session as a client other than n8n. */
export async function otherClient(simulator: Simulator, sessionId: string): Promise<WebSocket> {
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
