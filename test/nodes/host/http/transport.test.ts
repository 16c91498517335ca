import { type IExecuteFunctions, type IHttpRequestOptions, NodeOperationError } from 'n8n-workflow';
import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ServiceRequest } from '../../../../nodes/core/service/http';
import type { Deadline } from '../../../../nodes/core/values/clock';
import { neverSent } from '../../../../nodes/core/service/retry';
import {
	createTransport,
	RESPONSE_LIMITS,
	TIME_LIMITS,
	toFault,
	toHttpResponse,
} from '../../../../nodes/host/http/transport';
import { holdTimeouts, makeNode } from '../../../engine';
import { until } from '../../../n8n/until';

afterEach(() => jest.restoreAllMocks());

const OK = { statusCode: 200, headers: {}, body: '{}' };
const READ: ServiceRequest = { method: 'GET', path: '/v1/calls' };

/** Sends requests with this HTTP helper of n8n. */
const sendWith = (httpRequestWithAuthentication: object, deadline?: Deadline) =>
	createTransport(
		z.custom<IExecuteFunctions>().parse({ helpers: { httpRequestWithAuthentication } }),
		'https://voice.example.com',
		{},
		deadline,
	);

/** The options that n8n's HTTP helper gets. */
async function optionsOf(request: ServiceRequest): Promise<IHttpRequestOptions | undefined> {
	let seen: IHttpRequestOptions | undefined;
	const send = sendWith(async (_credential: string, options: IHttpRequestOptions) => {
		seen = options;
		return await Promise.resolve(OK);
	});
	await send(request);
	return seen;
}

test('a request gets its response as a stream, may take three minutes, follows no redirect, and sends the token to no other host', async () => {
	expect(await optionsOf({ ...READ, method: 'POST', body: { a: 'b' } })).toMatchObject({
		method: 'POST',
		url: 'https://voice.example.com/v1/calls',
		body: Buffer.from('{"a":"b"}'),
		headers: { 'Content-Type': 'application/json' },
		encoding: 'stream',
		timeout: 180_000,
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
	});
});

test.each([
	['longer than the limit is read up to the limit, and its connection is closed', 11, true],
	['within the limit is read completely, and its connection stays open', 10, false],
])('a response %s', async (_what, length, isClosed) => {
	jest.replaceProperty(RESPONSE_LIMITS, 'successBytes', 10);
	const body = new Readable({ read: () => {}, autoDestroy: false });
	body.push('x'.repeat(length));
	body.push(null);
	const send = sendWith(async () => await Promise.resolve({ ...OK, body }));
	const { text, readBytes } = await send(READ);
	expect([text.length, body.destroyed]).toEqual([10, isClosed]);
	expect(readBytes).toBe(length > 10 ? 10 : undefined);
});

test('a request ends at its time limit as timed out, and a response that never ends is closed', async () => {
	const pass = holdTimeouts();
	const body = new Readable({ read: () => {} });
	body.push('x');
	const send = sendWith(async () => await Promise.resolve({ ...OK, body }));
	const sent = send(READ);
	const ended = expect(sent).rejects.toMatchObject({ code: 'ETIMEDOUT' });
	pass(TIME_LIMITS.wholeMs);
	await ended;
	body.push('x');
	await until('the end of the stream', () => body.destroyed);
});

