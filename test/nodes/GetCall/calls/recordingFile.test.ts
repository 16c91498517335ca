import fc from 'fast-check';
import { downloadRejected } from '../../../../nodes/GetCall/calls/downloadErrors';
import { describeFile } from '../../../../nodes/GetCall/calls/recordingFile';

const URL = 'https://storage.example.com/recordings/call-1?X-Signature=secret';
const ID = '6f1c2a34';

describe('name and type of the file', () => {
	test.each([
		[{ 'content-type': 'audio/mpeg' }, URL, { fileName: `${ID}.mp3`, mimeType: 'audio/mpeg' }],
		[
			{ 'content-type': 'audio/wav; rate=8000' },
			URL,
			{ fileName: `${ID}.wav`, mimeType: 'audio/wav' },
		],
		[{ 'content-type': 'audio/new-thing' }, URL, { fileName: ID, mimeType: 'audio/new-thing' }],
		[
			{
				'content-type': 'application/octet-stream',
				'content-disposition': 'attachment; filename="call recording.ogg"',
			},
			URL,
			{ fileName: 'call recording.ogg' },
		],
		[
			{
				'content-type': 'audio/ogg',
				'content-disposition':
					"attachment; filename*=UTF-8''Anruf%20M%C3%BCller.ogg; filename=x.ogg",
			},
			URL,
			{ fileName: 'Anruf Müller.ogg', mimeType: 'audio/ogg' },
		],
		[{ 'content-disposition': 'attachment; filename=plain.wav' }, URL, { fileName: 'plain.wav' }],
		[
			{ 'content-disposition': 'attachment; filename="../../etc/x.wav"' },
			URL,
			{ fileName: 'x.wav' },
		],
		[
			{ 'content-disposition': "attachment; filename*=UTF-8''%E0%A4%A" },
			URL,
			{ fileName: ID, mimeType: 'application/octet-stream' },
		],
		[{}, 'https://storage.example.com/a/b/call-1.mp3?x=1', { fileName: 'call-1.mp3' }],
		[{}, URL, { fileName: ID, mimeType: 'application/octet-stream' }],
		[
			{ 'content-type': 'binary/octet-stream' },
			URL,
			{ fileName: ID, mimeType: 'application/octet-stream' },
		],
	])('%p at %s', (headers, url, file) => {
		expect(describeFile(headers, url, ID)).toEqual(file);
	});
});

