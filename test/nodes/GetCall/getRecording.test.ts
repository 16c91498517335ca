import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import nock from 'nock';
import { BinaryDataService } from 'n8n-core';
import { Container } from '@n8n/di';
import type { IBinaryData } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { TIME_LIMITS } from '../../../nodes/host/http/transport';
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

const LINK = { operation: 'getRecording', callId: 'call-1' };
const FILE = { ...LINK, recordingAs: 'file' };
const harness = nodeHarness('getCall', LINK);
const { records, errorOf, run } = harness;
const STORAGE = 'https://storage.example.com';
const PATH = '/recordings/call-1';
const SOUND = Buffer.from('RIFF....WAVEfmt ');
const WAV = { 'content-type': 'audio/wav' };

function link(recording_url: unknown = `${STORAGE}${PATH}?X-Signature=s3cr3t`) {
	const data = { call_id: 'call-1', recording_url, expires_in_seconds: 900 };
	service().get('/v1/call/call-1/recording').reply(200, { success: true, data });
}
/** The storage of another provider, which must not get the token. It sends what it compresses without its size. */
const storage = (path = PATH) =>
	nock(STORAGE, { badheaders: ['api-token'], reqheaders: { 'accept-encoding': 'identity' } })
		.get(path)
		.query(path === PATH ? { 'X-Signature': 's3cr3t' } : {});
const bytesOf = async (file: IBinaryData | undefined) =>
	file && (await Container.get(BinaryDataService).getAsBuffer(file));
const node = () => harness.node('getCall', { parameters: FILE });

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

