import { inspect } from 'node:util';
import type { IDataObject, INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { TestCredentialsHelper } from '../engine/credentialsHelper';
import { makeNode, output, runNode, setupEngine } from '../engine/engine';
import { PACKAGE } from '../engine/nodeTypes';

// No nock here, because it replaces Node's http, which these tests check.
const TOKEN = 'tok-0123456789ab';
const CALL: INodeParameters = {
	agentUuid: { __rl: true, mode: 'id', value: 'agent_a1' },
	countryCode: 'IN',
	phoneNumber: '9876543210',
};

/** The outcome of a call, as the node reports it. */
export type PlaceCallResult = {
	outcome: 'placed' | 'rejected' | 'unknown' | 'not_sent';
	/** `call_id`, or the error message and description. */
	message: string;
};

/** Place Call in n8n's engine with real sockets. It doesn't wait between attempts. */
export function placeCallHarness() {
	const credentials = new TestCredentialsHelper();
	let waits: jest.SpyInstance;
	beforeAll(setupEngine);
	beforeEach(() => {
		waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
	});
	afterEach(() => waits.mockRestore());

	const run = async (baseUrl: string, items: IDataObject[], overrides: Partial<INode>) => {
		const details = await credentials.add(CREDENTIAL, { baseUrl, apiToken: TOKEN });
		const node = makeNode({
			type: `${PACKAGE}.placeCall`,
			name: 'Node',
			parameters: CALL,
			credentials: { [CREDENTIAL]: details },
			...overrides,
		});
		const input: INodeExecutionData[] = items.map((json) => ({ json }));
		const result = await runNode(credentials, node, input);
		const printed = inspect(result, { depth: Infinity });
		if (printed.includes(TOKEN)) throw new Error('The run contains the API token');
		return result;
	};

	return {
		/** Places one call, with *Retry On Fail* and three attempts. */
		place: async (baseUrl: string): Promise<PlaceCallResult> => {
			const retrying = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
			const result = await run(baseUrl, [{}], retrying);
			const { error } = result.data.resultData;
			if (error !== undefined) {
				const message = `${error.message} ${String(error.description)}`;
				return { outcome: outcomeIn(message), message };
			}
			const { call_id: callId } = output(result, 'Node')[0]?.json ?? {};
			return { outcome: 'placed', message: typeof callId === 'string' ? callId : '' };
		},
		/** Places a call for each item, and continues if one fails. */
		placeEach: async (baseUrl: string, items: IDataObject[]): Promise<IDataObject[]> => {
			const overrides = { onError: 'continueRegularOutput' as const };
			const result = await run(baseUrl, items, overrides);
			return output(result, 'Node').map(({ json }) => json);
		},
	};
}

function outcomeIn(message: string): PlaceCallResult['outcome'] {
	if (message.includes('the outcome is unknown')) return 'unknown';
	return /so the request wasn't sent|n8n blocked/.test(message) ? 'not_sent' : 'rejected';
}
