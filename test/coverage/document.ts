import { readFileSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from './names';

export const documentPath = path.join(__dirname, '../../docs/service-api.md');

/** Something the service's document names, and the heading under which it does. */
export type Item = { section: string; name: string };

export type Section = { heading: string; lines: string[] };

const ENDPOINTS = 'Endpoints';
const EVENTS = 'Events';
const RULE_CHARACTERS = 70;

/** Every endpoint, field, parameter, state, event, close code, status, error, limit and rule. */
export function itemsOfDocument(): Item[] {
	const items = sections().flatMap((section) => [
		...endpointsIn(section),
		...webhookIn(section),
		...namesIn(section).map((name) => ({ section: section.heading, name })),
		...rulesIn(section),
	]);
	return [...new Map(items.map((item) => [keyOf(item), item])).values()];
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

/** Endpoints stand in headings, the legacy ones in a table. */
function endpointsIn({ heading, lines }: Section): Item[] {
	const headed = /^(GET|POST|DELETE|WebSocket) /.test(heading)
		? [...heading.matchAll(/(?:GET|POST|DELETE) \/[^\s)]*|^WebSocket/g)].map(([name]) => name)
		: [];
	const inTable = lines.flatMap((line) => /^\| `(POST \S+)`/.exec(line)?.[1] ?? []);
	return [...headed, ...inTable].map((name) => ({ section: ENDPOINTS, name }));
}

function webhookIn({ heading }: Section): Item[] {
	return heading.endsWith(' webhook') ? [{ section: EVENTS, name: heading }] : [];
}

/** Numbered sentences: rules of an endpoint, of authentication, of versioning. */
function rulesIn({ heading, lines }: Section): Item[] {
	return lines.flatMap((line) => {
		const [, number, text = ''] = /^(\d+)\. (.*)$/.exec(line) ?? [];
		if (number === undefined) return [];
		const start = text.length > RULE_CHARACTERS ? `${text.slice(0, RULE_CHARACTERS)}…` : text;
		return [{ section: heading, name: `${number}. ${start}` }];
	});
}
