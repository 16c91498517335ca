import { DOCUMENTED_ERRORS } from '../../../../nodes/shared/api/errorTable';
import type { ErrorCode } from '../../../../nodes/shared/api/rejectionBody';
import { dataOf, recordOf } from '../../../../nodes/shared/api/envelope';
import { ServiceRejection } from '../../../../nodes/shared/api/errors';
import { hasAnyField } from '../../../../nodes/shared/api/successChecks';
import {
	TransportFault,
	type ServiceRequest,
	type HttpResponse,
} from '../../../../nodes/shared/api/http';
import { clientOf } from './clientOf';

const POST: ServiceRequest = { method: 'POST', path: '/v1/call', body: {} };
const GET: ServiceRequest = { method: 'GET', path: '/v1/call/1' };
const CONTACTS: ServiceRequest = { method: 'POST', path: '/v1/campaigns/7/contacts', body: {} };
const SUPPORT: ServiceRequest = { method: 'POST', path: '/v1/chat/session/s/support', body: {} };
const REMOVAL: ServiceRequest = { method: 'DELETE', path: '/v1/dnd_numbers' };
const placed = hasAnyField('call_id');

function serviceReturning(result: Partial<HttpResponse> | TransportFault) {
	const transport = jest.fn(async () => {
		await Promise.resolve();
		if (result instanceof TransportFault) throw result;
		return { status: 200, headers: {}, text: '', ...result };
	});
	return { transport, client: clientOf(transport) };
}

const rejection = async (body: object, status = 400, request = POST) => {
	const { client } = serviceReturning({ status, text: JSON.stringify(body) });
	return await client.send(request, placed).then(
		() => undefined,
		(error: unknown) => error,
	);
};

test('the first attempt sends the given request, and each further one a renewed request', async () => {
	const sent: unknown[] = [];
	const transport = async ({ body }: ServiceRequest) => {
		sent.push(body);
		return await Promise.resolve({ status: 429, headers: {}, text: '{"success":false}' });
	};
	const renew = () => ({ ...POST, body: { renewed: sent.length } });
	const sending = clientOf(transport).send(POST, placed, { renew });
	await expect(sending).rejects.toBeInstanceOf(ServiceRejection);
	expect(sent).toEqual([{}, { renewed: 1 }, { renewed: 2 }, { renewed: 3 }]);
});

test('an error code is recognized with a line break after it', async () => {
	const body = { success: false, error: 'call_not_found\n' };
	expect(await rejection(body, 404, GET)).toMatchObject({
		message: "The service doesn't know this call",
	});
});

