import {
	type Additions,
	addDndNumber,
	createSession,
	removeDndNumber,
	sendInbound,
	sendInboundAsync,
} from '../service/endpoints';
import type { ApiResponse } from '../service/http';
import type { JsonObject } from '../values/json';
import type { Account, ValuesOf } from './serviceProfile';

/** The requests that a profile shows, other than reads of lists. */
const REQUESTS = {
	'dnd.add': addDndNumber,
	'dnd.remove': removeDndNumber,
	'chat.session': createSession,
	'chat.inbound': sendInbound,
	'chat.async': sendInboundAsync,
} as const;

/**
 * Sends a request with its values at the places that the profile shows.
 *
 * @param documented what the document shows of its body
 */
export async function sendByProfile<Name extends keyof typeof REQUESTS>(
	name: Name,
	{ client, profile }: Account,
	values: ValuesOf<Name>,
	additions?: Additions,
	documented: JsonObject = {},
): Promise<ApiResponse> {
	const { query, body } = profile.request(name, values);
	return await REQUESTS[name](client, { query, body: { ...body, ...documented } }, additions);
}
