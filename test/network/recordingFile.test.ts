import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { INodeExecutionData } from 'n8n-workflow';
import { output } from '../engine/engine';
import { localServer } from './localServer';

const SOUND = Buffer.from([...Array(60_000).keys()].map((at) => (at * 7919) >> 3));

/** Handles the request for the file. */
type Storage = (socket: Socket, request: IncomingMessage) => void;

let storage: Storage = () => {};
let requests: IncomingMessage[] = [];

const server = localServer((request, response) => {
	if (request.url?.startsWith('/v1/') === true) {
		const recording_url = `${server.baseUrl()}/file.wav?signature=s3cr3t`;
		const data = { call_id: 'call-1', recording_url, expires_in_seconds: 900 };
		response.end(JSON.stringify({ success: true, data }));
		return;
	}
	requests.push(request);
	request.socket.on('error', () => {});
	storage(request.socket, request);
});

beforeEach(() => {
	requests = [];
});

const download = async () =>
	await server.run('getCall', { operation: 'getRecording', callId: 'call-1', recordingAs: 'file' });

/** The size of the saved file, or the error message. */
async function downloadResult(): Promise<{ bytes?: number; message?: string }> {
	const result = await download();
	const { error } = result.data.resultData;
	if (error !== undefined) return { message: error.message };
	const item: INodeExecutionData | undefined = output(result, 'Node')[0];
	const bytes = Buffer.from(item?.binary?.data?.data ?? '', 'base64').length;
	return { bytes };
}

const head = (...lines: string[]): string =>
	[...['HTTP/1.1 200 OK', 'Content-Type: audio/wav'], ...lines, '', ''].join('\r\n');

const chunk = (bytes: Buffer): Buffer =>
	Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

const sends =
	(headers: string, ...parts: Buffer[]): Storage =>
	(socket) =>
		socket.end(Buffer.concat([Buffer.from(headers), ...parts]));

const BROKEN = { message: "The recording couldn't be downloaded completely" };

test('a recording with the announced length is complete', async () => {
	storage = sends(head(`Content-Length: ${SOUND.length}`, 'Connection: close'), SOUND);
	expect(await downloadResult()).toEqual({ bytes: SOUND.length });
});

test('requests the file without compression and without the token', async () => {
	storage = sends(head(`Content-Length: ${SOUND.length}`, 'Connection: close'), SOUND);
	await downloadResult();
	expect(requests[0]?.headers['accept-encoding']).toBe('identity');
	expect(requests[0]?.headers).not.toHaveProperty('api-token');
});

describe('if a recording is cut', () => {
	test.each<[string, Storage]>([
		[
			'before its length',
			sends(head(`Content-Length: ${SOUND.length + 1}`, 'Connection: close'), SOUND),
		],
		['within a chunk', sends(head('Transfer-Encoding: chunked'), chunk(SOUND).subarray(0, 5_000))],
		['before the last chunk', sends(head('Transfer-Encoding: chunked'), chunk(SOUND))],
		[
			'by a reset before its length',
			(socket) => {
				const part = SOUND.subarray(0, 40_000);
				const headers = head(`Content-Length: ${SOUND.length}`);
				socket.write(Buffer.concat([Buffer.from(headers), part]), () => socket.resetAndDestroy());
			},
		],
	])('%s, nothing is saved', async (_position, behave) => {
		storage = behave;
		expect(await downloadResult()).toEqual(BROKEN);
	});

	test('inside a compressed body with a length, nothing is saved', async () => {
		const packed = gzipSync(SOUND).subarray(0, 5_000);
		const lines = [
			'Content-Encoding: gzip',
			`Content-Length: ${packed.length}`,
			'Connection: close',
		];
		storage = sends(head(...lines), packed);
		expect(await downloadResult()).toEqual(BROKEN);
	});
});

test('a redirect to the file is followed, without the token', async () => {
	const whole = sends(head(`Content-Length: ${SOUND.length}`, 'Connection: close'), SOUND);
	const moved: Storage = (socket) =>
		void socket.end(
			'HTTP/1.1 307 Moved\r\nLocation: ./moved.wav?s=1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
		);
	storage = (socket, request) =>
		(request.url?.startsWith('/moved') === true ? whole : moved)(socket, request);
	expect(await downloadResult()).toEqual({ bytes: SOUND.length });
	expect(requests).toHaveLength(2);
	for (const { headers } of requests) expect(headers).not.toHaveProperty('api-token');
});
