import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../engine/sourceLoader';

/**
 * The anchors of a page's headings, as GitHub creates them, without "#".
 *
 * @param level as a regular expression, such as `##`
 */
export function anchorsOf(page: string, level = '#+'): string[] {
	const text = readFileSync(path.join(ROOT, page), 'utf8');
	return [...text.matchAll(new RegExp(`^${level} (.+)$`, 'gm'))].map(([, heading = '']) =>
		heading
			.trim()
			.toLowerCase()
			.replace(/[^\w\- ]/g, '')
			.replaceAll(' ', '-'),
	);
}
