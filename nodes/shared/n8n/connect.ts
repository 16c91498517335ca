import { sleep } from 'n8n-workflow';
import { fingerprint } from '../hash';
import { ApiMapping } from '../apiMapping';
import { ApiClient } from '../api/client';
import { anyOf, type Clock } from '../clock';
import { CREDENTIAL, readServiceAccess } from './credential';
import { toolEndOf } from './toolTime';
import { createTransport, type ServiceContext } from './transport';

export const clock: Clock = {
	now: () => Date.now(),
	elapsed: () => performance.now(),
	sleep,
};

export type Connection = {
	client: ApiClient;
	baseUrl: string;
	/** Tells accounts apart without holding the token. */
	account: string;
	apiMapping: ApiMapping;
};

/** Reads the credential once and makes the client of its account. */
export async function connect(context: ServiceContext): Promise<Connection> {
	const data = await context.getCredentials(CREDENTIAL);
	const { baseUrl, apiToken } = readServiceAccess(data);
	const transport = createTransport(context, baseUrl, { ...data, baseUrl, apiToken });
	const { at, signal } = toolEndOf(context) ?? {};
	const stop = anyOf(signal, stopSignalOf(context));
	return {
		client: new ApiClient(transport, clock, Math.random, apiToken, at, stop),
		baseUrl,
		account: fingerprint(apiToken),
		apiMapping: new ApiMapping(data),
	};
}

/** Of an execution that a person can stop. */
function stopSignalOf(context: ServiceContext): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
}

/** Connects at the first call: inside the item loop, so that each item says what ails the credential. */
export function connectOnce(context: ServiceContext): () => Promise<Connection> {
	let connection: Promise<Connection> | undefined;
	return async () => await (connection ??= connect(context));
}
