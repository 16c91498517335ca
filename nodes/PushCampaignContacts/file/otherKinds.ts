/** A file that is no CSV, whatever it is called: what it is, and what to do with it. */
export type OtherKind = { what: string; resolution: string };

const AS_CSV = 'Save it as CSV in the spreadsheet program';
const EXTRACT =
	'put an Extract from File node before this one and set Contacts From to Input Items';

/** By the first bytes, which say more than a name. */
const BINARY: ReadonlyArray<OtherKind & { begins: readonly number[] }> = [
	{
		begins: [0x50, 0x4b, 0x03, 0x04],
		what: 'an Excel workbook or another ZIP file',
		resolution: `${AS_CSV}, or ${EXTRACT}.`,
	},
	{
		begins: [0xd0, 0xcf, 0x11, 0xe0],
		what: 'an Excel workbook of the old kind',
		resolution: `${AS_CSV}, or ${EXTRACT}.`,
	},
	{
		begins: [0x1f, 0x8b],
		what: 'compressed',
		resolution: 'Put a Compression node before this one, to decompress it.',
	},
	{
		begins: [0x25, 0x50, 0x44, 0x46, 0x2d],
		what: 'a PDF',
		resolution: 'Get the list as CSV or as a spreadsheet.',
	},
];

/** By the first characters. */
const WRITTEN: ReadonlyArray<OtherKind & { begins: RegExp }> = [
	{
		begins: /^\s*<(?:!doctype|!--|\?xml|html|head|body|table|meta)\b/i,
		what: 'a web page or XML',
		resolution:
			'If it was downloaded, a sign-in page may have come in its place: open its address in a browser to see. Otherwise save the list as CSV.',
	},
	{
		begins: /^\s*(?:\[\s*[[{\]]|\{\s*["}])/,
		what: 'JSON',
		resolution: `${EXTRACT.charAt(0).toUpperCase()}${EXTRACT.slice(1)}.`,
	},
];

export function binaryKind(head: Uint8Array): OtherKind | undefined {
	return BINARY.find(({ begins }) => begins.every((byte, at) => head[at] === byte));
}

export function writtenKind(head: string): OtherKind | undefined {
	return WRITTEN.find(({ begins }) => begins.test(head));
}
