import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import nock from 'nock';
import { BinaryDataService } from 'n8n-core';
import { Container } from '@n8n/di';
import type { IBinaryData } from 'n8n-workflow';
import { TIME_LIMITS } from '../../../nodes/shared/n8n/http/transport';
import { holdTimeouts, output, service, startNode, stoppedResult } from '../../engine';
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
/** The storage of another provider, which must not get the token. */
const storage = () =>
	nock(STORAGE, { badheaders: ['api-token'] })
		.get(PATH)
		.query({ 'X-Signature': 's3cr3t' });

const bytesOf = async (file: IBinaryData | undefined) =>
	file && (await Container.get(BinaryDataService).getAsBuffer(file));

describe('the link', () => {
	test('has its expiry time', async () => {
		link();
		const before = Date.now();
		const [recording] = await records();
		expect(recording).toEqual({
			call_id: 'call-1',
			recording_url: `${STORAGE}${PATH}?X-Signature=s3cr3t`,
			expires_in_seconds: 900,
			expires_at: expect.any(String),
		});
		const expires =
			typeof recording?.expires_at === 'string' ? Date.parse(recording.expires_at) : 0;
		expect(expires).toBeGreaterThanOrEqual(before + 900_000);
		expect(expires).toBeLessThanOrEqual(Date.now() + 900_000);
	});

	test.each([
		['recording_not_available', 'This call has no recording'],
		['call_not_found', "The service doesn't know this call"],
	])('%s', async (error, message) => {
		service().get('/v1/call/call-1/recording').reply(404, { success: false, error });
		expect(await errorOf()).toMatchObject({ message });
	});
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
		storage().reply(200, () => {
			written = 0;
			return drip;
		});
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
		const execution = startNode(harness.credentials, harness.node('getCall', { parameters }), [
			{ json: {} },
		]);
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
			file_complete: true,
		});
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
		expect(item?.json.file_complete).toBeNull();
	});

	test.each<[type: string, path: string, name: string, mimeType: string]>([
		['audio/wav; rate=8000', '/x', 'call-1.wav', 'audio/wav'],
		['audio/mpeg', '/x.ogg', 'call-1.mp3', 'audio/mpeg'],
		['audio/new-thing', '/x', 'call-1', 'audio/new-thing'],
		['application/octet-stream', '/a/b/c%20d.ogg', 'call-1.ogg', 'audio/ogg'],
		['text/plain', '/x.wav', 'call-1.wav', 'audio/wav'],
		['nonsense', '/x', 'call-1', 'application/octet-stream'],
		['binary/octet-stream', '/x', 'call-1', 'application/octet-stream'],
		['', '/x.mp3', 'call-1.mp3', 'audio/mpeg'],
	])('of type "%s" at %s is named %s, with the type %s', async (type, path, name, mimeType) => {
		link(`${STORAGE}${path}`);
		nock(STORAGE)
			.get(path)
			.reply(200, SOUND, type === '' ? {} : { 'content-type': type });
		expect(await records(FILE)).toMatchObject([{ file_name: name, mime_type: mimeType }]);
	});

	test('is requested again if the storage fails', async () => {
		link();
		storage().reply(503, 'SlowDown');
		storage().reply(200, SOUND, { 'content-type': 'audio/wav' });
		expect(await records(FILE)).toMatchObject([{ mime_type: 'audio/wav' }]);
	});

	test.each([
		[403, 'RequestHasExpired', 'The link to the recording has expired or was rejected'],
		[
			400,
			'AuthorizationQueryParametersError',
			'The link to the recording has expired or was rejected',
		],
		[404, 'NoSuchKey', 'The recording is no longer in storage'],
		[410, 'Gone', 'The recording is no longer in storage'],
		// Doesn't mean an expired link.
		...[300, 405, 406, 416].map<[number, string, string]>((status) => [
			status,
			'Elsewhere',
			`The link to the recording returned HTTP status ${status} instead of a recording, so no file was saved`,
		]),
	])('rejected with %i', async (status, code, message) => {
		link();
		storage().reply(status, `<Error><Code>${code}</Code><Key>s3cr3t</Key></Error>`);
		const stopped = await errorOf(FILE);
		expect(stopped).toMatchObject({ message, description: expect.stringContaining(code) });
		expect(JSON.stringify(stopped)).not.toContain('s3cr3t');
	});

	test.each([
		[200, '<html/>', 'Application/XHTML+xml; charset=utf-8', 'a web page'],
		[200, '{}', 'application/problem+json', 'JSON'],
		[200, '<Error>s3cr3t</Error>', 'application/xml', 'XML'],
		[200, '\u0089PNG', 'image/png', 'an image'],
		[200, '', 'audio/wav', 'an empty file'],
		[202, 'RIFF\0\0', 'audio/wav', 'HTTP status 202'],
		[204, '', 'audio/wav', 'HTTP status 204'],
	])('is not %i %j of type %s', async (status, body, type, came) => {
		link();
		storage().reply(status, body, { 'content-type': type });
		const stopped = await errorOf(FILE);
		expect(stopped).toMatchObject({
			message: `The link to the recording returned ${came} instead of a recording, so no file was saved`,
			description: expect.stringContaining('Run this item again.'),
		});
		expect(JSON.stringify(stopped)).not.toContain('s3cr3t');
	});

	test('that may be incomplete has a hint', async () => {
		link();
		storage().reply(200, SOUND, { 'content-type': 'audio/wav' });
		const [task] = (await run(FILE)).data.resultData.runData.Node ?? [];
		expect(task?.hints).toEqual([
			{
				message:
					'1 recording may be incomplete, because the storage didn\'t send the file size. The output has "file_complete": null.',
			},
		]);
	});

	test.each([408, 425, 429, 503])('from a storage that is busy with %i', async (status) => {
		link();
		storage().times(4).optionally().reply(status, '');
		expect(await errorOf(FILE)).toMatchObject({
			message: `The storage of the recording returned HTTP status ${status}`,
			description: expect.stringContaining('gets a new link each time'),
		});
	});

	test.each([
		undefined,
		null,
		'',
		'not a link',
		'file:///etc/passwd',
		'data:audio/wav;base64,AA==',
	])('an invalid link: %p', async (url) => {
		link(url ?? null);
		expect(await errorOf(FILE)).toMatchObject({
			message:
				"The service returned an invalid recording_url, so the recording can't be downloaded",
		});
	});

	test('needs the name of a field before any request', async () => {
		const outputField = '={{ "" }}';
		expect(await errorOf({ ...FILE, outputField })).toMatchObject({
			message: "'Put Output File in Field' is empty",
		});
	});
});
