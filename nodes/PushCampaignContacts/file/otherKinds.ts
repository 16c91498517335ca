/** A kind of file that isn't CSV, and what to do with it. */
type OtherKind = { description: string; resolution: string };

const AS_CSV = 'Save it as CSV in the spreadsheet program';
const EXTRACT =
	"add an Extract from File node before this one and set 'Contacts From' to 'Input Items'";

/** By the first bytes. The file name may be wrong. */
const BINARY: ReadonlyArray<OtherKind & { begins: readonly number[] }> = [
	{
		begins: [0x50, 0x4b, 0x03, 0x04],
		description: 'an Excel workbook or another ZIP file',
		resolution: `${AS_CSV}, or ${EXTRACT}.`,
	},
	{
		begins: [0xd0, 0xcf, 0x11, 0xe0],
		description: 'an old Excel workbook (.xls)',
		resolution: `${AS_CSV}, or ${EXTRACT}.`,
	},
	{
		begins: [0x1f, 0x8b],
		description: 'compressed',
		resolution: 'Add a Compression node before this one to decompress it.',
	},
	{
		begins: [0x25, 0x50, 0x44, 0x46, 0x2d],
		description: 'a PDF',
		resolution: 'Get the list as CSV or as a spreadsheet.',
	},
];

/** By the first characters. */
const WRITTEN: ReadonlyArray<OtherKind & { begins: RegExp }> = [
	{
		begins: /^\s*<(?:!doctype|!--|\?xml|html|head|body|table|meta)\b/i,
		description: 'a web page or XML',
		resolution:
			'If it was downloaded, the server may have returned a sign-in page instead. Open the URL in a browser to check. Otherwise, save the list as CSV.',
	},
	{
		begins: /^\s*(?:\[\s*[[{\]]|\{\s*["}])/,
		description: 'JSON',
		resolution: `${EXTRACT.charAt(0).toUpperCase()}${EXTRACT.slice(1)}.`,
	},
];

/** @param text its first characters */
export function otherKindOf(head: Uint8Array, text: string): OtherKind | undefined {
	return (
		BINARY.find(({ begins }) => begins.every((byte, at) => head[at] === byte)) ??
		WRITTEN.find(({ begins }) => begins.test(text))
	);
}
