import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import nock from 'nock';
import { BinaryDataService } from 'n8n-core';
import { Container } from '@n8n/di';
import type { IBinaryData } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { TIME_LIMITS } from '../../../nodes/shared/n8n/http/transport';
import {
	engineTool,
	hintsOf,
	holdTimeouts,
	output,
	service,
	startNode,
	stoppedResult,
} from '../../engine';
import { nodeHarness } from '../nodeHarness';

const harness = nodeHarness('getCall', {
	operation: 'getRecording',
	callId: 'call-1',
});
const { records, errorOf, run } = harness;
const STORAGE = 'https://storage.example.com';
const PATH = '/recordings/call-1';
const SOUND = Buffer.from('RIFF....WAVEfmt ');
const FILE = { recordingAs: 'file' };

function link(recording_url: unknown = `${STORAGE}${PATH}?X-Signature=s3cr3t`) {
	const data = { call_id: 'call-1', recording_url, expires_in_seconds: 900 };
	service().get('/v1/call/call-1/recording').reply(200, { success: true, data });
}
/** The storage of another provider, which must not get the token. It sends what it compresses without its size. */
const storage = () =>
	nock(STORAGE, { badheaders: ['api-token'], reqheaders: { 'accept-encoding': 'identity' } })
		.get(PATH)
		.query({ 'X-Signature': 's3cr3t' });

const bytesOf = async (file: IBinaryData | undefined) =>
	file && (await Container.get(BinaryDataService).getAsBuffer(file));

test('the link has its expiry time', async () => {
	jest.spyOn(clock, 'now').mockReturnValue(Date.parse('2026-11-20T10:00:00Z'));
	link();
	expect(await records()).toEqual([
		{
			call_id: 'call-1',
			recording_url: `${STORAGE}${PATH}?X-Signature=s3cr3t`,
			expires_in_seconds: 900,
			expires_at: '2026-11-20T10:15:00.000Z',
		},
	]);
	jest.restoreAllMocks();
});

