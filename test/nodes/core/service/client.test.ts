import { recordOf } from '../../../../nodes/core/service/envelope';
import { explained, OutcomeUnknown, ServiceRejection } from '../../../../nodes/core/service/errors';
import {
	bytesOf,
	type HttpResponse,
	type ServiceRequest,
} from '../../../../nodes/core/service/http';
import type { ErrorCode } from '../../../../nodes/core/service/errorTable';
import { findEffect } from '../../../../nodes/core/service/response';
import type { JsonValue } from '../../../../nodes/core/values/json';
import { clientOf } from './clientOf';

const POST: ServiceRequest = { method: 'POST', path: '/v1/call', body: {} };
const GET: ServiceRequest = { method: 'GET', path: '/v1/call/1' };
const CONTACTS: ServiceRequest = { method: 'POST', path: '/v1/campaigns/7/contacts', body: {} };

const PROVEN = { successCheck: () => true };

/** The response to a request, or the error. Any body of a 2xx proves success. */
async function resultOf(request: ServiceRequest, status: number, body: JsonValue, headers = {}) {
	const text = JSON.stringify(body);
	const response: HttpResponse = { status, headers, text };
	const sending = clientOf(async () => await Promise.resolve(response)).send(request, PROVEN);
	return await sending.catch((error: unknown) => error);
}

