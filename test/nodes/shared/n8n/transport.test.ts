import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod';
import { createTransport, TIME_LIMITS, toWireAnswer } from '../../../../nodes/shared/n8n/transport';

/** The options with which a request is handed to n8n. */
async function handedOver(method: 'GET' | 'POST', body?: { [name: string]: string }) {
	const seen: IHttpRequestOptions[] = [];
	const helper = async (_credential: string, options: IHttpRequestOptions) => {
		seen.push(options);
		return await Promise.resolve({ statusCode: 200, headers: {}, body: '{}' });
	};
	const context = z
		.custom<IExecuteFunctions>()
		.parse({ helpers: { httpRequestWithAuthentication: helper } });
	const send = createTransport(context, 'https://voice.example.com', {});
	await send({ method, path: '/v1/calls', ...(body && { body }) });
	return seen[0];
}

test('a request may take three minutes, follows no redirect and sends the token to no other host', async () => {
	expect(await handedOver('POST', { a: 'b' })).toMatchObject({
		method: 'POST',
		url: 'https://voice.example.com/v1/calls',
		body: Buffer.from('{"a":"b"}'),
		headers: { 'Content-Type': 'application/json' },
		timeout: 180_000,
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
	});
});

test('where no execution can be stopped, its end is handed over too', async () => {
	const limit = jest.replaceProperty(TIME_LIMITS, 'wholeMs', 20);
	const options = await handedOver('POST');
	limit.restore();
	expect(options?.abortSignal).toMatchObject({ aborted: false });
	await new Promise((resolve) => {
		options?.abortSignal?.addEventListener?.('abort', resolve);
	});
});

test('in an execution, which n8n ends by Stop, its end stands in the place of Stop and includes it', async () => {
	const stop = new AbortController();
	const ends: AbortSignal[] = [];
	const helper = async function (this: { getExecutionCancelSignal: () => AbortSignal }) {
		ends.push(this.getExecutionCancelSignal());
		return await Promise.resolve({ statusCode: 200, headers: {}, body: '{}' });
	};
	const context = z.custom<IExecuteFunctions>().parse({
		helpers: { httpRequestWithAuthentication: helper },
		getExecutionCancelSignal: () => stop.signal,
	});
	const send = createTransport(context, 'https://voice.example.com', {});
	const limit = jest.replaceProperty(TIME_LIMITS, 'wholeMs', 20);
	await send({ method: 'GET', path: '/v1/calls' });
	limit.restore();
	await new Promise((resolve) => ends[0]?.addEventListener('abort', resolve));
	expect(stop.signal.aborted).toBe(false);
	await send({ method: 'GET', path: '/v1/calls' });
	expect(ends[1]?.aborted).toBe(false);
	stop.abort();
	expect(ends[1]?.aborted).toBe(true);
});

test('every answer is taken as it comes, whatever its status', async () => {
	expect(await handedOver('GET')).toMatchObject({
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		encoding: 'text',
	});
});

test.each([
	[{ statusCode: 200, headers: { a: 'b' }, body: '{}' }, 200, { a: 'b' }, '{}'],
	[{ statusCode: 204, headers: {} }, 204, {}, ''],
	[{ statusCode: 200, headers: {}, body: { a: 1 } }, 200, {}, '{"a":1}'],
	[{ statusCode: '200', headers: 'none', body: '' }, 0, {}, ''],
])('an answer of n8n’s helpers: %j', (response, status, headers, text) => {
	expect(toWireAnswer(response)).toEqual({ status, headers, text });
});

test.each([undefined, null, 'text'])('%j is no answer', (response) => {
	expect(() => toWireAnswer(response)).toThrow('No response');
});
