/**
 * Every endpoint × every documented error and typical gateway bodies × every status, compared with a table that is
 * written independently from the document (Errors, and the sections of the endpoints).
 */
import type { ApiClient } from '../../../../nodes/shared/api/client';
import { ExplainedError, ServiceRejection } from '../../../../nodes/shared/api/errors';
import type { ErrorCode } from '../../../../nodes/shared/api/rejectionBody';
import type { JsonObject } from '../../../../nodes/shared/json';
import { CALL_ID, ENDPOINTS } from './everyEndpoint';
import { clientOf } from './clientOf';

const CALLING = ['POST /v1/call', 'POST /call'];
const READING_A_CALL = [
	'GET /v1/call/{id}',
	'GET /v1/call/{id}/transcript',
	'GET /v1/call/{id}/recording',
];
const CONTACTS = ['POST /v1/campaigns/{id}/contacts'];
const REMOVAL = ['DELETE /v1/dnd_numbers'];
const CHAT = ENDPOINTS.map(({ name }) => name).filter((name) => name.includes('chat'));
/** "`403` on call placement, `agent_not_found` elsewhere" (Authentication, 4): endpoints with an agent. */
const NAMING_AN_AGENT = [
	...CONTACTS,
	...CHAT,
	...REMOVAL,
	'POST /v1/dnd_numbers',
	'GET /v1/dnd_numbers',
	'GET /v1/calls',
	'GET /v1/active_agents',
];
const ALL = ENDPOINTS.map(({ name }) => name);

type DocumentedError = {
	body: JsonObject;
	code: ErrorCode;
	raisedBy: readonly string[];
	/** The statuses that the document gives, or that it calls "not shown". */
	statuses: readonly number[] | 'not shown';
};

