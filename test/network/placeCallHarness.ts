import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
import { output, records } from '../engine/engine';
import { realSockets } from './realSockets';

const CALL: INodeParameters = {
	whatToDo: 'place',
	agentUuid: { __rl: true, mode: 'id', value: 'agent_a1' },
	countryCode: 'IN',
	phoneNumber: '={{ 9876543210 + $itemIndex }}',
};

/** The outcome of a call, as the node reports it. */
export type PlaceCallResult = {
	outcome: 'placed' | 'rejected' | 'unknown' | 'not_sent';
	/** `call_id`, or the error message and description. */
	message: string;
};

/** Place Call in n8n's engine with real sockets. */
export function placeCallHarness() {
	const runNode = realSockets();
	const run = async (baseUrl: string, items: IDataObject[], overrides: Partial<INode>) =>
		await runNode(
			baseUrl,
			'placeCall',
			CALL,
			items.map((json) => ({ json })),
			overrides,
		);

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
			return records(result);
		},
	};
}

function outcomeIn(message: string): PlaceCallResult['outcome'] {
	if (message.includes('the outcome is unknown')) return 'unknown';
	return /so the request wasn't sent|n8n blocked/.test(message) ? 'not_sent' : 'rejected';
}
