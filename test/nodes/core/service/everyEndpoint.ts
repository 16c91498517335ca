/** Every endpoint of docs/openapi.yaml, with a request and the documented response. */
import get from 'lodash/get';
import { z } from 'zod';
import type { ApiClient } from '../../../../nodes/core/service/client';
import * as requests from '../../../../nodes/core/service/endpoints';
import type { ApiResponse } from '../../../../nodes/core/service/http';
import { isJsonObject, type JsonObject } from '../../../../nodes/core/values/json';
import { plainText } from '../../../../nodes/core/values/values';
import { exampleNamed, exampleOf } from '../../../openapi/examples';
import {
	ENDPOINTS as DOCUMENTED,
	idsIn,
	schemaNamed,
	schemaOf,
	type Endpoint as Documented,
} from '../../../openapi/openapi';

type Send = (client: ApiClient) => Promise<ApiResponse>;

export type Endpoint = {
	name: string;
	send: Send;
	/** The documented response, with every field. */
	success: JsonObject;
};

export const SESSION_ID = plainText(exampleOf(schemaNamed('SessionId')));
export const CALL_ID = plainText(exampleOf(schemaNamed('CallId')));
export const CAMPAIGN_ID = Number(exampleOf(schemaNamed('CampaignId')));

const agent = { agent_uuid: 'agent_a' };
const call = () => ({ ...agent, country_code: 'IN', phone_number: '9876543210' });
const message = { ...agent, chat_session_id: SESSION_ID, message: 'Hello' };
const contact = Buffer.from(JSON.stringify(exampleNamed('Contact')));

/** By `operationId`: requests whose function gets something else than an ID and a body. */
const OWN: { [operationId: string]: Send } = {
	placeCall: async (client) => await requests.placeCall(client, call),
	placeCallLegacy: async (client) => await requests.placeCall(client, call, { legacy: true }),
	addContacts: async (client) => await requests.addContacts(client, CAMPAIGN_ID, agent, contact),
	sendLegacyMessage: async (client) => await requests.sendLegacyMessage(client, message),
};

/** The lists whose place in the response isn't shown. */
const LIST = { success: true, data: [] };
const LISTS: { [endpoint: string]: JsonObject } = {
	'GET /v1/calls': LIST,
	'GET /v1/active_agents': LIST,
};

/** The function of the same name, with an ID of the path and a body that the contract allows. */
function sendOf({ operationId, path, body }: Documented): Send {
	const isFunction = (value: unknown) => typeof value === 'function';
	const send = z
		.custom<
			(client: ApiClient, ...values: unknown[]) => Promise<ApiResponse>
		>(isFunction, `endpoints.ts has no ${operationId}`)
		.parse(get(requests, operationId));
	const ids = idsIn(path).map(exampleOf);
	const values = body === undefined ? {} : exampleOf(body);
	return async (client) =>
		await send(client, ...(ids.length > 0 ? [...ids, values] : [{ body: values }]));
}

export const ENDPOINTS: readonly Endpoint[] = DOCUMENTED.map((documented) => {
	const { name, operationId, responses } = documented;
	const shown = exampleOf(schemaOf(responses['200']));
	return {
		name,
		send: OWN[operationId] ?? sendOf(documented),
		success: LISTS[name] ?? { success: true, ...(isJsonObject(shown) && shown) },
	};
});
