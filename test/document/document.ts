import { readFileSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from './names';

const documentPath = path.join(__dirname, '../../docs/service-api.md');

/** A name in the service's document, and the heading of its section. */
type Item = { section: string; name: string };

export type Section = { heading: string; lines: string[] };

/** Every field, parameter, state, event, code, and limit. */
export function itemsOfDocument(): Item[] {
	return sections().flatMap((section) =>
		namesIn(section).map((name) => ({ section: section.heading, name })),
	);
}

export function sections(): Section[] {
	const found: Section[] = [];
	for (const line of readFileSync(documentPath, 'utf8').split('\n')) {
		const [, heading] = /^#{1,4} (.*)$/.exec(line) ?? [];
		if (heading !== undefined) found.push({ heading, lines: [] });
		else found.at(-1)?.lines.push(line);
	}
	return found;
}

/** The endpoints in the heading of their section. */
export function endpointsIn(heading: string): string[] {
	if (!/^(GET|POST|DELETE) /.test(heading)) return [];
	return [...heading.matchAll(/(?:GET|POST|DELETE) \/[^\s)]*/g)].map(([name]) => name);
}

/** Endpoints such as `POST /v1/call`, from headings, and legacy endpoints from a table. */
export function endpointsOfDocument(): string[] {
	return sections().flatMap(({ heading, lines }) => [
		...endpointsIn(heading),
		...lines.flatMap((line) => /^\| `(POST \S+)`/.exec(line)?.[1] ?? []),
	]);
}
