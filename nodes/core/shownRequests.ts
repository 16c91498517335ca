import {
	type Additions,
	addDndNumber as postDndNumber,
	createSession as postSession,
	removeDndNumber as deleteDndNumber,
	sendInbound as postInbound,
	sendInboundAsync as postAsync,
} from './service/endpoints';
import type { ApiResponse } from './service/http';
import type { JsonObject } from './values/json';
import type { RequestName } from './profile/schema';
import type { Account, ValuesOf } from './profile/serviceProfile';

/** The requests that a profile shows. */

/**
 * Sends a request at the places that the profile shows.
 *
 * @param documented what the document shows of its body
 */
function shown<Name extends RequestName>(name: Name, send: typeof postDndNumber) {
	return async (
		{ client, profile }: Account,
		values: ValuesOf<Name>,
		additions?: Additions,
		documented: JsonObject = {},
	): Promise<ApiResponse> => {
		const { query, body } = profile.request(name, values);
		return await send(client, { query, body: { ...body, ...documented } }, additions);
	};
}

export const addDndNumber = shown('dnd.add', postDndNumber);
export const removeDndNumber = shown('dnd.remove', deleteDndNumber);
export const createSession = shown('chat.session', postSession);
export const sendInbound = shown('chat.inbound', postInbound);
export const sendInboundAsync = shown('chat.async', postAsync);