describe('every documented error is recognized by endpoint and body', () => {
	const bodies: Array<[string, ErrorCode, object, ServiceRequest]> = [
		[
			"The agent has no outbound number, so it can't place calls",
			'no_outbound_number',
			{
				success: false,
				error: 'Attach an outbound number to this agent',
				details: { error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED', action: 'attach_number' },
			},
			POST,
		],
		[
			"A person has taken over this chat, so the agent doesn't accept this now",
			'tell_not_allowed_during_takeover',
			{
				success: false,
				error: 'tell rejected',
				upstream_body: { state: 'rejected', reason: 'tell_not_allowed_during_takeover' },
			},
			SUPPORT,
		],
		[
			'The chat session is already closed',
			'upstream_rejection',
			{
				success: false,
				error: 'close rejected',
				upstream_body: { state: 'rejected', reason: 'session_closed' },
			},
			SUPPORT,
		],
		[
			'The chat engine rejected the request: "close rejected · reason: something_new"',
			'upstream_rejection',
			{
				success: false,
				error: 'close rejected',
				upstream_body: { state: 'rejected', reason: 'something_new' },
			},
			SUPPORT,
		],
		[
			'The service rejected the API token',
			'invalid_api_token',
			{ success: false, error: 'Invalid API token', details: null },
			POST,
		],
		[
			'The account of this API token has no agent with this ID',
			'agent_not_in_account',
			{ success: false, error: 'Agent not found or not associated with this account' },
			POST,
		],
		[
			'The service found no such agent in the account of this API token',
			'agent_not_found',
			{ success: false, error: 'agent_not_found' },
			CONTACTS,
		],
		[
			"The service doesn't know this call",
			'call_not_found',
			{ success: false, error: 'call_not_found' },
			GET,
		],
		[
			'This call has no recording',
			'recording_not_available',
			{ success: false, error: 'recording_not_available' },
			{ method: 'GET', path: '/v1/call/1/recording' },
		],
		[
			"The service doesn't know this campaign",
			'campaign_not_found',
			{ success: false, error: "Couldn't find Campaign" },
			{ method: 'GET', path: '/v1/campaigns/7/status' },
		],
		[
			"The number isn't on the do-not-disturb list of this agent",
			'not_on_dnd_list',
			{ success: false, errors: ['Phone number not found on DND list'] },
			REMOVAL,
		],
		[
			'The service found no usable phone number in the request',
			'phone_missing',
			{ success: false, error: 'param is missing or the value is empty: phone' },
			REMOVAL,
		],
		[
			'The chat session is closed',
			'session_closed',
			{ success: false, error: 'session_closed' },
			{ method: 'POST', path: '/v1/chat/session/s/ws_token', body: {} },
		],
		[
			'The agent has no post-call analysis, so the service rejects the webhook URL',
			'post_call_analysis_missing',
			{
				success: false,
				error: 'webhook_url is set but post_call_analysis is not enabled on this agent',
			},
			POST,
		],
		[
			'The service rejected one of the contacts',
			'contact_rejected',
			{ success: false, error: 'contacts[17].phone is invalid' },
			CONTACTS,
		],
	];

	test.each(bodies)(
		'%s with any status below 500, 200 included, and above if its status is not documented',
		async (...[message, code, body, request]) => {
			const row = DOCUMENTED_ERRORS.find((candidate) => message.startsWith(candidate.message));
			expect(row).toBeDefined();
			const above = row?.provenBy === 'unknown' ? [500, 503] : [];
			for (const status of [200, 400, 403, 404, 422, ...above]) {
				expect(await rejection(body, status, request)).toMatchObject({
					name: 'ServiceRejection',
					outcome: 'rejected',
					message,
					resolution: row?.resolution.onScreen,
					status,
					rejection: { code },
				});
			}
		},
	);

	test.each([{ error: 'Campaign is archived' }, { error: 'read-only campaign' }, {}])(
		'a 409 means an archived campaign: %j',
		async (fields) => {
			const body = { success: false, ...fields };
			expect(await rejection(body, 409, CONTACTS)).toMatchObject({
				message: expect.stringContaining('The campaign is archived'),
				rejection: { code: 'campaign_archived' },
			});
			expect(await rejection(body, 409, POST)).toMatchObject({
				message:
					'error' in fields
						? `The service rejected the call: "${fields.error}"`
						: 'The service rejected the request without a reason',
			});
		},
	);

	test.each(['A push is already in progress', 'This campaign is closed for good'])(
		'a 409 with another text does not mean an archived campaign: %s',
		async (error) => {
			const rejected = await rejection({ success: false, error }, 409, CONTACTS);
			expect(rejected).toMatchObject({
				outcome: 'rejected',
				message: 'The service reported a conflict and accepted none of these contacts',
				resolution: expect.stringContaining('Check whether the campaign is archived'),
				originalMessage: error,
			});
			expect(
				rejected instanceof ServiceRejection ? rejected.rejection.code : 'none',
			).toBeUndefined();
		},
	);

	test.each<[string, object, number, ServiceRequest, ErrorCode | undefined]>([
		[
			'a code without a word',
			{ details: { error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED' } },
			200,
			POST,
			'no_outbound_number',
		],
		[
			'a reason without a word',
			{ upstream_body: { state: 'rejected', reason: 'something_new' } },
			200,
			SUPPORT,
			'upstream_rejection',
		],
		['401, in other words', { success: false, error: 'Sign in' }, 401, GET, 'invalid_api_token'],
		[
			'a text about the phone, from another endpoint',
			{ success: false, error: 'phone is busy' },
			422,
			{ method: 'DELETE', path: '/v1/calls' },
			undefined,
		],
	])('%s', async (_name, body, status, request, code) => {
		const error = await rejection(body, status, request);
		expect(error).toMatchObject({ name: 'ServiceRejection' });
		expect(error instanceof ServiceRejection ? error.rejection.code : 'none').toBe(code);
	});

	test('the text of the service is kept, lists included', async () => {
		const body = { success: false, errors: ['phone_number is invalid', 'country_code is missing'] };
		expect(await rejection(body, 422)).toMatchObject({
			originalMessage: 'phone_number is invalid · country_code is missing',
		});
		const details = { success: false, error: 'No', details: { field: 'x' } };
		expect(await rejection(details)).toMatchObject({ originalMessage: 'No · field: x' });
	});
});

describe('the outcome without a usable response', () => {
	test.each([
		['a 500', { status: 500, text: '{"success":false,"error":"Internal server error"}' }],
		['a 502 page', { status: 502, text: '<html>Bad gateway</html>' }],
		['a page at 200', { status: 200, text: '<html>Sign in</html>' }],
		['half a response', { status: 200, text: '{"success":true,"data":{"call_' }],
	])('a write with %s as the response: unknown, sent once', async (_name, response) => {
		const { client, transport } = serviceReturning(response);
		await expect(client.send(POST, placed)).rejects.toMatchObject({
			name: 'OutcomeUnknown',
			outcome: 'unknown',
			resolution: expect.stringContaining("wasn't sent again"),
		});
		expect(transport).toHaveBeenCalledTimes(1);
	});

	test.each([
		['ECONNRESET', undefined],
		['ECONNRESET', 'read'],
		['ECONNABORTED', undefined],
		['ETIMEDOUT', 'read'],
		['EPIPE', 'write'],
		['EPROTO', undefined],
		['EPROTO', 'write'],
		['EHOSTUNREACH', 'read'],
		['ENETUNREACH', 'write'],
		['ECONNREFUSED', undefined],
		['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', undefined],
		['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', undefined],
		['ERR_TLS_HANDSHAKE_TIMEOUT', undefined],
		['TypeError', undefined],
	])('a write that ends in %s (%s): unknown, sent once', async (code, syscall) => {
		const { client, transport } = serviceReturning(new TransportFault(code, code, syscall));
		await expect(client.send(POST, placed)).rejects.toMatchObject({ outcome: 'unknown' });
		expect(transport).toHaveBeenCalledTimes(1);
	});

	test.each([
		['ECONNREFUSED', 'connect'],
		['EHOSTUNREACH', 'connect'],
		['ETIMEDOUT', 'connect'],
		['ENOTFOUND', 'getaddrinfo'],
		['CERT_HAS_EXPIRED', undefined],
		['ERR_TLS_CERT_ALTNAME_INVALID', undefined],
		['BLOCKED_BY_N8N', undefined],
	])('%s (%s): nothing was sent', async (code, syscall) => {
		const { client } = serviceReturning(new TransportFault(code, code, syscall));
		await expect(client.send(POST, placed)).rejects.toMatchObject({ outcome: 'not_sent' });
	});

	test.each<[string, unknown, string]>([
		['an error', new TypeError('body used already'), 'body used already'],
		['a text', 'closed', 'closed'],
	])('an unexpected error means an unknown outcome: %s', async (_what, thrown, originalMessage) => {
		const transport = jest.fn().mockRejectedValue(thrown);
		const client = clientOf(transport);
		await expect(client.send(POST, placed)).rejects.toMatchObject({
			outcome: 'unknown',
			message: expect.stringMatching(/^The response couldn't be read, so the outcome is unknown/),
			originalMessage,
		});
		expect(transport).toHaveBeenCalledTimes(1);
	});

	test('a read says that nothing was changed', async () => {
		const { client } = serviceReturning({ status: 503, text: '' });
		await expect(client.send(GET, placed)).rejects.toMatchObject({
			outcome: 'unknown',
			resolution: expect.stringContaining('Nothing was changed'),
		});
	});

	test.each([
		[GET, 302],
		[GET, 301],
		[POST, 307],
		[POST, 308],
	])('a redirect is not followed: $method, %i', async (request, status) => {
		const { client, transport } = serviceReturning({ status, headers: { location: '/x' } });
		await expect(client.send(request, placed)).rejects.toMatchObject({
			name: 'ServiceRejection',
			message: expect.stringContaining('redirect'),
		});
		expect(transport).toHaveBeenCalledTimes(1);
	});

	test.each([301, 302, 303])('after a write, a %i means an unknown outcome', async (status) => {
		const { client, transport } = serviceReturning({ status, headers: { location: '/x' } });
		await expect(client.send(POST, placed)).rejects.toMatchObject({
			outcome: 'unknown',
			message: expect.stringContaining('redirect'),
		});
		expect(transport).toHaveBeenCalledTimes(1);
	});

	test('413: the message says what to shorten', async () => {
		const { client } = serviceReturning({ status: 413, text: '<html>Too large</html>' });
		await expect(client.send(POST, placed)).rejects.toMatchObject({
			outcome: 'rejected',
			resolution: expect.stringContaining('Shorten the texts'),
		});
	});

	test('429 on every attempt: rejected', async () => {
		const { client } = serviceReturning({ status: 429, text: '' });
		await expect(client.send(POST, placed)).rejects.toMatchObject({
			outcome: 'rejected',
			isTransient: true,
			message:
				'The service or a proxy rejected the request because it receives too many (HTTP status 429)',
		});
	});
});

describe('the envelope', () => {
	const read = async (body: unknown) =>
		await serviceReturning({ text: JSON.stringify(body) }).client.send(GET, () => true);

	test('data is unwrapped, and fields beside it are kept', async () => {
		const response = await read({ success: true, data: { a: 1 }, meta: { total_pages: 2 } });
		expect(dataOf(response)).toEqual({ a: 1 });
		expect(recordOf(response)).toEqual({ a: 1, meta: { total_pages: 2 } });
	});

	test('a message instead of data', async () => {
		expect(recordOf(await read({ success: true, message: 'Removed' }))).toEqual({
			message: 'Removed',
		});
	});

	test('a list in data, and a response without an envelope', async () => {
		expect(recordOf(await read({ success: true, data: [1, 2] }))).toEqual({ data: [1, 2] });
		expect(dataOf(await read([1]))).toEqual([1]);
	});

	test.each([null, 'call_not_found', 'deprecated'])(
		'`error: %j` in a success is not a rejection',
		async (error) => {
			expect(dataOf(await read({ success: true, error, data: { a: 1 } }))).toEqual({ a: 1 });
		},
	);
});
