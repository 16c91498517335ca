import { DateTime } from 'luxon';
import pLimit from 'p-limit';
import { ExplainedError, MissingMapping, NotSent, OutcomeUnknown } from '../../shared/api/errors';
import { READS_AT_ONCE } from '../../shared/api/limits';
import { onScreenOnly } from '../../shared/api/resolution';
import { callListQuery, requiredForFilters } from '../../shared/calls/callFilters';
import { readAllCalls, requiredForList } from '../../shared/calls/readCallList';
import { hasOffset } from '../../shared/clock';
import type { JsonObject } from '../../shared/json';
import type { AccountClient } from '../../shared/n8n/http/accountClient';
import { phoneKey } from '../../shared/phone/phoneKey';
import { quoted } from '../../shared/values';
import type { ListedCalls } from '../../shared/numberLists/calledNumbers';

/**
 * Reads the calls to each number in the service's call list.
 *
 * @param keys numbers in international format, each once
 * @param readAt the time of this reading, in epoch milliseconds
 * @throws MissingMapping or NotSent if a list can't be read completely
 */
export async function readListedCalls(
	{ client, apiMapping }: AccountClient,
	keys: readonly string[],
	readAt: number,
): Promise<Map<string, ListedCalls>> {
	const limit = pLimit(READS_AT_ONCE);
	const read = async (key: string): Promise<[string, ListedCalls]> => {
		const filters = { phone: `+${key}` };
		const whole = { limit: Infinity, pageSize: undefined };
		apiMapping.require([
			...requiredForFilters(filters, apiMapping),
			...requiredForList(whole, apiMapping),
		]);
		const query = callListQuery(filters, apiMapping, 'utc');
		const calls = await readAllCalls(client, { query }, apiMapping);
		const times = calls.filter((call) => isTo(call, key)).map((call) => timeOf(call, key));
		return [key, { times, readAt }];
	};
	const lists = keys.map(async (key) => await limit(read, key).catch(notRead(key)));
	return new Map(await Promise.all(lists));
}

/** The filter may match parts of a number. A call without a clear number may be to this one. */
function isTo({ phone_number: phone }: JsonObject, key: string): boolean {
	const listed = phoneKey(phone);
	return listed === null || listed === key;
}

function timeOf({ created_at: created }: JsonObject, key: string): number {
	const hasTime = typeof created === 'string' && hasOffset(created);
	const time = hasTime ? DateTime.fromISO(created).toMillis() : NaN;
	if (!Number.isNaN(time)) return time;
	throw new OutcomeUnknown(
		`A call to +${key} in the call list has no created_at with a UTC offset (got ${quoted(created ?? null)})`,
		onScreenOnly("Remove 'Count Other Calls'."),
	);
}

function notRead(key: string): (error: unknown) => never {
	return (error) => {
		if (!(error instanceof ExplainedError) || error instanceof MissingMapping) throw error;
		throw new NotSent(
			`The calls to +${key} can't be read completely, so no call was placed. ${error.message}`,
			{ onScreen: error.description, forModel: error.descriptionFor('forModel') },
			undefined,
			error.isTransient,
		);
	};
}
