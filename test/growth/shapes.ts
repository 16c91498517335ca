import type { JsonObject, JsonValue } from '../../nodes/shared/json';

/** An input from outside, as text and as JSON. */
export type Input = { text: string; json: JsonValue };

export type Shape = { name: string; make: (characters: number) => Input };

/** Texts to repeat. Each can make a careless reader start, continue, or backtrack too often. */
const UNITS = [
	' ',
	'\t\n',
	'\r\n',
	'.',
	',',
	'.,',
	'/',
	'\\',
	"'",
	'"',
	'"\\',
	'"["',
	"['",
	'[',
	'(0',
	'{',
	'{{',
	'{{ $json.a }}',
	'$json.a',
	'a=',
	'a.',
	'a_',
	'=',
	'0',
	'9',
	'00 ',
	'+',
	'+9',
	'-',
	':',
	'1:',
	'1,2',
	'1.000',
	'T',
	'T+00',
	'Z',
	'e',
	'\0',
	'\ud800',
	'😀',
	// Combining marks of different classes, which normalization sorts.
	'\u0301\u0323',
	'\u0301\uff9e',
	'\ufdfa',
	'\u0660',
	'字',
	'&#0',
	'&amp;',
	'\\\\x',
	'%25%2',
	'%41',
	'%',
	'<',
	'mon - ',
	'mon to ',
	'turn on',
	'\0turn\0',
	'Aa the ',
	'agent_',
	'contacts[',
	'contacts[1] ',
	'filename="',
	"filename*='",
	'9876543210 ',
	'tokentok',
	'https://',
	'ab, ',
] as const;

/** Ends that make a match fail late. */
const ENDS = ['', '\n!'] as const;

const filled = (unit: string, characters: number): string =>
	// One flat string, because flattening a concatenated string would count as work of the reader.
	Buffer.from(unit.repeat(Math.ceil(characters / unit.length)), 'utf16le').toString('utf16le');

const texts: Shape[] = UNITS.flatMap((unit) =>
	ENDS.map((end) => ({
		name: JSON.stringify(unit) + (end === '' ? '' : ' and a bad end'),
		make: (characters: number) => {
			const text = filled(unit, characters) + end;
			return { text, json: text };
		},
	})),
);

const times = <T>(count: number, one: (index: number) => T): T[] =>
	Array.from({ length: Math.max(1, Math.floor(count)) }, (_, index) => one(index));

/** A record with the documented fields that readers search. */
const entry = (index: number): JsonObject => ({
	agent_uuid: `agent_${index}`,
	call_id: `call-${index}`,
	phone: String(6_000_000_000 + index),
	token: `tokentoken${index}`,
});

const lists: Array<[name: string, characters: number, json: (count: number) => JsonValue]> = [
	['a list of numbers', 2, (count) => times(count, () => 1)],
	['a list of equal texts', 4, (count) => times(count, () => 'a')],
	['a list of different texts', 10, (count) => times(count, (index) => `text ${index}`)],
	['a list of phone numbers', 13, (count) => times(count, (index) => `9${1e9 + index}`)],
	['a list of records', 90, (count) => times(count, entry)],
	['a list of lists', 4, (count) => times(count, () => [1])],
	[
		'an object of many names',
		12,
		(count) => Object.fromEntries(times(count, (index) => [`name${index}`, 1])),
	],
	[
		'an object of equal records',
		60,
		(count) => Object.fromEntries(times(count, (index) => [index, { token: 'tokentoken' }])),
	],
	['a response with many records', 90, (count) => ({ success: true, data: times(count, entry) })],
	[
		'a campaign with many lists',
		90,
		(count) => ({
			campaign: { status: 'Active' },
			uploads: times(count, (index) => ({ campaign_upload_id: index, queues: [entry(index)] })),
		}),
	],
	[
		'a campaign with many queues',
		90,
		(count) => ({ uploads: [{ campaign_upload_id: 1, queues: times(count, entry) }] }),
	],
	[
		'a rejection with many texts',
		20,
		(count) => ({ success: false, errors: times(count, rejected) }),
	],
	[
		'a rejection with a long text',
		20,
		(count) => ({ success: false, error: times(count, rejected).join('; ') }),
	],
];

function rejected(index: number): string {
	return `contacts[${index}] is bad`;
}

const values: Shape[] = lists.map(([name, each, json]) => ({
	name,
	make: (characters) => inputOf(json(characters / each)),
}));

export const everyShape: Shape[] = [...texts, ...values];

const many = (
	name: string,
	each: number,
	text: (count: number) => string = () => '',
	json: (index: number) => JsonValue = () => null,
): Shape => ({
	name,
	make: (characters) => {
		const count = Math.max(1, Math.floor(characters / each));
		return { text: text(count), json: times(count, json) };
	},
});

/** Tables for which a careless reader takes quadratic time. */
export const tables: Shape[] = [
	many('equal headings', 2, (count) => `${'a,'.repeat(count)}a\n1\n`),
	many(
		'headings that are equal to generated ones',
		8,
		(count) => `a,${times(count, (index) => `a,a_${index}`).join()}\n1`,
	),
	many('a wide header', 8, (count) => `${times(count, (index) => `c${index}`).join()}\n1\n`),
	many('rows that end early', 2, (count) => `a,b,c,d,e,f,g,h,i,j\n${'1\n'.repeat(count)}`),
	many('a row of many cells', 2, (count) => `a,b\n${'1,'.repeat(count)}\n`),
	many('a row in quotes', 1, (count) => `a,b\n"${'1'.repeat(count)}",2\n`),
	many('a row of doubled quotes', 2, (count) => `a,b\n"${'""'.repeat(count)}",2\n`),
	many('rows with a quote each', 7, (count) => `a,b\n${'"1","2"\n'.repeat(count)}`),
	many('a heading of many marks', 2, (count) => `a${'\u0301\u0323'.repeat(count)},b\n1,2\n`),
];

/** A conversation with many turns that are merged into each other, and messages in between. */
export const conversation = many('a conversation', 100, undefined, (index) => ({
	turn_id: `t${index}`,
	merged_into: `t${index + 1}`,
	id: `m${index}`,
	message_id: `m${index}`,
	content: 'x',
}));

export const oneEnding = many('numbers with one ending', 20, undefined, (index) => ({
	phone: `+4412${100_000 + index}0000`,
}));

/** More arguments than a function call can have. */
const MANY = 150_000;

export const largeInputs: Input[] = [
	inputOf(times(MANY, () => 1)),
	inputOf(Object.fromEntries(times(MANY, (index) => [`name${index}`, 1]))),
	inputOf({ success: false, error: times(MANY, rejected).join('; ') }),
];

function inputOf(json: JsonValue): Input {
	return { text: JSON.stringify(json), json };
}
