import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { PAGE_SIZE } from '../core/calls/callList';
import type { Additions } from '../core/service/endpoints';
import { READS_AT_ONCE } from '../core/service/limits';
import { parseCallId, parseCount } from '../core/service/parseIds';
import { forEveryone } from '../core/service/resolution';
import type { Fields } from '../host/forms/fields';
import { outputFields } from '../host/forms/outputFields';
import {
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
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

export const callOutputFields = outputFields(
	'simplified',
	'The outcome, people, times, summary, and captured data',
	'call_id, outcome, summary',
);

export function requestSettings(...members: INodeProperties[]): INodeProperties {
	return developerSettings(
		additionalQueryParameters,
		concurrencyField(READS_AT_ONCE, 'How many requests to send at the same time'),
		...members,
	);
}

const IF_CHANGING =
	"Run this again while fewer calls are placed, or set a larger 'Page Size' in 'Developer Settings'.";

export const pageSizeField: INodeProperties = {
	displayName: 'Page Size',
	name: 'pageSize',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: PAGE_SIZE,
	description:
		"How many calls to get per request. Requires {pageSize?} in the part calls of 'Service Profile' in the credential. Without this option, the service uses its own page size, or gets 50 if it needs one.",
};

/** The settings of a list's requests. */
export function readRequestSettings(form: Fields) {
	const settings = form.collection('developerSettings');
	const resolution = forEveryone('Enter the number of calls per request, at least 1.');
	const pageSize = settings.has(pageSizeField.name)
		? parseCount(settings.number(pageSizeField.name, undefined), 'Page Size', resolution)
		: undefined;
	return { pageSize, additions: readAdditions(settings), ifChanging: IF_CHANGING };
}

/** The call of an item. */
type ReadCall = Pick<AccountClient, 'client'> & {
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
		const { client } = await account();
		const form = parameters.at(index);
		const callId = parseCallId(form.text('callId'));
		const additions = readAdditions(form.collection('developerSettings'));
		return await read({ client, callId, additions, form });
	};
	const concurrency = readConcurrency(parameters, READS_AT_ONCE);
	return await forEachItem(run, readItem, { concurrency });
}