describe('a file', () => {
	test('is requested without the token, and is named after its call', async () => {
		link();
		storage().reply(200, SOUND, { ...WAV, 'content-length': String(SOUND.length) });
		const result = await run({ ...FILE, outputField: 'sound' });
		const [{ json, binary: { sound } = {} } = {}] = output(result, 'Node');
		expect(json).toEqual({
			call_id: 'call-1',
			file_name: 'call-1.wav',
			mime_type: 'audio/wav',
			file_size: sound?.fileSize,
		});
		expect(sound).toMatchObject({ fileExtension: 'wav', fileType: 'audio' });
		expect(await bytesOf(sound)).toEqual(SOUND);
		expect(hintsOf(result)).toEqual([]);
	});

	test('is decompressed if the storage compresses it', async () => {
		link();
		storage().reply(200, gzipSync(SOUND), { ...WAV, 'content-encoding': 'gzip' });
		const [item] = output(await run(FILE), 'Node');
		expect(await bytesOf(item?.binary?.data)).toEqual(SOUND);
	});

	test.each<[type: string, path: string, name: string, mimeType: string, sent?: string]>([
		['audio/wav; rate=8000', '/x', 'call-1.wav', 'audio/wav'],
		['audio/new-thing', '/x', 'call-1', 'audio/new-thing'],
		['application/octet-stream', '/a/b/c%20d.ogg', 'call-1.ogg', 'audio/ogg'],
		['text/plain', '/x.wav', 'call-1.wav', 'audio/wav'],
		['audio/wav 8000', '/x.mp3', 'call-1.mp3', 'audio/mpeg'],
		['binary/octet-stream', '/x.mp4', 'call-1.mp4', 'video/mp4'],
		['', '/x.mp3', 'call-1.mp3', 'audio/mpeg'],
		['', '/x.mp3', 'call-1.ogg', 'audio/ogg', 'attachment; filename="a b.ogg"'],
		['text/plain', '/x', 'call-1.wav', 'audio/wav', "filename*=UTF-8''a.wav"],
	])(
		'of type "%s" at %s is named %s, with the type %s',
		async (type, path, name, mime_type, sent = '') => {
			link(`${STORAGE}${path}`);
			storage(path).reply(200, SOUND, {
				...(type !== '' && { 'content-type': type }),
				...(sent !== '' && { 'content-disposition': sent }),
			});
			expect(await records(FILE)).toMatchObject([{ file_name: name, mime_type }]);
		},
	);

	test.each([
		['application/octet-stream+x', '/x', 'application/octet-stream+x'],
		['', '/v1.2/x', 'application/octet-stream'],
	])('of type "%s" at %s is saved only with Any File Type', async (type, path, mime_type) => {
		for (let times = 1; times <= 2; times++) {
			link(`${STORAGE}${path}`);
			storage(path).reply(200, SOUND, type === '' ? {} : { 'content-type': type });
		}
		expect((await errorOf(FILE)).message).toMatch(/, which isn't known to be a recording$/);
		const parameters = { ...FILE, options: { anyFileType: true } };
		expect(await records(parameters)).toMatchObject([{ file_name: 'call-1', mime_type }]);
	});

	test.each([
		['2 MB', WAV, 2_000_000],
		['more, if the storage says so', { ...WAV, 'content-length': '2000001' }, 10],
		["more, if the storage doesn't say so", WAV, 2_000_001],
	])('of the Maximum Size of 2 MB is saved, larger ones not: %s', async (what, headers, length) => {
		link();
		storage().reply(200, Buffer.alloc(length), headers);
		const parameters = { ...FILE, options: { maximumSize: 2 } };
		if (what === '2 MB') {
			const [item] = output(await run(parameters), 'Node');
			expect(await bytesOf(item?.binary?.data)).toHaveLength(length);
		} else
			expect(await errorOf(parameters)).toMatchObject({
				message: 'The recording is larger than 2 MB',
				description: expect.stringMatching(
					/To save it, raise 'Maximum Size \(MB\)' in 'Options'\. Or set 'Recording As'/,
				),
			});
	});

	test('needs the name of a field before any request', async () => {
		expect(await errorOf({ ...FILE, outputField: '={{ "" }}' })).toMatchObject({
			message: "'Put Output File in Field' is empty",
		});
	});

	test('that never ends is stopped with an error', async () => {
		const pass = holdTimeouts();
		const drip = new PassThrough();
		let written = 0;
		const dripping = setInterval(() => {
			drip.write('x');
			if (++written === 20) pass(TIME_LIMITS.downloadMs);
		}, 5);
		link();
		storage().reply(200, () => drip, WAV);
		const { message } = await errorOf(FILE);
		clearInterval(dripping);
		jest.restoreAllMocks();
		expect(message).toBe("The recording couldn't be downloaded completely");
	});

	test('is no longer downloaded when the execution is stopped', async () => {
		const endless = new PassThrough();
		link();
		storage().reply(200, () => {
			endless.write('RIFF');
			setTimeout(() => execution.cancel(), 20);
			return endless;
		});
		const execution = startNode(node(), [{ json: {} }]);
		expect(await stoppedResult(execution)).toMatchObject({ executionStatus: 'error' });
		endless.destroy();
	});
});

describe('the link', () => {
	const INTERNAL = 'The link to the recording leads into an internal network';
	const INVALID = 'The service returned an invalid recording_url';
	const internal = [
		...['http://localhost/x', 'http://127.0.0.1/x', 'http://0x7f.1/x', 'http://10.0.0.5/x'],
		...['http://192.168.1.1/x', 'http://172.20.0.1/x', 'http://169.254.169.254/latest/meta-data'],
		...['http://100.64.0.1/x', 'http://[::1]/x', 'http://[fd00::1]/x', 'http://minio/x'],
		...['http://[::ffff:10.0.0.5]/x', 'http://storage.internal/x', 'http://storage.local./x'],
	];

	test.each<[unknown, string, string]>([
		...internal.map((url): [string, string, string] => [url, INTERNAL, 'public links']),
		...[null, '', 'not a link', 'file:///etc/passwd'].map((url): [unknown, string, string] => [
			url,
			INVALID,
			"set 'Recording As' to 'Link'",
		]),
	])('%p is not requested: %s', async (url, message, advice) => {
		link(url);
		expect(await errorOf(FILE)).toMatchObject({
			message,
			description: expect.stringContaining(advice),
		});
	});

	test('is not followed into an internal network', async () => {
		link();
		storage().reply(302, '', { location: 'http://169.254.169.254/latest/meta-data' });
		expect((await errorOf(FILE)).message).toBe(INTERNAL);
	});

	test('is followed up to five times, also if relative', async () => {
		const redirecting = (times: number) => {
			link(`${STORAGE}/step-0`);
			for (let step = 0; step < times; step++)
				storage(`/step-${step}`).reply(307, '', { location: `/step-${step + 1}` });
		};
		redirecting(5);
		storage('/step-5').reply(200, SOUND, WAV);
		expect(await records(FILE)).toMatchObject([{ file_name: 'call-1.wav' }]);
		redirecting(6);
		expect((await errorOf(FILE)).message).toBe(
			'The link to the recording was redirected too often',
		);
	});
});

describe('a storage that sends no recording', () => {
	const statusOf = (status: number) =>
		`The storage of the recording returned HTTP status ${status}`;
	const AGAIN = 'Run this item again.';
	const types = [
		['application/xhtml+xml', 'Application/XHTML+xml; charset=utf-8'],
		['text/html', 'text/html'],
	];

	test.each<[status: number, body: string, message: string, more: string, type?: string]>([
		[403, '<Key>s3cr3t</Key>', statusOf(403), 'valid for 15 minutes'],
		[404, '<Key>s3cr3t</Key>', statusOf(404), AGAIN],
		[202, 'RIFF\0\0', statusOf(202), AGAIN],
		[204, '', statusOf(204), AGAIN],
		[200, '', 'The storage returned an empty file', AGAIN],
		...types.map(([type = '', written]): [number, string, string, string, string?] => [
			200,
			'<Key>s3cr3t</Key>',
			`The storage returned a file of type ${type}, which isn't known to be a recording`,
			"To save it anyway, turn on 'Any File Type'",
			written,
		]),
	])(
		'but %i %j stops the node, without its text: %s',
		async (status, body, message, more, type = 'audio/wav') => {
			link();
			storage().reply(status, body, { 'content-type': type });
			const stopped = await errorOf(FILE);
			expect(stopped).toMatchObject({ message, description: expect.stringContaining(more) });
			expect(JSON.stringify(stopped)).not.toContain('s3cr3t');
		},
	);

	test.each([
		[408, 1],
		[503, 4],
	])('but %i is asked %i times', async (status, times) => {
		link();
		storage().times(times).reply(status, '');
		expect((await errorOf(FILE)).message).toBe(statusOf(status));
		expect(nock.isDone()).toBe(true);
	});

	const NOT_COMPLETE = "The recording couldn't be downloaded completely";
	const ADVICE =
		"No file was saved. Run this item again. The node gets a new link each time, which is valid for 15 minutes. If this doesn't help, set 'Recording As' to 'Link', and open the link in a browser.";

	test.each([
		[
			'has no valid certificate',
			{ code: 'CERT_HAS_EXPIRED' },
			`${ADVICE} The network reported: CERT_HAS_EXPIRED.`,
		],
		['n8n blocks', { name: 'SsrfBlockedIpError' }, `${ADVICE} n8n said: no.`],
	])('because it %s stops the node', async (_why, fault, description) => {
		link();
		storage().replyWithError(Object.assign(new Error('no'), fault));
		expect(await errorOf(FILE)).toMatchObject({ message: NOT_COMPLETE, description });
	});

	test('makes a model try again', async () => {
		link();
		storage().replyWithError(Object.assign(new Error('no'), { code: 'CERT_HAS_EXPIRED' }));
		expect(await engineTool(node())()).toMatchObject({
			outcome: 'not_read',
			what_happened: `${NOT_COMPLETE} (CERT_HAS_EXPIRED).`,
			next_step: expect.stringContaining('A new link is used each time.'),
		});
	});
});
