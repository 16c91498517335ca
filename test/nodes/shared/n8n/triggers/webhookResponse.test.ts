import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
	readJson,
	WebhookResponder,
} from '../../../../../nodes/shared/n8n/triggers/webhookResponse';
import {
	engineHarness,
	makeWorkflow,
	webhookContext,
	type WebhookRequest,
} from '../../../../engine';
import { until } from '../../../../n8n/until';

const harness = engineHarness();

/** The result of `readJson` for a request. */
async function read(incoming: WebhookRequest) {
	const node = harness.node('callCompletedTrigger', { parameters: {} });
	return await readJson(
		webhookContext(harness.credentials, makeWorkflow([node]), node, incoming).context,
	);
}

/** A request whose sender has closed the connection before a busy n8n reads it. */
async function leftBehind(body: string, length: number, header = ''): Promise<WebhookRequest> {
	const server = createServer().listen(0, '127.0.0.1');
	const sender = new Socket();
	try {
		await once(server, 'listening');
		const address = server.address();
		if (address === null || typeof address === 'string') throw new Error('The server has no port');
		const received = once(server, 'request');
		sender.connect(address.port, '127.0.0.1');
		const head = `POST / HTTP/1.1\r\nhost: n8n\r\ncontent-length: ${length}\r\n${header}\r\n`;
		sender.end(head + body);
		const [incoming]: IncomingMessage[] = await received;
		if (incoming === undefined) throw new Error('No request came');
		await until('the sender to be gone', async () => incoming.destroyed);
		return {
			readRawBody: async () => await Promise.reject(new Error('aborted or is not readable')),
			rawBody: undefined,
			complete: incoming.complete,
			headers: { ...incoming.headers },
			read: (): unknown => incoming.read(),
		};
	} finally {
		sender.destroy();
		server.close();
	}
}

it('reads a body that arrived completely before its sender closed the connection', async () => {
	const body = JSON.stringify({ call_id: 'a', summary: 'ü'.repeat(20_000) });
	expect(await read(await leftBehind(body, Buffer.byteLength(body)))).toEqual({
		json: JSON.parse(body),
		bytes: Buffer.byteLength(body),
	});
});

it('rejects an incomplete body', async () => {
	const rejected = { rejected: { status: 400, message: "The body can't be read." } };
	expect(await read(await leftBehind('{"call_id":"a"}', 100))).toEqual(rejected);
});

it('releases the bytes after reading', async () => {
	const node = harness.node('callCompletedTrigger', { parameters: {} });
	const incoming = { rawBody: Buffer.from('{"call_id":"a"}') };
	const { context } = webhookContext(harness.credentials, makeWorkflow([node]), node, incoming);
	expect(await readJson(context)).toEqual({ json: { call_id: 'a' }, bytes: 15 });
	expect(context.getRequestObject()).not.toHaveProperty('rawBody');
});

it.each([
	[15, true],
	[14, false],
])('with a maximum of %i, accepts a body of 15 bytes: %s', async (max, isAccepted) => {
	const node = harness.node('callCompletedTrigger', { parameters: {} });
	const incoming = { rawBody: Buffer.from('{"call_id":"a"}') };
	const { context } = webhookContext(harness.credentials, makeWorkflow([node]), node, incoming);
	const rejected = { status: 413, message: 'The body is larger than 14 bytes.' };
	expect(await readJson(context, max)).toEqual(
		isAccepted ? { json: { call_id: 'a' }, bytes: 15 } : { rejected },
	);
});

it('leaves a compressed body to n8n, because only n8n can decompress it', async () => {
	const incoming = await leftBehind('{"call_id":"a"}', 15, 'content-encoding: gzip\r\n');
	expect(await read(incoming)).toMatchObject({ rejected: { status: 400 } });
});

describe('the response to the sender', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	const tryLater = { status: 503, message: 'Deliver it again.' };

	function reply() {
		const node = harness.node('callCompletedTrigger', { parameters: {} });
		const { context, response } = webhookContext(
			harness.credentials,
			makeWorkflow([node]),
			node,
			{},
		);
		return { reply: new WebhookResponder(context), response };
	}

	it('is sent at the time limit', async () => {
		const { reply: late, response } = reply();
		late.rejectAfter(10_000, tryLater);
		await jest.advanceTimersByTimeAsync(9_999);
		expect(response.body).toBeUndefined();
		await jest.advanceTimersByTimeAsync(1);
		expect(response).toMatchObject({ statusCode: 503, body: { received: false } });
		late.send(200, { received: true });
		expect(response.statusCode).toBe(503);
	});

	it('ends the wait for the time limit', async () => {
		const { reply: prompt, response } = reply();
		prompt.rejectAfter(10_000, tryLater);
		prompt.send(200, { received: true });
		await jest.advanceTimersByTimeAsync(1_000);
		expect(jest.getTimerCount()).toBe(0);
		expect(response).toMatchObject({ statusCode: 200, body: { received: true } });
	});

	it('is not sent if n8n has responded', async () => {
		const { reply: late, response } = reply();
		late.rejectAfter(10_000, tryLater);
		const json = jest.spyOn(response, 'json');
		Object.assign(response, { headersSent: true });
		await jest.advanceTimersByTimeAsync(10_000);
		late.send(200, { received: true });
		expect(json).not.toHaveBeenCalled();
	});

	it('of several parts is sent when all have responded, with the highest status', () => {
		const { reply: whole, response } = reply();
		const [first, second, third] = whole.parts(3);
		first?.send(200, { received: true, call_id: 'a' });
		second?.reject({ ...tryLater, retryAfter: 60 });
		second?.send(200, { received: true });
		expect(response.body).toBeUndefined();
		third?.reject({ status: 404, message: 'Unknown.' });
		expect(response).toMatchObject({
			statusCode: 503,
			headers: { 'Retry-After': '60' },
			body: {
				received: false,
				parts: [
					{ status: 200, received: true, call_id: 'a' },
					{ status: 503, received: false, message: 'Deliver it again.' },
					{ status: 404, received: false, message: 'Unknown.' },
				],
			},
		});
	});

	it('of one part is sent unchanged', () => {
		const { reply: whole } = reply();
		expect(whole.parts(1)).toEqual([whole]);
	});
});
