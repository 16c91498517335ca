import { describeFile, downloadRefused } from '../../../../nodes/GetCall/calls/recordingFile';

const URL = 'https://storage.example.com/recordings/call-1?X-Signature=secret';
const ID = '6f1c2a34';

describe('name and kind of the file', () => {
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

describe('a refused download', () => {
	test.each([
		[403, 'The link to the recording has expired or was refused', 'refused'],
		[400, 'The link to the recording has expired or was refused', 'refused'],
		[404, 'The recording is no longer in storage', 'refused'],
		[410, 'The recording is no longer in storage', 'refused'],
		[503, 'The recording’s storage stumbled', 'unknown'],
	])('status %i', (status, message, outcome) => {
		expect(downloadRefused(status, '')).toMatchObject({ message, outcome, status });
	});

	test('keeps the short code and nothing of the signed address', () => {
		const text = '<Error><Code>RequestHasExpired</Code><StringToSign>secret</StringToSign></Error>';
		const { originalMessage } = downloadRefused(403, text);
		expect(originalMessage).toBe('HTTP status 403 · RequestHasExpired');
	});
});
