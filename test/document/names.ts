import type { Section } from './document';

/** Tables whose first cells aren't names, but endpoints or parts of an endpoint. */
const SKIPPED_TABLES = ['Part', 'Method and path'];

/** Every API name in a section of the document. */
export function namesIn({ lines }: Section): string[] {
	return [
		...tableNames(lines),
		...lines.flatMap((line) => [
			...shapeNames(line),
			...namesInText(line),
			...frameNames(line),
			...codeNames(line),
			...reconnectRules(line),
		]),
	];
}

/** Names in the first cells of tables. */
function tableNames(lines: string[]): string[] {
	const names: string[] = [];
	let title: string | undefined;
	for (const line of lines) {
		if (!line.startsWith('|')) {
			title = undefined;
			continue;
		}
		const first = line.split('|')[1]?.trim().replaceAll('`', '') ?? '';
		if (title === undefined) title = first;
		else if (!first.startsWith('-') && !SKIPPED_TABLES.includes(title)) names.push(first);
	}
	return names;
}

/** Field names in shapes such as `{ call_id: string, … }`. */
function shapeNames(line: string): string[] {
	return [...line.matchAll(/`(?:upstream_body: )?\{ ([^`]*)\}`/g)].flatMap(([, shape = '']) =>
		[
			...shape.replace(/\([^)]*\)/g, '').matchAll(/(?:^|[{,])\s*([a-z_]+)\??(?=\s*[:,}]|\s*$)/g),
		].map(([, name = '']) => name),
	);
}

const backticked = (text: string | undefined) =>
	[...(text ?? '').matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);

/** Names in a sentence, a list, or the body column of the legacy endpoints. */
function namesInText(line: string): string[] {
	const [, filters = '', parameter] =
		/Filters exist for (.*?), and a `([a-z_]+)` query parameter/.exec(line) ?? [];
	return [
		...(/^- `([a-z_]+)`:/.exec(line)?.slice(1) ?? []),
		...backticked(/^Identified by `agent_uuid`.*\(`agent_name`\)/.exec(line)?.[0]),
		...backticked(/Response fields seen: (.*?)\. /.exec(line)?.[1]),
		...backticked(/^`person_name` \(string\), `phone`/.exec(line)?.[0]),
		...backticked(/It accepts an `[a-z_]+`/.exec(line)?.[0]),
		...backticked(/missing or empty `[a-z_]+` parameter/.exec(line)?.[0]),
		...backticked(line.startsWith('| `POST /chat') ? line.split('|')[2] : ''),
		...(/`(upstream_body): \{/.exec(line)?.slice(1) ?? []),
		...filters.split(/, | and /).flatMap((name) => (name === '' ? [] : [`filter: ${name}`])),
		...(parameter === undefined ? [] : [parameter]),
	];
}

/** Fields of the frames that a client sends. */
function frameNames(line: string): string[] {
	const [, frame, fields = ''] = /^\| (message|interaction response) \| (.*) \|$/.exec(line) ?? [];
	return frame === undefined
		? []
		: [...fields.matchAll(/`([a-z_]+)(?:: [a-z_]+)?`/g)].map(
				([, name = '']) => `${frame}: ${name}`,
			);
}

/** The codes of a rejected frame, and error codes in the text. */
function codeNames(line: string): string[] {
	return [
		...(line.startsWith('| `invalid`')
			? backticked(line)
					.slice(2)
					.map((code) => `invalid: ${code}`)
			: []),
		...[...line.matchAll(/error_code: ([A-Za-z_]+)/g)].map(([, code = '']) => code),
		...backticked(/(?:seen|observed) reasons? (?:is|are) .*/i.exec(line)?.[0]),
	];
}

function reconnectRules(line: string): string[] {
	const [, rules] = /^Client reconnect guidance: (.*)\.$/.exec(line) ?? [];
	return rules === undefined ? [] : rules.split('; ').map((rule) => `reconnect: ${rule}`);
}