const NUMBER_MISSING = { error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED', action: 'attach_number' };

const DOCUMENTED: DocumentedError[] = [
	{
		body: { error: 'Invalid API token' },
		code: 'invalid_api_token',
		raisedBy: ALL,
		statuses: [401],
	},
	{
		body: { error: 'Agent not found or not associated with this account' },
		code: 'agent_not_in_account',
		raisedBy: CALLING,
		statuses: [403],
	},
	{
		body: { error: 'agent_not_found' },
		code: 'agent_not_found',
		raisedBy: NAMING_AN_AGENT,
		statuses: 'not shown',
	},
	{
		body: { error: 'call_not_found' },
		code: 'call_not_found',
		raisedBy: READING_A_CALL,
		statuses: 'not shown',
	},
	{
		body: { error: 'recording_not_available' },
		code: 'recording_not_available',
		raisedBy: ['GET /v1/call/{id}/recording'],
		statuses: 'not shown',
	},
	...[
		"Couldn't find Campaign",
		"Couldn't find Campaign with 'id'=7",
		' Couldn’t find campaign: 7',
	].map(
		(error): DocumentedError => ({
			body: { error },
			code: 'campaign_not_found',
			raisedBy: ['GET /v1/campaigns/{id}/status'],
			statuses: 'not shown',
		}),
	),
	{
		body: { error: 'Phone number not found on DND list' },
		code: 'not_on_dnd_list',
		raisedBy: REMOVAL,
		statuses: 'not shown',
	},
	{
		body: { error: 'param is missing or the value is empty: phone' },
		code: 'phone_missing',
		raisedBy: REMOVAL,
		statuses: 'not shown',
	},
	{
		body: { error: 'session_closed' },
		code: 'session_closed',
		raisedBy: ['POST /v1/chat/session/{id}/ws_token'],
		statuses: [409],
	},
	{
		body: { error: 'webhook_url is set but post_call_analysis is not enabled on this agent' },
		code: 'post_call_analysis_missing',
		raisedBy: CALLING,
		statuses: [400],
	},
	{
		body: { error: 'Attach an outbound number to the agent', details: NUMBER_MISSING },
		code: 'no_outbound_number',
		raisedBy: [...CALLING, ...CONTACTS],
		statuses: 'not shown',
	},
	{
		body: {
			error: 'tell was rejected',
			upstream_body: { state: 'rejected', reason: 'tell_not_allowed_during_takeover' },
		},
		code: 'tell_not_allowed_during_takeover',
		raisedBy: CHAT,
		statuses: 'not shown',
	},
	{
		body: { error: 'close was rejected', upstream_body: { state: 'rejected', reason: 'other' } },
		code: 'upstream_rejection',
		raisedBy: CHAT,
		statuses: 'not shown',
	},
	{
		body: { error: 'contacts[2].phone is not a valid phone number' },
		code: 'contact_rejected',
		raisedBy: CONTACTS,
		statuses: [400, 422],
	},
];

/** Texts that are similar to a documented error, as in messages of a failing service. */
const NOT_DOCUMENTED: JsonObject[] = [
	{ error: 'Internal server error' },
	{ error: 'Deadlock while saving contacts[2]' },
	{ error: 'upstream timed out (contacts[2])' },
	{ error: 'RuntimeError: agent_not_found\n  at dial (call.rb:7)' },
	{ error: 'Retrying after call_not_found' },
	{ error: 'Lock wait timeout: could not read phone' },
	{ error: "Rolled back: Couldn't find Campaign" },
	{ error: "Couldn't find Campaigns" },
	{ error: "Couldn't find Campaign\n  from campaign.rb:7" },
	{ error: 'Phone number not found on DND list-shard 3' },
	{ error: 'x', upstream_body: { state: 'rejected' } },
	{ error: 'x', upstream_body: { state: 'rejected', reason: null } },
	{ errors: ['agent_not_found', 'Deadlock found'] },
	{ errors: ['is invalid'] },
	{ error: 'x', upstream_body: { state: 'timeout', reason: 'deadline' } },
	{ error: 'x', details: { error_code: 'TIMEOUT' } },
];

/** Bodies of proxies, firewalls, and web frameworks. None is in the service's format. */
const OF_GATEWAYS: unknown[] = [
	{ error: 'Forbidden' },
	{ error: 'Not Found' },
	{ status: 404, error: 'Not Found' },
	{ timestamp: 1, status: 500, error: 'Internal Server Error', path: '/v1/call' },
	{ message: 'Forbidden' },
	{ error: { code: 403, message: 'Forbidden' } },
	{ success: 'false', error: 'Forbidden' },
	{ errors: [{ title: 'Forbidden' }] },
	{ errors: 'Forbidden' },
	{ errors: [] },
	{ errors: ['', ' ', 7, null] },
	{ error: '' },
	'<html>Forbidden</html>',
	'OK',
	'',
	' \n',
	'null',
	'1',
	'{"success":true,"data":{"call_id":"c',
	{ data: null },
	{ call_id: null, campaign_upload_id: null, success: null },
	[],
	{},
];

const STATUSES = [
	199, 200, 201, 202, 204, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 407,
	408, 409, 410, 412, 413, 418, 422, 423, 425, 429, 451, 499, 500, 501, 502, 503, 504, 520, 524,
	599, 600, 999,
];

/** Statuses that mean "not processed". After a write, only two of the redirects do. */
function isNotProcessed(method: string, status: number): boolean {
	if (method === 'GET' && status >= 300 && status < 400) return true;
	return [307, 308, 401, 407, 413, 429].includes(status);
}

/** Statuses of a rejection by the service: neither an outage nor a timeout. */
function mayReject(status: number): boolean {
	return (
		(status >= 200 && status < 300) || (status >= 400 && status < 500 && !TIMED_OUT.has(status))
	);
}
const TIMED_OUT = new Set([408, 499]);

type Told = { outcome: string; code: ErrorCode | undefined; sent: number };

async function resultOf(
	send: (client: ApiClient) => Promise<unknown>,
	status: number,
	body: unknown,
): Promise<Told> {
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	let sent = 0;
	const transport = async () => {
		sent++;
		return await Promise.resolve({ status, headers: {}, text });
	};
	const result: unknown = await send(clientOf(transport)).catch((error: unknown) => error);
	if (!(result instanceof Error)) return { outcome: 'done', code: undefined, sent };
	if (!(result instanceof ExplainedError)) throw result;
	const code = result instanceof ServiceRejection ? result.rejection.code : undefined;
	return { outcome: result.outcome, code, sent };
}

describe.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))(
	'%s',
	(name, { send, success }) => {
		const [method = ''] = name.split(' ');
		const attempts = (status: number) =>
			status === 429 || (method === 'GET' && status >= 500) ? 4 : 1;

		test.each(DOCUMENTED.map((row) => [row.body.error, row] as const))(
			'%s is a rejection only at its documented endpoints',
			async (_error, { body, code, raisedBy, statuses }) => {
				const isOwn = raisedBy.includes(name);
				for (const status of STATUSES) {
					const isStatus = statuses === 'not shown' || statuses.includes(status);
					const whole = await resultOf(send, status, { success: false, details: null, ...body });
					const isRejected =
						mayReject(status) ||
						isNotProcessed(method, status) ||
						(isOwn && statuses === 'not shown');
					expect({ status, ...whole }).toMatchObject({
						status,
						outcome: isRejected ? 'rejected' : 'unknown',
						sent: attempts(status),
					});
					if (!isOwn && status !== 401)
						expect({ status, code: whole.code }).not.toMatchObject({ code });
					if (isOwn && mayReject(status))
						expect({ status, code: whole.code }).toEqual({ status, code });

					const bare = await resultOf(send, status, body);
					const isBareRejection =
						isNotProcessed(method, status) || (isOwn && isStatus && mayReject(status));
					expect({ status, bare: bare.outcome }).toEqual({
						status,
						bare: isBareRejection ? 'rejected' : 'unknown',
					});
				}
			},
		);

		test.each(NOT_DOCUMENTED.map((body) => [JSON.stringify(body), body] as const))(
			'%s: the envelope of the service rejects below 500, and nothing does for 5xx',
			async (_text, body) => {
				for (const status of STATUSES) {
					const isRejected = mayReject(status) || isNotProcessed(method, status);
					const { outcome } = await resultOf(send, status, { success: false, ...body });
					expect({ status, outcome }).toEqual({
						status,
						outcome: isRejected ? 'rejected' : 'unknown',
					});
				}
			},
		);

		test.each(OF_GATEWAYS.map((body) => [JSON.stringify(body), body] as const))(
			'%s proves nothing',
			async (_text, body) => {
				for (const status of STATUSES) {
					const { outcome } = await resultOf(send, status, body);
					expect({ status, outcome }).toEqual({
						status,
						outcome: isNotProcessed(method, status) ? 'rejected' : 'unknown',
					});
				}
			},
		);

		test('a list of `errors` is a validation error at 400 and 422', async () => {
			for (const status of [400, 422]) {
				expect(await resultOf(send, status, { errors: ['is invalid'] })).toMatchObject({
					outcome: 'rejected',
				});
			}
			for (const status of [200, 403, 404, 409, 500]) {
				expect(await resultOf(send, status, { errors: ['is invalid'] })).toMatchObject({
					outcome: 'unknown',
				});
			}
		});

		test('a success needs its proof and a 2xx', async () => {
			for (const status of STATUSES) {
				const { outcome, sent } = await resultOf(send, status, success);
				const isDone = status >= 200 && status < 300;
				// A sign of an effect after a write outweighs a status that means "not processed".
				const isRejected = isNotProcessed(method, status) && method === 'GET';
				const otherwise = isRejected ? 'rejected' : 'unknown';
				expect({ status, outcome, sent }).toEqual({
					status,
					outcome: isDone ? 'done' : otherwise,
					sent: method === 'GET' ? attempts(status) : 1,
				});
			}
			for (const denied of ['false', 0, '', 'error', 'no']) {
				expect(await resultOf(send, 200, { ...success, success: denied })).toMatchObject({
					outcome: 'unknown',
				});
			}
		});
	},
);

test.each(['POST /v1/call', 'POST /call'])(
	'%s: a rejection with the ID of a new call means an unknown outcome',
	async (name) => {
		const { send } = ENDPOINTS.find((endpoint) => endpoint.name === name) ?? failed(name);
		for (const status of [200, 307, 400, 401, 403, 413, 422, 429, 500]) {
			for (const { body } of DOCUMENTED) {
				for (const extra of [
					{ data: { call_id: CALL_ID } },
					{ call_id: CALL_ID },
					{ details: { calls: [{ call_id: 7 }] } },
				]) {
					const response = { success: false, ...body, ...extra };
					expect(await resultOf(send, status, response)).toMatchObject({
						outcome: 'unknown',
						sent: 1,
					});
				}
			}
			const nothing = { success: false, error: 'phone_number is invalid', data: { call_id: null } };
			expect(await resultOf(send, status, nothing)).toMatchObject({
				outcome: status === 500 ? 'unknown' : 'rejected',
			});
		}
	},
);

function failed(name: string): never {
	throw new Error(`No endpoint ${name}`);
}
