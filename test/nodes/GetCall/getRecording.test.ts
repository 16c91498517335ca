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
			file_name: 'call-1',
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
		['audio/wav; rate=8000', '/x', 'call-1', 'audio/wav'],
		['audio/new-thing', '/x', 'call-1', 'audio/new-thing'],
		['application/octet-stream', '/a/b/c%20d.ogg', 'call-1.ogg', 'audio/ogg'],
		['text/plain', '/x.wav', 'call-1.wav', 'audio/wav'],
		['audio/wav 8000', '/x.mp3', 'call-1.mp3', 'audio/wav'],
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

test.each([null, '', 'not a link', 'file:///etc/passwd'])(
	'the link %p is not requested',
	async (url) => {
		link(url);
		expect(await errorOf(FILE)).toMatchObject({
			message: 'The service returned an invalid recording_url',
			description: expect.stringContaining("set 'Recording As' to 'Link'"),
		});
	},
);

describe('a storage that sends no recording', () => {
	const INCOMPLETE = "The recording couldn't be downloaded completely";
	const ADVICE =
		"No file was saved. Try again, which uses a new link, or set 'Recording As' to 'Link' and open the link in a browser.";
	const statusOf = (status: number, type: string) =>
		`The storage returned HTTP status ${status}, type "${type}"`;

	test.each<[status: number, body: string, message: string, type: string]>([
		[403, '<Key>s3cr3t</Key>', statusOf(403, 'audio/wav'), 'audio/wav'],
		[503, '', statusOf(503, 'audio/wav'), 'audio/wav'],
		[202, 'RIFF\0\0', statusOf(202, 'audio/wav'), 'audio/wav'],
		[204, '', statusOf(204, 'audio/wav'), 'audio/wav'],
		[200, '', INCOMPLETE, 'audio/wav'],
		[
			200,
			'<Key>s3cr3t</Key>',
			statusOf(200, 'application/xhtml+xml'),
			'Application/XHTML+xml; x=y',
		],
		[200, '{ "Key": "s3cr3t" }', statusOf(200, 'application/json'), 'application/json'],
		[200, '<Key>s3cr3t</Key>', statusOf(200, 'text/html'), 'text/html'],
	])('but %i %j stops the node, without its text: %s', async (...one) => {
		const [status, body, message, type] = one;
		link();
		storage().reply(status, body, { 'content-type': type });
		const stopped = await errorOf(FILE);
		expect(stopped).toMatchObject({ message, description: ADVICE });
		expect(JSON.stringify(stopped)).not.toContain('s3cr3t');
	});

	test.each([
		['has no valid certificate', { code: 'CERT_HAS_EXPIRED' }, 'CERT_HAS_EXPIRED'],
		['n8n blocks', { name: 'SsrfBlockedIpError' }, 'no'],
	])('because it %s stops the node', async (_why, fault, reported) => {
		link();
		storage().replyWithError(Object.assign(new Error('no'), fault));
		const { message, description } = await errorOf(FILE);
		expect(message).toBe(INCOMPLETE);
		expect(description).toContain(ADVICE);
		expect(description).toMatch(new RegExp(`: ${reported}\\.$`));
	});

	test('makes a model try again', async () => {
		link();
		storage().replyWithError(Object.assign(new Error('no'), { code: 'CERT_HAS_EXPIRED' }));
		expect(await engineTool(node())()).toMatchObject({
			outcome: 'not_read',
			what_happened: `${INCOMPLETE} (CERT_HAS_EXPIRED).`,
			next_step: expect.stringContaining('Try again, which uses a new link'),
		});
	});
});
