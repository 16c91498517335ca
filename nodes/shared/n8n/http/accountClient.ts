import { sleep } from 'n8n-workflow';
import { fingerprint } from '../../hash';
import { ApiMapping } from '../../apiMapping';
import { ApiClient } from '../../api/client';
import { anyOf, type Clock } from '../../clock';
import { CREDENTIAL, readServiceAccess } from './credential';
import { deadlineOf } from '../tools/toolDeadline';
import { createTransport, type ServiceContext } from './transport';

export const clock: Clock = {
	now: () => Date.now(),
	elapsed: () => performance.now(),
	sleep,
};

export type AccountClient = {
	client: ApiClient;
	baseUrl: string;
	/** Tells accounts apart without holding the token. */
	account: string;
	apiMapping: ApiMapping;
};

/** Reads the credential once and makes the client of its account. */
export async function createAccountClient(context: ServiceContext): Promise<AccountClient> {
	const data = await context.getCredentials(CREDENTIAL);
	const { baseUrl, apiToken } = readServiceAccess(data);
	const transport = createTransport(context, baseUrl, { ...data, baseUrl, apiToken });
	const { at, signal } = deadlineOf(context) ?? {};
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
export function lazyAccountClient(context: ServiceContext): () => Promise<AccountClient> {
	let connection: Promise<AccountClient> | undefined;
	return async () => await (connection ??= createAccountClient(context));
}
