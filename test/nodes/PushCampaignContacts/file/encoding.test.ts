import { encodingOf, headOf } from '../../../../nodes/PushCampaignContacts/file/encoding';

const encodingIn = async (bytes: Uint8Array, known = '') => {
	const open = async () => [bytes];
	return await encodingOf(open, await headOf(open), known);
};
const found = async (bytes: Uint8Array, known = '') => (await encodingIn(bytes, known))?.name;
const be = (text: string) => Buffer.from(text, 'utf16le').swap16();

test.each<[string, Uint8Array, string]>([
	['the mark of UTF-8', Buffer.from('\ufeffa'), 'utf-8'],
	['the mark of UTF-16', Buffer.from('\ufeffa', 'utf16le'), 'utf-16le'],
	['the mark of UTF-16, the other way round', be('\ufeffa'), 'utf-16be'],
	['half a mark', Buffer.from([0xff, 0x61]), 'windows-1252'],
	['every second byte 0', Buffer.from('phone', 'utf16le'), 'utf-16le'],
	['every first byte 0', be('phone'), 'utf-16be'],
	["UTF-16 with a character that isn't European", Buffer.from('phone\nआशा', 'utf16le'), 'utf-16le'],
	['zeros in both places', Buffer.from('a\0\0b\0\0'), 'utf-8'],
	['one byte', Buffer.from('a'), 'utf-8'],
	['no byte', Buffer.alloc(0), 'utf-8'],
	['letters in UTF-8', Buffer.from('आशा'), 'utf-8'],
	['a letter that is cut off at the end', Buffer.from('आशा').subarray(0, -1), 'utf-8'],
	['letters in one byte each', Buffer.from('René,Zoë', 'latin1'), 'windows-1252'],
])('%s', async (_what, bytes, encoding) => {
	expect(await found(bytes)).toBe(encoding);
});

describe('the fit', () => {
	const bad = Buffer.from([0xe9]);
	const zoe = Buffer.from('Zoë,');

	test.each<[string, Uint8Array, string]>([
		['a mark, and every byte fits', Buffer.from('\ufeffZoë'), 'certain'],
		['no mark, and every byte fits', Buffer.from('Zoë'), 'certain'],
		['a character that was unreadable when the file was made', Buffer.from('Zo\ufffd'), 'certain'],
		[
			'a mark, and a byte that does not fit',
			Buffer.concat([Buffer.from('\ufeffa'), bad]),
			'damaged',
		],
		['letters, and a byte that does not fit', Buffer.concat([zoe, bad, zoe]), 'damaged'],
		['letters, the last one cut', Buffer.concat([zoe, bad]), 'damaged'],
		['a letter after a byte that does not fit', Buffer.concat([bad, zoe]), 'damaged'],
		['letters that fit nowhere', Buffer.from('René,Zoë', 'latin1'), 'guessed'],
	])('%s', async (_what, bytes, fit) => {
		expect(await encodingIn(bytes)).toHaveProperty('fit', fit);
	});

	test('a set encoding is used', async () => {
		expect(await encodingIn(bad, 'utf-8')).toEqual({ name: 'utf-8', fit: 'set' });
	});

	test('in pieces that end anywhere', async () => {
		const bytes = Buffer.concat([zoe, bad, zoe, bad]);
		const open = async () => [...bytes].map((byte) => Buffer.from([byte]));
		expect(await encodingOf(open, bytes, '')).toEqual({ name: 'utf-8', fit: 'damaged' });
	});

	test.each([
		['Shift JIS', [0x83, 0x81, 0x83, 0x8b]],
		['Mac Roman', [0x8e, 0x8f, 0x2c]],
	])('bytes that are invalid in all encodings: %s', async (_what, bytes) => {
		expect(await encodingIn(Buffer.from(bytes))).toBeUndefined();
	});
});

test('a set encoding is used without a byte order mark', async () => {
	expect(await found(Buffer.from('a'), 'windows-1251')).toBe('windows-1251');
	expect(await found(Buffer.from('\ufeffa'), 'windows-1251')).toBe('utf-8');
});

test('a read error is not treated as an old encoding', async () => {
	async function* broken() {
		yield Buffer.from('phone\n');
		throw new Error('the disk is away');
	}
	const reading = encodingOf(async () => broken(), Buffer.from('phone\n'), '');
	await expect(reading).rejects.toThrow('the disk is away');
});

test('the head is the first 65,536 bytes, in any pieces', async () => {
	const bytes = Buffer.from('abcdefg'.repeat(10_000));
	const open = async () => [bytes.subarray(0, 65_000), bytes.subarray(65_000)];
	expect(Buffer.from(await headOf(open)).equals(bytes.subarray(0, 65_536))).toBe(true);
	expect(Buffer.from(await headOf(async () => [Buffer.from('a')])).toString()).toBe('a');
});
