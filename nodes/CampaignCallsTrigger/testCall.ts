import chunk from 'lodash/chunk';
import orderBy from 'lodash/orderBy';
import { type IPollFunctions, NodeOperationError } from 'n8n-workflow';
import { explained } from '../core/service/errors';
import { readEach, READS_AT_ONCE } from '../core/service/limits';
import { hasAnswers, hasEnded, isWanted } from '../core/calls/callEnd';
import { isUnknownCall, readCallRecord, readIncluded } from '../core/calls/readCall';
import type { JsonObject } from '../core/values/json';
import { callOutput } from '../host/forms/outputFields';
import type { AccountClient } from '../host/http/accountClient';
import { plainText } from '../core/values/values';
import { contactLists, type ListedCall, readList } from './listedCalls';
import type { PollSettings } from './properties';

/** Calls of each list to look at in a test in the editor. */
const MAX_TEST_CALLS = 100;

/** A test in the editor returns the latest answered call with captured values, or else the latest completed one. */
export async function testCall(
	context: IPollFunctions,
	account: AccountClient,
	{ campaignId, finished, filters, included, output, optOutKey }: PollSettings,
): Promise<JsonObject> {
	const { client } = account;
	const lists = await contactLists(client, campaignId);
	const options = { limit: MAX_TEST_CALLS };
	const listed = await readEach(
		lists,
		async (id) => await readList(account, id, finished, options),
	);
	const latestFirst = orderBy(listed.flat(), ({ createdAt }) => createdAt || 0, 'desc');
	const found: JsonObject[] = [];
	let failure: unknown;
	const read = async ({ callId }: ListedCall): Promise<JsonObject> => {
		const record = await readCallRecord(client, callId).catch((error: unknown) => {
			if (!isUnknownCall(error)) failure = error;
		});
		return { ...record, call_id: callId };
	};
	for (const together of chunk(latestFirst.slice(0, MAX_TEST_CALLS), READS_AT_ONCE)) {
		const records = await Promise.all(together.map(read));
		found.push(
			...records.filter((one) => hasEnded(one, finished) && isWanted(one, filters, optOutKey)),
		);
		// The others would probably fail, too.
		if (found.some(hasAnswers) || failure !== undefined) break;
	}
	const record = found.find(hasAnswers) ?? found[0];
	if (record !== undefined) {
		const more = await readIncluded(client, plainText(record.call_id), included);
		return callOutput(output, record, more, optOutKey);
	}
	if (failure !== undefined) throw explained(failure);
	throw new NodeOperationError(context.getNode(), 'No completed call matches', {
		description:
			"Look at 'Calls to Check' and 'Filters'. If no call was placed yet, place one, and test again when it's completed.",
	});
}
