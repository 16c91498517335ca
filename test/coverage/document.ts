import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const documentPath = join(__dirname, '../../docs/service-api.md');

/** Something the service's document names, and the heading under which it does. */
export type Item = { section: string; name: string };

type Section = { heading: string; lines: string[] };

/** Sections whose tables or shapes name no field, error, event or limit of the interface. */
const NOT_ITEMS = [
	'General conventions',
	'Campaign status',
	'Chat session',
	'What the service does',
	'Endpoints',
	'Voice and Chat Agent Service API',
	'Chat message',
];

/** Rows of a state table and the like are told apart by their first column's title. */
const SKIPPED_TABLES = ['Rule', 'Trigger', 'Part', 'Method and path'];

const RULE_CHARACTERS = 70;

/** Every endpoint, field, parameter, ack state, event, close code, status, error and limit. */
export function itemsOfDocument(): Item[] {
	const items = sections().flatMap((section) => [
		...endpointsOf(section),
		...(NOT_ITEMS.includes(section.heading) ? [] : namesOf(section)),
		...rulesOf(section),
	]);
	const seen = new Map(items.map((item) => [keyOf(item), item]));
	return [...seen.values()];
}

export function keyOf({ section, name }: Item): string {
	return `${section} › ${name}`;
}

function sections(): Section[] {
	const found: Section[] = [];
	for (const line of readFileSync(documentPath, 'utf8').split('\n')) {
		const [, heading] = /^#{1,4} (.*)$/.exec(line) ?? [];
		if (heading !== undefined) found.push({ heading, lines: [] });
		else found.at(-1)?.lines.push(line);
	}
	return found;
}

function endpointsOf({ heading, lines }: Section): Item[] {
	const [, headed] = /^((?:GET|POST|DELETE) \S+|WebSocket)/.exec(heading) ?? [];
	const inTable = lines.flatMap((line) => /^\| `(POST \S+)`/.exec(line)?.[1] ?? []);
	return [...(headed === undefined ? [] : [headed]), ...inTable].map((name) => ({
		section: 'Endpoints',
		name,
	}));
}

function namesOf(section: Section): Item[] {
	const { heading } = section;
	const named = [
		...tableNames(section),
		...shapeNames(section),
		...listedNames(section),
		...codeNames(section),
	];
	return named.map((name) => ({ section: heading, name }));
}

/** First cells of the tables. */
function tableNames({ lines }: Section): string[] {
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

/** Members of shapes written in the text, such as `{ call_id: string, … }`. */
function shapeNames({ lines }: Section): string[] {
	return lines.flatMap((line) =>
		[...line.matchAll(/`\{([^`]*)\}`/g)].flatMap(([, shape = '']) =>
			[
				...shape.replace(/\([^)]*\)/g, '').matchAll(/(?:^|[{,])\s*([a-z_]+)\??(?=\s*[:,}]|\s*$)/g),
			].map(([, name = '']) => name),
		),
	);
}

/** Names that stand in a sentence, a list or the body column of the legacy endpoints. */
function listedNames({ lines }: Section): string[] {
	const backticked = (text: string) =>
		[...text.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
	return lines.flatMap((line) => [
		...(/^- `([a-z_]+)`:/.exec(line)?.slice(1) ?? []),
		...backticked(/Response fields seen: (.*?)\. /.exec(line)?.[1] ?? ''),
		...backticked(/^`person_name` \(string\), `phone`/.exec(line)?.[0] ?? ''),
		...backticked(line.startsWith('| `POST /chat') ? (line.split('|')[2] ?? '') : ''),
	]);
}

/** Numbered sentences: rules of an endpoint, of authentication, of versioning. */
function rulesOf({ heading, lines }: Section): Item[] {
	return lines.flatMap((line) => {
		const [, number, text = ''] = /^(\d+)\. (.*)$/.exec(line) ?? [];
		if (number === undefined) return [];
		const start = text.length > RULE_CHARACTERS ? `${text.slice(0, RULE_CHARACTERS)}…` : text;
		return [{ section: heading, name: `${number}. ${start}` }];
	});
}

/** The codes of a rejected frame, and error codes that stand in the text. */
function codeNames({ lines }: Section): string[] {
	return lines.flatMap((line) => [
		...(line.startsWith('| `invalid`')
			? [...line.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => `invalid: ${code}`).slice(2)
			: []),
		...(/NO_OUTBOUND_NUMBER_CONFIGURED(?=, action)/.exec(line) ?? []),
		...(/tell_not_allowed_during_takeover/.exec(line) ?? []),
	]);
}
