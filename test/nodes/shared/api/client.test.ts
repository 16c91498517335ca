import type { ErrorCode } from '../../../../nodes/shared/api/rejectionBody';
import { dataOf, recordOf } from '../../../../nodes/shared/api/envelope';
import { ServiceRejection } from '../../../../nodes/shared/api/errors';
import { hasAnyField } from '../../../../nodes/shared/api/envelope';
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

describe('an error body', () => {
	test.each([
		['session_closed', 'The chat session is already closed'],
		[
			'something_new',
			'The chat engine rejected the request: "close rejected · reason: something_new"',
		],
	])('a relayed rejection with the reason %s', async (reason, message) => {
		const upstream = { state: 'rejected', reason };
		const body = { success: false, error: 'close rejected', upstream_body: upstream };
		expect(await rejection(body, 400, SUPPORT)).toMatchObject({
			message,
			rejection: { code: 'upstream_rejection' },
		});
	});

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
