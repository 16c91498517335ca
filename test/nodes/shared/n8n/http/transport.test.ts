import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ServiceRequest } from '../../../../../nodes/shared/api/http';
import {
	createTransport,
	RESPONSE_LIMITS,
	TIME_LIMITS,
	toHttpResponse,
} from '../../../../../nodes/shared/n8n/http/transport';
import { holdTimeouts } from '../../../../engine';

afterEach(() => jest.restoreAllMocks());

/** A context of n8n with this HTTP helper. */
const n8nWith = (httpRequestWithAuthentication: object, more = {}) =>
	z.custom<IExecuteFunctions>().parse({ helpers: { httpRequestWithAuthentication }, ...more });

/** The options that n8n's HTTP helper gets. */
async function optionsOf(request: Pick<ServiceRequest, 'method' | 'body'>) {
	const seen: IHttpRequestOptions[] = [];
	const helper = async (_credential: string, options: IHttpRequestOptions) => {
		seen.push(options);
		return await Promise.resolve({ statusCode: 200, headers: {}, body: '{}' });
	};
	const send = createTransport(n8nWith(helper), 'https://voice.example.com', {});
	await send({ ...request, path: '/v1/calls' });
	return seen[0];
}

test('a request gets its response as a stream, may take three minutes, follows no redirect, and sends the token to no other host', async () => {
	expect(await optionsOf({ method: 'POST', body: { a: 'b' } })).toMatchObject({
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
	const limit = jest.replaceProperty(RESPONSE_LIMITS, 'successBytes', 10);
	const body = new Readable({ read: () => {}, autoDestroy: false });
	body.push('x'.repeat(length));
	body.push(null);
	const helper = async () => await Promise.resolve({ statusCode: 200, headers: {}, body });
	const send = createTransport(n8nWith(helper), 'https://voice.example.com', {});
	const { text, readBytes } = await send({ method: 'GET', path: '/v1/calls' });
	limit.restore();
	expect([text.length, body.destroyed]).toEqual([10, isClosed]);
	expect(readBytes).toBe(length > 10 ? 10 : undefined);
});

test('without an execution, the request gets a signal that aborts it after the time limit', async () => {
	const pass = holdTimeouts();
	const options = await optionsOf({ method: 'POST' });
	expect(options?.abortSignal).toMatchObject({ aborted: false });
	pass(TIME_LIMITS.wholeMs);
	expect(options?.abortSignal).toMatchObject({ aborted: true });
});

test('in an execution, one signal aborts the request after the time limit and when n8n stops the execution', async () => {
	const stop = new AbortController();
	const ends: AbortSignal[] = [];
	const helper = async function (this: { getExecutionCancelSignal: () => AbortSignal }) {
		ends.push(this.getExecutionCancelSignal());
		return await Promise.resolve({ statusCode: 200, headers: {}, body: '{}' });
	};
	const context = n8nWith(helper, { getExecutionCancelSignal: () => stop.signal });
	const send = createTransport(context, 'https://voice.example.com', {});
	const pass = holdTimeouts();
	await send({ method: 'GET', path: '/v1/calls' });
	expect(ends[0]?.aborted).toBe(false);
	pass(TIME_LIMITS.wholeMs);
	expect(ends[0]?.aborted).toBe(true);
	expect(stop.signal.aborted).toBe(false);
	await send({ method: 'GET', path: '/v1/calls' });
	expect(ends[1]?.aborted).toBe(false);
	stop.abort();
	expect(ends[1]?.aborted).toBe(true);
});

test('a request after its time limit is reported as timed out, whatever axios reports', async () => {
	const helper = async (_credential: string, { abortSignal }: IHttpRequestOptions) => {
		await new Promise((resolve) => {
			abortSignal?.addEventListener?.('abort', resolve);
		});
		throw Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' });
	};
	const send = createTransport(n8nWith(helper), 'https://voice.example.com', {});
	await expect(send({ method: 'GET', path: '/v1/calls', timeoutMs: 20 })).rejects.toMatchObject({
		code: 'ETIMEDOUT',
	});
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
