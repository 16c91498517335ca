import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../engine/sourceLoader';

const pages = globSync('{README.md,docs/*.md}', { cwd: ROOT });
const shown = pages.flatMap((page) =>
	[...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/\(((?:docs\/)?images\/[^)]+)\)/g)].map(
		([, target = '']) => path.join(path.dirname(page), target),
	),
);

test('every image is used on a page, and every image on a page exists', () => {
	expect([...new Set(shown)].sort()).toEqual(globSync('docs/images/*', { cwd: ROOT }).sort());
});