describe('a request', () => {
	test('is renewed for each further attempt', async () => {
		const sent: unknown[] = [];
		const transport = async ({ body }: ServiceRequest) => {
			sent.push(body);
			return await Promise.resolve({ status: 429, headers: {}, text: '{"success":false}' });
		};
		const renew = () => ({ ...POST, body: { renewed: sent.length } });
		const sending = clientOf(transport).send(POST, PROVEN, renew);
		await expect(sending).rejects.toBeInstanceOf(ServiceRejection);
		expect(sent).toEqual([{}, { renewed: 1 }, { renewed: 2 }, { renewed: 3 }]);
	});

	test.each<[string, unknown, string]>([
		['an error', new TypeError('body used already'), 'body used already'],
		['a text', 'closed', 'closed'],
	])('has an unknown outcome after %s in the transport', async (_what, thrown, originalMessage) => {
		const transport = jest.fn().mockRejectedValue(thrown);
		await expect(clientOf(transport).send(POST, PROVEN)).rejects.toMatchObject({
			outcome: 'unknown',
			message: expect.stringMatching(/^The response couldn't be read, so the outcome is unknown/),
			originalMessage,
		});
		expect(transport).toHaveBeenCalledTimes(1);
	});

	test('is sent with its list, also if another field has the same name', () => {
		const entries = Buffer.from('{"phone":"1"},{"phone":"2"}');
		const body = { contacts: ['other'], enqueue: true };
		expect(bytesOf(body, { field: 'contacts', entries }).toString()).toBe(
			'{"enqueue":true,"contacts":[{"phone":"1"},{"phone":"2"}]}',
		);
		expect(bytesOf(body).toString()).toBe(JSON.stringify(body));
	});
});

describe('an error body', () => {
	test.each([403, 404])('with status %i names the IDs and the URL', async (status) => {
		const result = await resultOf(POST, status, { success: false, error: 'No' });
		expect(result).toMatchObject({
			outcome: 'rejected',
			message: "The service didn't find this, or doesn't allow it with your API token",
			description: expect.stringMatching(/^Check the IDs, .* In n8n, also check 'Base URL'/),
		});
	});

	test.each<[string, ServiceRequest, number, JsonValue, ErrorCode | undefined]>([
		['a line break after a code', GET, 404, { error: 'call_not_found\n' }, 'call_not_found'],
		['a code in a crash report', GET, 422, { error: 'RuntimeError: call_not_found\n' }, undefined],
		['a text that begins alike', GET, 422, { error: "Couldn't find Campaigns" }, undefined],
		['a 401 in other words', GET, 401, { error: 'Sign in' }, 'invalid_api_token'],
		['a 409 without a text', CONTACTS, 409, {}, 'campaign_archived'],
	])('with %s', async (_name, request, status, body, code) => {
		const error = await resultOf(request, status, Object.assign({ success: false }, body));
		expect(error).toBeInstanceOf(ServiceRejection);
		expect(error).toMatchObject({ rejection: { code } });
	});
});

describe('a sign of an effect', () => {
	const shown = (body: JsonValue, request = POST) => findEffect(request, body);

	test.each<[JsonValue, string | undefined]>([
		[{ call_id: 'c-1' }, 'call_id c-1'],
		[{ details: [{ call_id: 7 }] }, 'call_id 7'],
		[{ data: { contacts_accepted: 2 } }, 'contacts_accepted 2'],
		[{ success: true }, 'success: true'],
		[{ call_id: null, data: { call_id: '' } }, undefined],
		[{ contacts_accepted: 0, data: { contacts_accepted: '0' } }, undefined],
		[{ success: false, error: 'call_id' }, undefined],
	])('in %j: %p', (body, expected) => {
		expect(shown(body)).toBe(expected);
	});

	test('is not in a read', () => {
		expect(shown({ success: true, call_id: 'c-1' }, GET)).toBeUndefined();
	});
});

describe('a success', () => {
	test.each([null, 'call_not_found', 'deprecated'])('may have `error: %j`', async (error) => {
		const body = { success: true, error, data: { a: 1 } };
		expect(await resultOf(GET, 200, body)).toMatchObject({ body });
	});

	test.each<[body: string, record: object]>([
		['{"success":true,"data":{"a":1},"meta":{"page":2}}', { a: 1, meta: { page: 2 } }],
		['{"success":true,"data":null,"message":"x"}', { message: 'x' }],
		['{"success":true,"message":"x"}', { message: 'x' }],
		['{"a":1}', { a: 1 }],
		['{"success":true,"data":"text","message":"x"}', { data: 'text', message: 'x' }],
		['{"success":true,"data":[1],"id":9}', { data: [1], id: 9 }],
		// Fields of the record are never replaced.
		['{"success":true,"data":{"id":7},"id":"r","message":"x"}', { id: 7, message: 'x' }],
		// Of the request, not of the call.
		['{"success":true,"status":"ok","error":null,"errors":[],"data":{"a":1}}', { a: 1 }],
		['{"success":true,"status":"ok","data":{"status":"picked"}}', { status: 'picked' }],
		['[1,2]', { data: [1, 2] }],
		['"text"', { data: 'text' }],
		['0', { data: 0 }],
		['null', {}],
	])('%s has the record %j', (body, record) => {
		expect(recordOf({ body: JSON.parse(body) })).toEqual(record);
	});
});

describe('an unknown outcome', () => {
	test.each<[string, ConstructorParameters<typeof OutcomeUnknown>[2]]>([
		['without an original message', undefined],
		['of a proxy', { originalMessage: '<html>', status: 502, origin: 'response' }],
	])('%s is the same after it was stored', (_name, facts) => {
		const error = new OutcomeUnknown('It broke', 'Look there.', facts);
		const stored: ReturnType<typeof error.toStored> = JSON.parse(JSON.stringify(error.toStored()));
		expect(error.toStored()).toStrictEqual(stored);
		const { message, description, originalMessage, status, origin } = error;
		expect(OutcomeUnknown.fromStored(stored)).toMatchObject({
			...{ message, description, originalMessage, status, origin },
			outcome: 'unknown',
		});
	});

	test('shows and stores only the start of a long response', () => {
		const facts = { originalMessage: 'x'.repeat(2_001) };
		const error = new OutcomeUnknown('It broke', '', facts);
		expect(error.originalMessage).toBe(`${'x'.repeat(2_000)}…`);
		expect(error.toStored().originalMessage).toBe(error.originalMessage);
	});
});

test('a bug of this package is thrown as it is', () => {
	const bug = new TypeError('x is undefined');
	expect(() => explained(bug)).toThrow(bug);
});
