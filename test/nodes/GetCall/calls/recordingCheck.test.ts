import fc from 'fast-check';
import {
	BEGINNING_BYTES,
	notARecordingReason,
	isComplete,
} from '../../../../nodes/GetCall/calls/recordingCheck';

const faultOf = (beginning: Uint8Array, headers = {}, status = 200) =>
	notARecordingReason(status, headers, beginning.subarray(0, BEGINNING_BYTES))?.message;

const types = fc.constantFrom(
	...['audio/wav', 'application/octet-stream', 'binary/octet-stream', 'text/plain', '', 'nonsense'],
);
const space = fc.constantFrom('', ' ', '\n', '\r\n\t', '\ufeff');

test('a text is not a recording, whatever its type', () => {
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
])('a body that begins with %s is not a recording in any encoding', (begins) => {
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
	['SPHERE', Buffer.from('NIST_1A\n   1024\nsample_rate -i 8000\n')],
	['WAV of more than 4 GB', Buffer.from('RF64\xff\xff\xff\xffWAVEds64', 'latin1')],
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
])('%s is a recording, also if the storage has another type', (_format, body) => {
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

const latin = (text: string) => Buffer.from(text, 'latin1');

test.each<[string, string, Uint8Array]>([
	['gzip', 'a compressed file', latin('\x1f\x8b\x08\0\0\0\0\0\0\x03')],
	['bzip2', 'a compressed file', latin('BZh91AY&SY\x01')],
	['xz', 'a compressed file', latin('\xfd7zXZ\0')],
	['zstd', 'a compressed file', latin('\x28\xb5\x2f\xfd\0')],
	['ZIP', 'a ZIP file', latin('PK\x03\x04\x14\0')],
	['an empty ZIP', 'a ZIP file', latin('PK\x05\x06\0\0')],
	['7-Zip', 'a compressed file', latin("7z\xbc\xaf'\x1c\0")],
	['RAR', 'a compressed file', latin('Rar!\x1a\x07\0')],
	['PDF', 'a PDF', latin('%PDF-1.7\n%\xe2\xe3')],
	['old Office', 'an Office document', latin('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')],
	['PNG', 'an image', latin('\x89PNG\r\n\x1a\n')],
	['JPEG', 'an image', latin('\xff\xd8\xff\xe0\0\x10JFIF\0')],
	['JPEG of a camera', 'an image', latin('\xff\xd8\xff\xe1\0\x10Exif\0')],
	['GIF', 'an image', latin('GIF89a\x01\0')],
	['WebP', 'an image', latin('RIFF\x10\0\0\0WEBPVP8 ')],
	['TIFF', 'an image', latin('II*\0\x08\0\0\0')],
	['BMP', 'an image', latin('BM\x10\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0')],
	['AVIF', 'an image', latin('\0\0\0\x20ftypavif')],
	['HEIC', 'an image', latin('\0\0\0\x20ftypheic')],
	['text in UTF-16', 'text', Buffer.from('\ufeffAccess denied', 'utf16le')],
	['Hindi in UTF-16', 'text', Buffer.from('\ufeffपहुँच अस्वीकृत', 'utf16le')],
	['text in UTF-16, the other way round', 'text', Buffer.from('\ufeffGone', 'utf16le').swap16()],
	['text in UTF-16 without a mark', 'text', Buffer.from('Access denied', 'utf16le')],
	['Latin text', 'text', latin('Accès refusé: le lien a expiré')],
])('%s is not a recording, also with an audio type: %s', (_format, kind, body) => {
	for (const type of ['audio/wav', 'audio/mpeg', 'application/octet-stream', 'nonsense', '']) {
		expect(faultOf(body, { 'content-type': type })).toContain(`returned ${kind} instead`);
		expect(faultOf(Buffer.concat([body, body]), { 'content-type': type })).toBeDefined();
	}
});

/** Samples of speech, from quiet to loud. */
const spoken = fc
	.tuple(
		fc.integer({ min: 1, max: 32_000 }),
		fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 400, maxLength: 1_200 }),
	)
	.map(([loudness, samples]) => samples.map((sample) => Math.round(sample * loudness)));

/** G.711 (ITU-T), as telephone lines have it. */
function muLaw(sample: number): number {
	const magnitude = Math.min(Math.abs(sample), 32_635) + 132;
	const exponent = Math.floor(Math.log2(magnitude)) - 7;
	const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
	return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}

const RAW: Array<[string, (samples: number[]) => Uint8Array]> = [
	['16 bits', (samples) => new Uint8Array(Int16Array.from(samples).buffer)],
	[
		'16 bits, the other way round',
		(samples) => Buffer.from(Int16Array.from(samples).buffer).swap16(),
	],
	['8 bits', (samples) => Uint8Array.from(samples, (sample) => 128 + (sample >> 8))],
	['µ-law', (samples) => Uint8Array.from(samples, muLaw)],
];

test('silence with two quiet samples that look like letters can be a recording', () => {
	const bytes = Buffer.alloc(1_024);
	bytes.writeInt16BE(23_305, 22);
	bytes.writeInt16BE(23_296, 32);
	expect(faultOf(bytes, { 'content-type': 'audio/wav' })).toBeUndefined();
});

test.each(RAW)('raw audio in %s can be a recording without a known format', (_format, bytesOf) => {
	fc.assert(
		fc.property(spoken, types, (samples, type) => {
			expect(faultOf(bytesOf(samples), { 'content-type': type })).toBeUndefined();
		}),
		{ numRuns: 1_000 },
	);
});

test.each([201, 202, 203, 204, 205, 206, 226])('%i is not a complete file', (status) => {
	expect(faultOf(wav(1), {}, status)).toContain(`HTTP status ${status}`);
});

test('a file is complete only if it has the length in the header', () => {
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
