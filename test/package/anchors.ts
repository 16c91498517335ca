import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../engine/sourceLoader';

/** The README, the docs, and the READMEs of tests. */
export const pages = globSync('{*.md,docs/*.md,test/**/README.md}', { cwd: ROOT }).sort();

export const textOf = (page: string) => readFileSync(path.join(ROOT, page), 'utf8');

/**
 * The anchors of a page's headings, as GitHub creates them, without "#".
 *
 * @param level as a regular expression, such as `##`
 */
export function anchorsOf(page: string, level = '#+'): string[] {
	return [...textOf(page).matchAll(new RegExp(`^${level} (.+)$`, 'gm'))].map(([, heading = '']) =>
		heading
			.trim()
			.toLowerCase()
			.replace(/[^\w\- ]/g, '')
			.replaceAll(' ', '-'),
	);
}
