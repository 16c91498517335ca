import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from '@swc/core';
import { ROOT } from '../engine/sourceLoader';
import { isObject, type JsonObject } from '../simulator/json';

/** The files of the nodes and of the credential. */
export const SOURCES = globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT }).sort();

/** Each part of the syntax tree of a file, without those in a part that is left out. */
export function syntaxOf(
	file: string,
	isLeftOut: (part: JsonObject) => boolean = () => false,
): JsonObject[] {
	const found: JsonObject[] = [];
	const visit = (part: unknown): void => {
		if (Array.isArray(part)) part.forEach(visit);
		if (!isObject(part) || isLeftOut(part)) return;
		found.push(part);
		Object.values(part).forEach(visit);
	};
	visit(parseSync(readFileSync(path.join(ROOT, file), 'utf8'), { syntax: 'typescript' }));
	return found;
}

/** The text of a string. A template has "…" in place of its values. Undefined for other parts of the syntax tree. */
export function textOf({ type, value, quasis }: JsonObject): string | undefined {
	if (type === 'StringLiteral') return String(value);
	if (!Array.isArray(quasis)) return undefined;
	return quasis.map((quasi: unknown) => (isObject(quasi) ? quasi.cooked : '')).join('…');
}