test('no request is sent after the time limit of a tool', async () => {
	const helper = jest.fn(async () => await Promise.resolve(OK));
	const send = sendWith(helper, { at: 0, signal: AbortSignal.abort() });
	await expect(send(READ)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
	expect(helper).not.toHaveBeenCalled();
});

test('the time limit of a request that has ended keeps nothing of it in memory', async () => {
	const timeout = jest.spyOn(AbortSignal, 'timeout');
	await sendWith(async () => await Promise.resolve(OK))(READ);
	const signal = z.instanceof(AbortSignal).parse(timeout.mock.results[0]?.value);
	expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a request with a shorter limit ends then', async () => {
	const never = async () => await new Promise(() => undefined);
	const timedOut = { code: 'ETIMEDOUT' };
	await expect(sendWith(never)({ ...READ, timeoutMs: 20 })).rejects.toMatchObject(timedOut);
});

test.each([
	[{ statusCode: 200, headers: { a: 'b' }, body: '{}' }, 200, { a: 'b' }, '{}'],
	[{ statusCode: 204, headers: {} }, 204, {}, ''],
	[{ statusCode: 200, headers: {}, body: { a: 1 } }, 200, {}, '{"a":1}'],
	[{ statusCode: '200', headers: 'none', body: '' }, 0, {}, ''],
])("a response of n8n's helpers: %j", (response, status, headers, text) => {
	expect(toHttpResponse(response)).toEqual({ status, headers, text });
});

test.each([undefined, null, 'text'])('%j is not a response', (response) => {
	expect(() => toHttpResponse(response)).toThrow('NO_RESPONSE');
});

type ErrorFields = { code?: string; syscall?: string; name?: string; errors?: unknown[] };

const fault = (message: string, fields: ErrorFields = {}) =>
	Object.assign(new Error(message), fields);
const failed = (code: string, syscall?: string) =>
	fault('x', { code, ...(syscall !== undefined && { syscall }) });
/** Several addresses, each with the system call that failed. */
const refused = (...calls: string[]) =>
	fault('', { code: 'ECONNREFUSED', errors: calls.map((syscall) => fault('', { syscall })) });

/** As n8n hands it out: its own error around axios's around Node's. */
function wrapped(cause: Error & ErrorFields) {
	const ofAxios = Object.assign(new Error('axios'), {
		...(cause.code !== undefined && { code: cause.code }),
		cause,
	});
	return new NodeOperationError(makeNode({ type: 'test.sink' }), ofAxios);
}

const OTHER_DOMAIN = 'Domain not allowed: This credential is restricted from accessing x';

test.each<[string, Error & ErrorFields, isNeverSent: boolean, code: string]>([
	['a refused connection', failed('ECONNREFUSED', 'connect'), true, 'ECONNREFUSED'],
	['an unreachable host', failed('EHOSTUNREACH', 'connect'), true, 'EHOSTUNREACH'],
	['an unknown name', failed('ENOTFOUND', 'getaddrinfo'), true, 'ENOTFOUND'],
	['several addresses that all reject', refused('connect', 'connect'), true, 'ECONNREFUSED'],
	['a certificate', failed('SELF_SIGNED_CERT_IN_CHAIN'), true, 'SELF_SIGNED_CERT_IN_CHAIN'],
	['a blocked address', fault('', { name: 'SsrfBlockedIpError' }), true, 'BLOCKED_BY_N8N'],
	['a blocked name', fault('', { name: 'SsrfBlockedHostnameError' }), true, 'BLOCKED_BY_N8N'],
	['a host outside the allowed domains', fault(OTHER_DOMAIN), true, 'BLOCKED_BY_N8N'],
	['a reset', failed('ECONNRESET', 'read'), false, 'ECONNRESET'],
	['a reset without a syscall', failed('ECONNRESET'), false, 'ECONNRESET'],
	['a host that went away', failed('EHOSTUNREACH', 'read'), false, 'EHOSTUNREACH'],
	['an alert of TLS', failed('ERR_SSL_TLSV13_ALERT'), false, 'ERR_SSL_TLSV13_ALERT'],
	['a broken record', failed('EPROTO', 'write'), false, 'EPROTO'],
	['ECONNREFUSED by its code alone', failed('ECONNREFUSED'), false, 'ECONNREFUSED'],
	['one of several was connected', refused('connect', 'read'), false, 'ECONNREFUSED'],
	['several without an error of each', refused(), false, 'ECONNREFUSED'],
	['no code at all', fault('socket hang up'), false, 'Error'],
	['a fault of the program', new TypeError('x is undefined'), false, 'TypeError'],
])(
	'%s shows that nothing was sent, or that it may have been',
	(_what, inner, isNeverSent, code) => {
		for (const error of [inner, wrapped(inner)]) {
			expect(toFault(error)).toMatchObject({ code });
			expect(neverSent(toFault(error))).toBe(isNeverSent);
		}
	},
);

const inItself: Error & { cause?: unknown } = new Error('x');
inItself.cause = inItself;

test.each([undefined, null, 'x', 7, {}, inItself])(
	'after %p was thrown, the request may have been sent',
	(thrown) => {
		expect(neverSent(toFault(thrown))).toBe(false);
		const code = thrown === inItself ? 'Error' : 'NO_RESPONSE';
		expect(toFault(thrown)).toMatchObject({ code });
	},
);

test('keeps only codes of the error, because its request contains the token', () => {
	const error = fault('POST https://x?token=tok-0123456789ab', { code: 'ECONNRESET' });
	expect(JSON.stringify(toFault(error))).not.toContain('tok-');
	expect(toFault(error).message).toBe('ECONNRESET');
});