describe('the file', () => {
	test('a download that never ends is stopped with an error', async () => {
		const pass = holdTimeouts();
		const drip = new PassThrough();
		let written = 0;
		const dripping = setInterval(() => {
			drip.write('x');
			if (++written === 20) pass(TIME_LIMITS.downloadMs);
		}, 5);
		link();
		const dripped = () => {
			written = 0;
			return drip;
		};
		storage().reply(200, dripped, { 'content-type': 'audio/wav' });
		const fault = await errorOf(FILE);
		clearInterval(dripping);
		jest.restoreAllMocks();
		expect(fault).toMatchObject({ message: "The recording couldn't be downloaded completely" });
	});

	test('is no longer downloaded when the execution is stopped', async () => {
		const endless = new PassThrough();
		link();
		storage().reply(200, () => {
			endless.write('RIFF');
			setTimeout(() => execution.cancel(), 20);
			return endless;
		});
		const parameters = { operation: 'getRecording', callId: 'call-1', ...FILE };
		const execution = startNode(harness.node('getCall', { parameters }), [{ json: {} }]);
		expect(await stoppedResult(execution)).toMatchObject({ executionStatus: 'error' });
		endless.destroy();
	});

	test('is requested without the token, and is named after its call', async () => {
		link();
		storage().reply(200, SOUND, {
			'content-type': 'audio/wav',
			'content-length': String(SOUND.length),
		});
		const result = await run({ ...FILE, outputField: 'sound' });
		const [item] = output(result, 'Node');
		expect(item?.json).toEqual({
			call_id: 'call-1',
			file_name: 'call-1.wav',
			mime_type: 'audio/wav',
			file_size: item?.binary?.sound?.fileSize,
		});
		expect(hintsOf(result)).toEqual([]);
		expect(item?.binary?.sound).toMatchObject({ fileExtension: 'wav', fileType: 'audio' });
		expect(await bytesOf(item?.binary?.sound)).toEqual(SOUND);
	});

	test('is decompressed if the storage compresses it', async () => {
		link();
		storage().reply(200, gzipSync(SOUND), {
			'content-type': 'audio/mpeg',
			'content-encoding': 'gzip',
		});
		const [item] = output(await run(FILE), 'Node');
		expect(await bytesOf(item?.binary?.data)).toEqual(SOUND);
		expect(item?.json).toMatchObject({ file_name: 'call-1.mp3', mime_type: 'audio/mpeg' });
	});

	test.each<[type: string, path: string, name: string, mimeType: string, sent?: string]>([
		['audio/wav; rate=8000', '/x', 'call-1.wav', 'audio/wav'],
		['audio/mpeg', '/x.ogg', 'call-1.mp3', 'audio/mpeg'],
		['audio/new-thing', '/x', 'call-1', 'audio/new-thing'],
		['application/octet-stream', '/a/b/c%20d.ogg', 'call-1.ogg', 'audio/ogg'],
		['text/plain', '/x.wav', 'call-1.wav', 'audio/wav'],
		['nonsense', '/x.opus', 'call-1.opus', 'audio/ogg'],
		['audio/wav 8000', '/x.mp3', 'call-1.mp3', 'audio/mpeg'],
		['audio/mp3', '/x', 'call-1.mp3', 'audio/mp3'],
		['video/mp4', '/x', 'call-1', 'video/mp4'],
		['binary/octet-stream', '/x.mp4', 'call-1.mp4', 'video/mp4'],
		['', '/x.mp3', 'call-1.mp3', 'audio/mpeg'],
		['', '/x.mp3', 'call-1.ogg', 'audio/ogg', 'attachment; filename="a b.ogg"'],
		['text/plain', '/x', 'call-1.wav', 'audio/wav', "filename*=UTF-8''a.wav"],
	])(
		'of type "%s" at %s is named %s, with the type %s',
		async (type, path, name, mimeType, sent = '') => {
			link(`${STORAGE}${path}`);
			nock(STORAGE)
				.get(path)
				.reply(200, SOUND, {
					...(type !== '' && { 'content-type': type }),
					...(sent !== '' && { 'content-disposition': sent }),
				});
			expect(await records(FILE)).toMatchObject([{ file_name: name, mime_type: mimeType }]);
		},
	);

	test.each([
		['application/octet-stream+x', '/x', 'call-1', 'application/octet-stream+x'],
		['', '/v1.2/x', 'call-1', 'application/octet-stream'],
		['image/png', '/x', 'call-1', 'image/png'],
	])('of type "%s" at %s is saved only with Any File Type', async (type, path, name, mime_type) => {
		for (const anyFileType of [false, true]) {
			link(`${STORAGE}${path}`);
			const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
			nock(STORAGE).get(path).reply(200, SOUND, headers);
			const result = await run({ ...FILE, options: { anyFileType } });
			const { error } = result.data.resultData;
			if (anyFileType) {
				expect(output(result, 'Node')[0]?.json).toMatchObject({ file_name: name, mime_type });
			} else expect(error?.message).toMatch(/, which isn't known to be a recording$/);
		}
	});

	const SOUND_HEADERS = { 'content-type': 'audio/wav' };
	test.each([
		['says', { ...SOUND_HEADERS, 'content-length': '2000001' }, 10],
		["doesn't say", SOUND_HEADERS, 2_000_001],
	])('larger than Maximum Size is not saved if the storage %s its size', async (...one) => {
		const [, headers, length] = one;
		link();
		storage().reply(200, Buffer.alloc(length), headers);
		expect(await errorOf({ ...FILE, options: { maximumSize: 2 } })).toMatchObject({
			message: 'The recording is larger than 2 MB',
			description: expect.stringMatching(
				/To save it, raise 'Maximum Size \(MB\)' in 'Options'\. Or set 'Recording As'/,
			),
		});
	});

	test('of exactly Maximum Size is saved', async () => {
		link();
		storage().reply(200, Buffer.alloc(2_000_000), SOUND_HEADERS);
		const [item] = output(await run({ ...FILE, options: { maximumSize: 2 } }), 'Node');
		expect((await bytesOf(item?.binary?.data))?.length).toBe(2_000_000);
	});

	const INTERNAL = [
		...['http://localhost/x', 'http://127.0.0.1/x', 'http://0x7f.1/x', 'http://10.0.0.5/x'],
		...['http://192.168.1.1/x', 'http://172.20.0.1/x', 'http://169.254.169.254/latest/meta-data'],
		...['http://100.64.0.1/x', 'http://[::1]/x', 'http://[fd00::1]/x', 'http://minio/x'],
		...['http://[::ffff:10.0.0.5]/x', 'http://storage.internal/x', 'http://storage.local./x'],
	];
	test.each(INTERNAL)('at %s is not requested', async (url) => {
		link(url);
		expect(await errorOf(FILE)).toMatchObject({
			message: 'The link to the recording leads into an internal network',
		});
	});

	test('is not requested after a redirect into an internal network', async () => {
		link();
		storage().reply(302, '', { location: 'http://169.254.169.254/latest/meta-data' });
		expect(await errorOf(FILE)).toMatchObject({
			message: 'The link to the recording leads into an internal network',
		});
	});

	test('is read after up to five redirects, also relative ones', async () => {
		const pathOf = (step: number) => `/step-${step}`;
		const redirecting = (steps: number) => {
			link(`${STORAGE}${pathOf(0)}`);
			for (let step = 0; step < steps; step++)
				nock(STORAGE)
					.get(pathOf(step))
					.reply(307, '', { location: pathOf(step + 1) });
		};
		redirecting(5);
		nock(STORAGE).get(pathOf(5)).reply(200, SOUND, SOUND_HEADERS);
		expect(await records(FILE)).toMatchObject([{ file_name: 'call-1.wav' }]);
		redirecting(6);
		expect(await errorOf(FILE)).toMatchObject({
			message: 'The link to the recording was redirected too often',
		});
	});

	const AGAIN = 'Run this item again.';
	const returned = (what: string) =>
		`The storage returned a file of type ${what}, which isn't known to be a recording`;
	const statusOf = (status: number) =>
		`The storage of the recording returned HTTP status ${status}`;

	test.each<[status: number, body: string, message: string, more: string, type?: string]>([
		[403, '<Key>s3cr3t</Key>', statusOf(403), 'valid for 15 minutes'],
		[404, '<Key>s3cr3t</Key>', statusOf(404), AGAIN],
		[300, '<Key>s3cr3t</Key>', statusOf(300), AGAIN],
		[202, 'RIFF\0\0', statusOf(202), AGAIN],
		[204, '', statusOf(204), AGAIN],
		[200, '', 'The storage returned an empty file', AGAIN],
		...[
			['application/xhtml+xml', 'Application/XHTML+xml; charset=utf-8'],
			['application/ld+json', ' application/ld+json ; charset=utf-8'],
			['text/html'],
			['application/json'],
			['application/xml'],
			['image/svg+xml'],
			['image/png'],
		].map(([type = '', written = type]): [number, string, string, string, string] => [
			200,
			'<Key>s3cr3t</Key>',
			returned(type),
			"To save it anyway, turn on 'Any File Type'",
			written,
		]),
	])('is not %i %j', async (status, body, message, more, type = 'audio/wav') => {
		link();
		storage().reply(status, body, { 'content-type': type });
		const stopped = await errorOf(FILE);
		expect(stopped).toMatchObject({ message, description: expect.stringContaining(more) });
		expect(JSON.stringify(stopped)).not.toContain('s3cr3t');
	});

	test.each([
		[408, 1, statusOf(408)],
		[425, 1, statusOf(425)],
		[429, 4, statusOf(429)],
		[500, 4, statusOf(500)],
		[503, 4, statusOf(503)],
	])('a storage that is busy with %i is asked %i times', async (status, times, message) => {
		link();
		storage().times(times).reply(status, '');
		expect(await errorOf(FILE)).toMatchObject({ message: expect.stringContaining(message) });
		expect(nock.isDone()).toBe(true);
	});

	test('is not there if the storage has no valid certificate, and a model is told to try again', async () => {
		const expired = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });
		for (let times = 0; times < 2; times++) {
			link();
			storage().replyWithError(expired);
		}
		expect(await errorOf(FILE)).toMatchObject({
			message: "The recording couldn't be downloaded completely",
			description:
				"No file was saved. Run this item again. The node gets a new link each time, which is valid for 15 minutes. If this doesn't help, set 'Recording As' to 'Link', and open the link in a browser. The network reported: CERT_HAS_EXPIRED.",
		});
		const parameters = { operation: 'getRecording', callId: 'call-1', ...FILE };
		const node = harness.node('getCall', { parameters });
		expect(await engineTool(node)()).toMatchObject({
			outcome: 'not_read',
			what_happened: "The recording couldn't be downloaded completely (CERT_HAS_EXPIRED).",
			next_step: expect.stringContaining('A new link is used each time.'),
		});
	});

	test.each([null, '', 'not a link', 'file:///etc/passwd'])('an invalid link: %p', async (url) => {
		link(url);
		expect(await errorOf(FILE)).toMatchObject({
			message: 'The service returned an invalid recording_url',
			description: expect.stringContaining("set 'Recording As' to 'Link'"),
		});
	});

	test('is not saved if n8n blocks the request, and n8n says why', async () => {
		link();
		storage().replyWithError(Object.assign(new Error('no'), { name: 'SsrfBlockedIpError' }));
		expect(await errorOf(FILE)).toMatchObject({
			message: "The recording couldn't be downloaded completely",
			description: expect.stringContaining('n8n said: no.'),
		});
	});

	test('needs the name of a field before any request', async () => {
		const outputField = '={{ "" }}';
		expect(await errorOf({ ...FILE, outputField })).toMatchObject({
			message: "'Put Output File in Field' is empty",
		});
	});
});