describe('a name from storage', () => {
	/** Windows opens a device for these, whatever follows the first dot. */
	const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)\s*(\.|$)/i;
	/** A file name without control characters, text directions, unpaired surrogates, and separators of folders. */
	const PLAIN_NAME =
		/^(?!\.)[^\p{Cc}\p{Cs}\\/\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+$/u;
	const parts = fc.constantFrom(
		...['..', '.', '/', '\\', '\0', '\r\n', '\u202e', '\u2066', '\u200f', '\ud800', '\u2028'],
		...['con', 'NUL', 'lpt1', ':', '<', '?', '\u200b', '\ufeff'],
		...['a', 'ü', '😀', ' ', '"', ';', '%2e', '%2f', '%0d%0a', '%00', '%e2%80%ae', '.wav', '.mp3'],
	);
	const names = fc.array(parts, { maxLength: 40 }).map((all) => all.join(''));
	const HEADERS: Array<[string, (name: string) => object]> = [
		['in quotes', (name) => ({ 'content-disposition': `attachment; filename="${name}"` })],
		['without', (name) => ({ 'content-disposition': `attachment; filename=${name}` })],
		['encoded', (name) => ({ 'content-disposition': `filename*=UTF-8''${written(name)}` })],
	];
	const written = (name: string) => encodeURIComponent(name.replace(/\p{Cs}/gu, ''));

	test.each(HEADERS)('%s is a single file name', (_way, headersOf) => {
		fc.assert(
			fc.property(names, (name) => {
				const { fileName } = describeFile({ ...headersOf(name) }, URL, ID);
				expect(fileName).toMatch(PLAIN_NAME);
				expect(fileName).not.toContain('..');
				expect(fileName).not.toMatch(DEVICE);
				expect(fileName).not.toMatch(/[<>:"|?*\u200b\ufeff]/);
				expect(Buffer.byteLength(fileName)).toBeLessThanOrEqual(255);
			}),
			{ numRuns: 500 },
		);
	});

	test('in the path is also a single file name', () => {
		fc.assert(
			fc.property(names, (name) => {
				const url = `https://storage.example.com/${written(name)}?s=1`;
				expect(describeFile({}, url, ID).fileName).toMatch(PLAIN_NAME);
			}),
		);
	});

	test.each([
		['"CON.wav"', '_CON.wav'],
		['"nul"', '_nul'],
		['"com1 .x.wav"', '_com1 .x.wav'],
		['"console.wav"', 'console.wav'],
		['"a.wav:evil.exe"', 'a.wav_evil.exe'],
		['"a<b>|?*.wav"', 'a_b____.wav'],
		['"a\\"b.wav"', '_b.wav'],
		['""', ID],
		['"a\u200b\ufeff.wav"', 'a.wav'],
		['"क्\u200dष.wav"', 'क्\u200dष.wav'],
		['"x.wav"; notfilename="y.wav"', 'x.wav'],
		['z.wav; x="y"', 'z.wav'],
	])('%s is %s', (written, name) => {
		const headers = {
			'content-disposition': `attachment; notfilename="no.wav"; filename=${written}`,
		};
		expect(describeFile(headers, URL, ID).fileName).toBe(name);
	});

	test('does not get two dots if it is cut at a dot', () => {
		const headers = { 'content-disposition': `attachment; filename="${'a.'.repeat(100)}wav"` };
		expect(describeFile(headers, URL, ID).fileName).toBe(`${'a.'.repeat(29)}a.wav`);
	});

	test.each([
		'text/html',
		'text/plain',
		'application/json',
		'application/problem+json',
		'image/png',
	])('sent as %s does not get that type', (type) => {
		const headers = { 'content-type': `${type}; charset=utf-8` };
		expect(describeFile(headers, URL, ID)).toEqual({
			fileName: ID,
			mimeType: 'application/octet-stream',
		});
	});

	test('keeps its extension, however long it is', () => {
		const headers = { 'content-disposition': `attachment; filename="${'é'.repeat(500)}.wav"` };
		expect(describeFile(headers, URL, ID).fileName).toBe(`${'é'.repeat(60)}.wav`);
	});

	test('an invalid type is not used', () => {
		const headers = { 'content-type': 'audio/wav\r\nx: y' };
		expect(describeFile(headers, URL, ID).mimeType).toBe('application/octet-stream');
	});
});

describe('a rejected download', () => {
	test.each([
		[403, 'The link to the recording has expired or was rejected', 'rejected'],
		[400, 'The link to the recording has expired or was rejected', 'rejected'],
		[404, 'The recording is no longer in storage', 'rejected'],
		[410, 'The recording is no longer in storage', 'rejected'],
		[503, 'The storage of the recording returned HTTP status 503', 'unknown'],
	])('status %i', (status, message, outcome) => {
		expect(downloadRejected(status, '')).toMatchObject({ message, outcome, status });
	});

	test.each([300, 304, 405, 406, 416])('status %i does not mean an expired link', (status) => {
		const { message } = downloadRejected(status, '<Code>Elsewhere</Code>');
		expect(message).toBe(
			`The link to the recording returned HTTP status ${status} instead of a recording, so no file was saved`,
		);
	});

	test.each([408, 425, 429])('status %i means that the storage is busy', (status) => {
		expect(downloadRejected(status, '')).toMatchObject({ outcome: 'unknown', status });
	});

	test('keeps the error code and nothing of the presigned URL', () => {
		const text = '<Error><Code>RequestHasExpired</Code><StringToSign>secret</StringToSign></Error>';
		const { originalMessage } = downloadRejected(403, text);
		expect(originalMessage).toBe('HTTP status 403 · RequestHasExpired');
	});
});
