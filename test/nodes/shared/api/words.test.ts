/**
 * The complete messages for each response and network fault, so that every change of a sentence is intentional. Update
 * them with `npm test -- -u test/nodes/shared/api/words.test.ts`.
 */
import { parseResponse } from '../../../../nodes/shared/api/response';
import { ERRORS, explainRejection } from '../../../../nodes/shared/api/errorTable';
import { hasAnyField } from '../../../../nodes/shared/api/envelope';
import {
	ExplainedError,
	isTransient,
	MissingMapping,
	OutcomeUnknown,
} from '../../../../nodes/shared/api/errors';
import { type Explanation, forEveryone } from '../../../../nodes/shared/api/resolution';
import { TransportFault, type Method } from '../../../../nodes/shared/api/http';
import { clientOf } from './clientOf';

expect.addSnapshotSerializer({
	test: (value) => typeof value === 'string',
	serialize: (value) => String(value),
});

function words(error: unknown): string {
	if (!(error instanceof ExplainedError)) throw error;
	const duration = isTransient(error) ? 'transient' : 'permanent';
	return `${error.name}, ${error.outcome}, ${duration}\n${error.message}.\n${error.description}`;
}

async function messageOf(act: () => unknown): Promise<string> {
	try {
		await act();
	} catch (error) {
		return words(error);
	}
	throw new Error('No error was thrown');
}

/** What happened, what a person can do, and what a model can do. */
function written({ message, resolution }: Explanation): string {
	return [`${message}.`, resolution.onScreen, `For a model: ${resolution.forModel}`].join('\n');
}

/** A rejection with a reason that the document doesn't have. */
const undocumented = (path: string, status: number) =>
	explainRejection(
		{ method: 'POST', path },
		{ status, headers: {}, text: '' },
		{ texts: ['No'], body: { success: false } },
		0,
	);

test.each(ERRORS)('$message', (row) => {
	expect(`${row.code ?? 'not documented'}\n${written(row)}`).toMatchSnapshot();
});

test.each([400, 403, 404, 409, 422])('an undocumented rejection with status %i', (status) => {
	const explanation = undocumented('/v1/call', status);
	expect(written(explanation)).toMatchSnapshot();
});

test.each([
	['/v1/chat/session/s-1/ws_token', 403],
	['/v1/chat/session/s-1/ws_token', 404],
	['/chat_sessions/s-1/close_session', 404],
	['/v1/chat/session', 403],
	['/v1/chat/inbound', 403],
	['/v1/chat/inbound', 404],
])('an undocumented rejection by %s with status %i', (path, status) => {
	const { message, resolution } = undocumented(path, status);
	expect(`${message}.\n${resolution.onScreen}`).toMatchSnapshot();
});

describe('a response', () => {
	test.each<[Method, number, string]>([
		['GET', 500, ''],
		['GET', 503, '{"success":false,"error":"database down","details":null}'],
		['POST', 500, '{"success":false,"error":"boom","details":{"trace":"abc","at":{"line":3}}}'],
		['POST', 502, '<html>\n  <b>Bad gateway</b>\n</html>'],
		['GET', 403, '<html>Forbidden</html>'],
		['POST', 499, ''],
		['POST', 300, ''],
		['POST', 302, ''],
		['GET', 200, ' <html>Sign in</html>'],
		['POST', 200, '<html>Sign in</html>'],
		['GET', 200, ' '],
		['POST', 204, ''],
		['GET', 200, '{"success":true,"data":{"call_'],
		['POST', 299, '{"success":true'],
		['GET', 200, '{"success":true,"data":{}}'],
		['POST', 200, '{"success":true}'],
		['POST', 200, '{"note":"<b>done</b>"}'],
		['POST', 200, `{"text":"${'x'.repeat(300)}"}`],
		['POST', 400, '{"success":false}'],
		['POST', 400, '{"success":false,"error":null,"errors":[null],"details":null}'],
		['POST', 400, '{"success":false,"error":"","errors":["one","two"]}'],
		['POST', 400, '{"success":false,"errors":"only text"}'],
		['POST', 400, '{"success":false,"error":{"code":7},"details":["a"]}'],
		['POST', 422, '{"errors":["is invalid",{"field":"phone"}]}'],
		['POST', 409, '{"success":false,"error":"rejected","upstream_body":{"reason":"too late"}}'],
		['POST', 403, '{"error":"Forbidden"}'],
		['POST', 408, '{"success":false,"error":"Request Timeout"}'],
		['POST', 400, '{"success":false,"error":"No webhook","data":{"call_id":"c-1"}}'],
		['POST', 200, 'OK'],
		['GET', 200, 'OK'],
	])('%s %i %s', async (method, status, text) => {
		const request = { method, path: '/v1/call' };
		const response = { status, headers: {}, text };
		const read = () =>
			parseResponse(request, response, {
				successCheck: hasAnyField('call_id'),
				effectFields: ['call_id'],
				now: 0,
			});
		expect(await messageOf(read)).toMatchSnapshot();
	});

	test('with a secret is not quoted', async () => {
		const response = { status: 200, headers: {}, text: '{"token":"abc' };
		const checks = { successCheck: hasAnyField('token'), isSecret: true, now: 0 };
		const read = () => parseResponse({ method: 'POST', path: '/v1/x' }, response, checks);
		expect(await messageOf(read)).toMatchSnapshot();
	});
});

describe('a network fault', () => {
	test.each<[Method, string, string | undefined]>([
		['GET', 'ECONNRESET', 'read'],
		['POST', 'ECONNRESET', 'read'],
		['POST', 'ECONNABORTED', undefined],
		['POST', 'ETIMEDOUT', 'read'],
		['GET', 'ECONNREFUSED', 'connect'],
		['POST', 'ENOTFOUND', 'getaddrinfo'],
		['POST', 'CERT_HAS_EXPIRED', undefined],
		['POST', 'BLOCKED_BY_N8N', undefined],
	])('%s %s %s', async (method, code, syscall) => {
		const transport = async () =>
			await Promise.reject(new TransportFault(code, `in words: ${code}`, syscall));
		const client = clientOf(transport);
		const send = async () =>
			await client.send({ method, path: '/v1/call' }, hasAnyField('call_id'));
		expect(await messageOf(send)).toMatchSnapshot();
	});
});

test('an unknown outcome can have another text', () => {
	const found = new OutcomeUnknown('It broke', forEveryone('Look there.'), 'ECONNRESET');
	expect(words(found.withText({}))).toBe(words(found));
	expect(
		words(
			found.withText({ message: 'The call may have been placed', resolution: forEveryone('Ask.') }),
		),
	).toMatchSnapshot();
	expect(new OutcomeUnknown('It broke', forEveryone('Look there.'), 'no', 500).origin).toBe(
		'service',
	);
});

test('a missing value of the API mapping is permanent, and nothing is sent', () => {
	expect(words(new MissingMapping('It is missing', forEveryone('Fill it in.')))).toMatchSnapshot();
	expect(isTransient(new Error('x'))).toBe(false);
});
