import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import type { Additions } from '../core/service/endpoints';
import { READS_AT_ONCE } from '../core/service/limits';
import { parseCallId } from '../core/service/parseIds';
import type { Fields } from '../host/forms/fields';
import {
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
	readAdditions,
	readConcurrency,
} from '../host/forms/options';
import type { AccountClient } from '../host/http/accountClient';
import { forEachItem } from '../host/run/itemLoop';
import type { OperationRun } from '../host/run/operations';

export const callIdField: INodeProperties = {
	displayName: 'Call ID',
	name: 'callId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 6f1c2a34-9b1e-4c55-8f0a-2d7f3c1b9e00',
	description: 'The ID of the call: the call_id that Place Call and Call Completed Trigger return',
};

const requestOptions = [
	additionalQueryParameters,
	concurrencyField(READS_AT_ONCE, 'How many requests to send at the same time'),
];

/** The options of every operation, with those of one. */
export const callOptions = (...own: INodeProperties[]) =>
	optionsCollection(...requestOptions, ...own);

/** The call of an item. */
type ReadCall = Pick<AccountClient, 'client' | 'optOutKey'> & {
	callId: string;
	additions: Additions;
	form: Fields;
};

/** Reads the call of each item, as many as *Concurrency* allows at the same time. */
export async function forEachCall(
	run: OperationRun,
	read: (call: ReadCall) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const { parameters, account } = run;
	const readItem = async (index: number) => {
		const { client, optOutKey } = await account();
		const form = parameters.at(index);
		const callId = parseCallId(form.text('callId'));
		const additions = readAdditions(form.collection('options'));
		return await read({ client, optOutKey, callId, additions, form });
	};
	const concurrency = readConcurrency(parameters, READS_AT_ONCE);
	return await forEachItem(run, readItem, { concurrency });
}
