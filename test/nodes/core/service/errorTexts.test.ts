/**
 * The complete messages for each kind of response and network fault, so that every change of a sentence is
 * intentional. Update them with `npm test -- -u test/nodes/core/service/errorTexts.test.ts`.
 */
import { hasAnyField } from '../../../../nodes/core/service/envelope';
import { ExplainedError, isTransient } from '../../../../nodes/core/service/errors';
import { TransportFault, type Method, type Transport } from '../../../../nodes/core/service/http';
import { clientOf } from './clientOf';

expect.addSnapshotSerializer({
	test: (value) => typeof value === 'string',
	serialize: (value) => String(value),
});

/** The kind of the error, its message, and its description, in two lines. */
async function wordsOf(method: Method, transport: Transport): Promise<string> {
	const checks = { successCheck: hasAnyField('call_id') };
	const request = { method, path: '/v1/call', body: { phone_number: '123' } };
	const sending = clientOf(transport).send(request, checks);
	const error: unknown = await sending.catch((caught: unknown) => caught);
	if (!(error instanceof ExplainedError)) throw error;
	const duration = isTransient(error) ? 'transient' : 'permanent';
	return `${error.name}, ${duration}: ${error.message}.\n\t${error.description}`;
}

test('responses', async () => {
	const responses: Array<[Method, number, string]> = [
		['GET', 500, ''],
		['GET', 503, '{"success":false,"error":"database down","details":null}'],
		['POST', 500, '{"success":false,"error":"boom","details":{"trace":"abc","at":{"line":3}}}'],
		['POST', 502, '<html>\n  <b>Bad gateway</b>\n</html>'],
		['GET', 404, `<!DOCTYPE html><head><style>${'b{}'.repeat(99)}</style></head><h1>No page</h1>`],
		['POST', 401, '<html>Sign in</html>'],
		['POST', 302, ''],
		['POST', 307, ''],
		['POST', 200, ' <html>Sign in</html>'],
		['GET', 200, '{"success":true,"data":{"call_'],
		['GET', 200, '{"success":true,"data":{}}'],
		['POST', 200, '{"note":"<b>done</b>"}'],
		['POST', 400, '{"success":false,"error":"","errors":["one","two"]}'],
		['POST', 400, '{"success":false,"error":{"code":7},"details":["a"]}'],
		['POST', 422, '{"errors":["is invalid",{"field":"phone"}]}'],
		['POST', 409, '{"success":false,"error":"rejected","upstream_body":{"reason":"too late"}}'],
		['POST', 403, '{"error":"Forbidden"}'],
		['POST', 408, '{"success":false,"error":"Request Timeout"}'],
		['POST', 400, '{"success":false,"error":"No webhook","data":{"call_id":"c-1"}}'],
	];
	const texts = responses.map(async ([method, status, text]) => {
		const transport = async () => await Promise.resolve({ status, headers: {}, text });
		return `${method} ${status} ${text.slice(0, 100)}\n\t${await wordsOf(method, transport)}`;
	});
	expect((await Promise.all(texts)).join('\n')).toMatchSnapshot();
});

test('network faults', async () => {
	const faults: Array<[Method, string, string | undefined]> = [
		['GET', 'ECONNRESET', 'read'],
		['POST', 'ECONNRESET', 'read'],
		['GET', 'ECONNREFUSED', 'connect'],
		['POST', 'ENOTFOUND', 'getaddrinfo'],
		['POST', 'CERT_HAS_EXPIRED', undefined],
		['POST', 'BLOCKED_BY_N8N', undefined],
	];
	const texts = faults.map(async ([method, code, syscall]) => {
		const fault = new TransportFault(code, `in words: ${code}`, syscall);
		return `${method} ${code}\n\t${await wordsOf(method, async () => await Promise.reject(fault))}`;
	});
	expect((await Promise.all(texts)).join('\n')).toMatchSnapshot();
});
