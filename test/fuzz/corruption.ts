import fc from 'fast-check';
import { isJsonObject, type JsonValue, parseJson } from '../../nodes/core/values/json';

/** JSON values that break careless readers. */
const HOSTILE_VALUES = [
	'null',
	'true',
	'false',
	'0',
	'-1',
	'1e400',
	'-0',
	'123456789012345678901234567890',
	'0.1e-400',
	'""',
	'" "',
	'"0"',
	'"null"',
	'[]',
	'{}',
	'[null]',
	'[[]]',
	'{"":""}',
	'"\\u001b[31mred\\u001b[0m\\u0007"',
	'"\\u202egnitirw"',
	'"\\ud800"',
	'"\\u0000"',
	'"<img src=x onerror=alert(1)><a href=\\"https://evil.example\\">Sign in again</a>"',
	'"%0d%0aAPI-Token: x"',
	'"../../../etc/passwd"',
	'"javascript:alert(1)"',
	'"file:///etc/passwd"',
	'"https://user:password@evil.example/"',
	'"ws://evil.example/"',
	'"={{ $env }}"',
	'{"__proto__":{"polluted":true}}',
	'{"constructor":{"prototype":{"polluted":true}}}',
	'{"toString":null,"valueOf":1,"hasOwnProperty":false,"length":-1,"then":"x"}',
	`"${'x'.repeat(100_000)}"`,
	`[${'0,'.repeat(5_000)}0]`,
	'['.repeat(20_000) + ']'.repeat(20_000),
	'{"data":'.repeat(20_000) + '1' + '}'.repeat(20_000),
];

/** One fault in a response or frame that is otherwise valid. */
export type Corruption =
	| { kind: 'value'; place: number; raw: string }
	| { kind: 'missing'; place: number }
	| { kind: 'twice'; place: number; raw: string }
	| { kind: 'cut'; at: number }
	| { kind: 'bytes'; at: number; bytes: number[] }
	| { kind: 'whole'; raw: string };

const place = fc.nat(10_000);
const raw = fc.constantFrom(...HOSTILE_VALUES);
const bytes = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 8 });

export const corruptions: fc.Arbitrary<Corruption> = fc.oneof(
	{ weight: 6, arbitrary: fc.record({ kind: fc.constant('value' as const), place, raw }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('missing' as const), place }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('twice' as const), place, raw }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), at: place }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('bytes' as const), at: place, bytes }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('whole' as const), raw }) },
);

/** A wrong status, or undefined for the right one. Without 429, because that status means that nothing was done. */
export const statuses = fc.option(fc.constantFrom(200, 201, 204, 301, 404, 409, 500, 503), {
	freq: 4,
	nil: undefined,
});

/** Adds one fault to a body. */
export function corrupt(original: Buffer, harm: Corruption): Buffer {
	if (harm.kind === 'whole') return Buffer.from(harm.raw);
	if (harm.kind === 'cut') return original.subarray(0, harm.at % (original.length + 1));
	if (harm.kind === 'bytes') {
		const at = harm.at % (original.length + 1);
		const rest = original.subarray(at + harm.bytes.length);
		return Buffer.concat([original.subarray(0, at), Buffer.from(harm.bytes), rest]);
	}
	return Buffer.from(corruptJson(original.toString(), harm));
}

/** Marks the position of the fault in the text. No response contains it. */
const MARK = 'place-of-the-harm';

function corruptJson(text: string, harm: Extract<Corruption, { place: number }>): string {
	const body = parseJson(text) ?? null;
	const positions = [...positionsIn(body)];
	const { parent, key } = positions[harm.place % Math.max(1, positions.length)] ?? {};
	if (parent === undefined || key === undefined) return text;
	if (harm.kind === 'missing') {
		Reflect.deleteProperty(parent, key);
		return JSON.stringify(body);
	}
	const before = JSON.stringify(Reflect.get(parent, key));
	Reflect.set(parent, key, MARK);
	const replacement =
		harm.kind === 'value' || Array.isArray(parent)
			? harm.raw
			: `${before},${JSON.stringify(key)}:${harm.raw}`;
	return JSON.stringify(body).replace(`"${MARK}"`, () => replacement);
}

/** Every position in the body: its list or object, and its key. */
function* positionsIn(value: JsonValue): Generator<{ parent: object; key: string }> {
	if (!Array.isArray(value) && !isJsonObject(value)) return;
	for (const [key, inner] of Object.entries(value)) {
		yield { parent: value, key };
		yield* positionsIn(inner);
	}
}
