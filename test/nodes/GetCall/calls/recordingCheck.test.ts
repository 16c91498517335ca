import fc from 'fast-check';
import {
	BEGINNING_BYTES,
	faultOfRecording,
	isComplete,
} from '../../../../nodes/GetCall/calls/recordingCheck';

const faultOf = (beginning: Uint8Array, headers = {}, status = 200) =>
	faultOfRecording(status, headers, beginning.subarray(0, BEGINNING_BYTES))?.message;

const types = fc.constantFrom(
	...['audio/wav', 'application/octet-stream', 'binary/octet-stream', 'text/plain', '', 'nonsense'],
);
const space = fc.constantFrom('', ' ', '\n', '\r\n\t', '\ufeff');

test('a body that is text is not a recording, whatever its type', () => {
	const texts = fc
		.tuple(space, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3_000 }))
		.map(([before, text]) => before + text)
		.filter((text) => !/\p{Cc}/u.test(text));
	fc.assert(
		fc.property(texts, types, (text, type) => {
			expect(faultOf(Buffer.from(text), { 'content-type': type })).toContain(
				'so no file was saved',
			);
		}),
		{ numRuns: 500 },
	);
});

test.each([
	...['<!doctype html>', '<html lang=en>', '<!-- x -->', '<Error>', '<?xml version="1.0"?>'],
	...['{"', '{ }', '[{'],
])('a body that begins with %s is not a recording, whatever follows, in any encoding', (begins) => {
	const encoding = fc.constantFrom('utf8' as const, 'latin1' as const, 'utf16le' as const);
	const rest = fc.uint8Array({ maxLength: 2_000 });
	fc.assert(
		fc.property(space, encoding, rest, types, (before, as, bytes, type) => {
			const body = Buffer.concat([
				Buffer.from(before.replace('\ufeff', as === 'latin1' ? '' : '\ufeff') + begins, as),
				bytes,
			]);
			expect(faultOf(body, { 'content-type': type })).toMatch(/a web page|XML|JSON/);
		}),
	);
});

const wav = (size: number) => {
	const header = Buffer.alloc(44);
	header.write('RIFF\0\0\0\0WAVEfmt ');
	header.writeUInt32LE(size, 4);
	return header;
};

test.each<[string, Uint8Array]>([
	['WAV', wav(8_000)],
	['WAV with a size of letters', Buffer.concat([Buffer.from('RIFFabcdWAVEfmt '), wav(1)])],
	['MP3', Buffer.from([0xff, 0xfb, 0x90, 0x64])],
	['MP3 with a title', Buffer.from('ID3\u0004\0\0')],
	['Ogg', Buffer.from('OggS\0\u0002')],
	['FLAC', Buffer.from('fLaC\0\0')],
	['MP4', Buffer.from('\0\0\0\u0020ftypM4A ')],
	['AMR', Buffer.from('#!AMR\n<')],
	['raw sound that begins like a page', Buffer.from('<\0{\0')],
	['silence in 8 bits', Buffer.alloc(2_000, 0x80)],
	['silence in µ-law', Buffer.alloc(2_000, 0xff)],
	['silence in 16 bits', Buffer.alloc(2_000)],
])('%s can be a recording', (_format, body) => {
	fc.assert(
		fc.property(types, (type) => expect(faultOf(body, { 'content-type': type })).toBeUndefined()),
	);
});

test.each<[string, Uint8Array]>([
	['WAV', wav(8_000)],
	['MP3', Buffer.from([0xff, 0xfb, 0x90, 0x64])],
	['MP3 with a title', Buffer.from('ID3\u0004\0\0')],
	['Ogg', Buffer.from('OggS\0\u0002')],
	['MP4', Buffer.from('\0\0\0\u0020ftypM4A ')],
	['WebM', Buffer.from('1a45dfa3', 'hex')],
])('%s is a recording, also where the storage calls it something else', (_format, body) => {
	for (const type of ['text/html', 'Text/HTML; charset=UTF-8', 'application/json', 'image/png']) {
		expect(faultOf(body, { 'content-type': type })).toBeUndefined();
	}
});

test.each<[string, string, string]>([
	['text/plain; charset=iso-8859-1', 'Accès refusé', 'text'],
	['text/plain', 'caf\x92 \xfc', 'text'],
	['audio/mpeg', '<h1>Accès refusé</h1>', 'a web page or XML'],
	['audio/mpeg', '\n <div class="é">', 'a web page or XML'],
	['', '<Fehler>ungültig', 'a web page or XML'],
])('%j with %j in another encoding than UTF-8 is not a recording', (type, text, kind) => {
	const message = faultOf(Buffer.from(text, 'latin1'), { 'content-type': type });
	expect(message).toContain(`returned ${kind} instead`);
});

test.each([201, 202, 203, 204, 205, 206, 226])('%i brings no whole file', (status) => {
	expect(faultOf(wav(1), {}, status)).toContain(`HTTP status ${status}`);
});

test('complete is only what is as long as its length', () => {
	fc.assert(
		fc.property(fc.nat(), fc.nat(), (length, bytes) => {
			const expected = length === bytes ? true : null;
			expect(isComplete({ 'content-length': String(length) }, bytes)).toBe(expected);
		}),
	);
	expect(isComplete({}, 5)).toBeNull();
	expect(isComplete({ 'content-length': '5' }, undefined)).toBeNull();
	expect(isComplete({ 'content-length': '0x5' }, 5)).toBeNull();
	expect(isComplete({ 'content-length': '' }, 0)).toBeNull();
});
