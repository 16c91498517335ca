import { inspect } from 'node:util';
import type { IDataObject, INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { TestCredentialsHelper } from '../engine/credentialsHelper';
import { makeNode, output, runNode, setupEngine } from '../engine/engine';
import { PACKAGE } from '../engine/nodeTypes';

/** No nock here: it takes Node's http over, and with it what these tests are about. */
const TOKEN = 'tok-0123456789ab';
const CALL: INodeParameters = {
	agentUuid: { __rl: true, mode: 'id', value: 'agent_a1' },
	countryCode: 'IN',
	phoneNumber: '9876543210',
};

/** What the node says became of the call. */
export type PlacedResult = {
	outcome: 'placed' | 'rejected' | 'unknown' | 'not_sent';
	/** `call_id`, or the words. */
	originalMessage: string;
};

/** Place Call in the real engine over real sockets, with nothing to wait for between two tries. */
export function placing() {
	const credentials = new TestCredentialsHelper();
	let waits: jest.SpyInstance;
	beforeAll(setupEngine);
	beforeEach(() => {
		waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
	});
	afterEach(() => waits.mockRestore());

	const run = async (baseUrl: string, items: IDataObject[], over: Partial<INode>) => {
		const details = await credentials.add(CREDENTIAL, { baseUrl, apiToken: TOKEN });
		const node = makeNode({
			type: `${PACKAGE}.placeCall`,
			name: 'Node',
			parameters: CALL,
			credentials: { [CREDENTIAL]: details },
			...over,
		});
		const input: INodeExecutionData[] = items.map((json) => ({ json }));
		const result = await runNode(credentials, node, input);
		const shown = inspect(result, { depth: Infinity });
		if (shown.includes(TOKEN)) throw new Error('the run shows the API token');
		return result;
	};

	return {
		/** Places one call, with *Retry On Fail* trying three times. */
		place: async (baseUrl: string): Promise<PlacedResult> => {
			const retrying = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
			const result = await run(baseUrl, [{}], retrying);
			const { error } = result.data.resultData;
			if (error !== undefined) {
				const originalMessage = `${error.message} ${String(error.description)}`;
				return { outcome: outcomeIn(originalMessage), originalMessage };
			}
			const { call_id: callId } = output(result, 'Node')[0]?.json ?? {};
			return { outcome: 'placed', originalMessage: typeof callId === 'string' ? callId : '' };
		},
		/** Places a call for each item, going on after those that fail. */
		placeEach: async (baseUrl: string, items: IDataObject[]): Promise<IDataObject[]> => {
			const goingOn = { onError: 'continueRegularOutput' as const };
			const result = await run(baseUrl, items, goingOn);
			return output(result, 'Node').map(({ json }) => json);
		},
	};
}

function outcomeIn(originalMessage: string): PlacedResult['outcome'] {
	if (originalMessage.includes('the outcome is unknown')) return 'unknown';
	return /so the request wasn't sent|n8n blocked/.test(originalMessage) ? 'not_sent' : 'rejected';
}
