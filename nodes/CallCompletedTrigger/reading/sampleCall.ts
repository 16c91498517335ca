import orderBy from 'lodash/orderBy';
import { type IExecuteFunctions, NodeOperationError } from 'n8n-workflow';
import type { ApiClient } from '../../shared/api/client';
import type { ApiMapping } from '../../shared/apiMapping';
import { hasEnded, isWanted } from '../../shared/calls/callEnd';
import { withPhoneKey } from '../../shared/calls/callRecord';
import { readCallRecord, readIncluded } from '../../shared/calls/readBack';
import { readCalls } from '../../shared/calls/readCallList';
import type { JsonObject } from '../../shared/json';
import { createAccountClient } from '../../shared/n8n/http/accountClient';
import type { CompletionSettings, ReadingSettings } from '../settings';
import { ListedCall } from './listedCall';
import { ListFinder, queryOf } from './listsToRead';
import { requiredForReading } from './readingNotices';
import { ReadState } from './readState';

/** Calls of each list to look at. */
const MAX_CALLS = 100;

/** A test in the editor returns a completed call: the latest one among the first calls of each list. */
export async function sampleCall(
	context: IExecuteFunctions,
	settings: CompletionSettings,
	reading: ReadingSettings,
): Promise<JsonObject> {
	const { client, apiMapping } = await createAccountClient(context);
	apiMapping.require(requiredForReading(apiMapping));
	const lists = new ListFinder(reading.source, new ReadState(''));
	const calls: ListedCall[] = [];
	for (const { id } of await lists.find(client)) {
		calls.push(...(await firstCalls(client, id, apiMapping)));
	}
	const latestFirst = orderBy(calls, ({ createdAt }) => createdAt || 0, 'desc');
	for (const { callId } of latestFirst.slice(0, MAX_CALLS)) {
		const record = await readCallRecord(client, callId);
		if (!hasEnded(record, settings.finished) || !isWanted(record, settings.filters)) continue;
		const more = await readIncluded(client, callId, settings.included);
		return withPhoneKey({ ...record, ...more });
	}
	throw new NodeOperationError(context.getNode(), 'No completed call matches', {
		description:
			"The latest calls are in progress, or don't match 'Filters'. Test again when a call is completed.",
	});
}

async function firstCalls(
	client: ApiClient,
	listId: string,
	apiMapping: ApiMapping,
): Promise<ListedCall[]> {
	const { calls } = await readCalls(
		client,
		{ query: queryOf(listId), limit: MAX_CALLS },
		apiMapping,
	);
	return calls.flatMap((entry) => ListedCall.from(entry) ?? []);
}
