/** The docs on this machine, for the links of the nodes and of the credential. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, extname, join } from 'node:path';
import { Marked } from 'marked';
import { gfmHeadingId } from 'marked-gfm-heading-id';
import { projectFolder } from '../test/n8n/package-install';
import { listen } from '../test/n8n/ports';
import { publisherOf, readManifest } from './release/publisher';

export interface LocalDocs {
	/** In place of the URL of the repository. */
	url: string;
	stop: () => void;
}

const markdown = new Marked(gfmHeadingId());
const TYPES = new Map([
	['.csv', 'text/plain'],
	['.json', 'application/json'],
	['.md', 'text/html'],
	['.png', 'image/png'],
	['.webp', 'image/webp'],
	['.yaml', 'text/plain'],
]);

/** Where a repository shows a file of a branch, and the files that users open. */
const SHOWN = /^(?:\/blob\/[^/]+)?\/((?:docs|examples)\/[\w./-]+|[A-Z_]+(?:\.md)?)$/;

/** Serves the files of this project under the paths that they have on GitHub, and pages with the same anchors. */
export async function serveDocs(): Promise<LocalDocs> {
	const server = createServer((request, response) => {
		const { pathname } = new URL(`http://127.0.0.1${request.url ?? '/'}`);
		const [, path = ''] = SHOWN.exec(pathname) ?? [];
		const type = TYPES.get(extname(path)) ?? 'text/plain';
		const charset = type.startsWith('image/') ? '' : '; charset=utf-8';
		const reading = readFile(join(projectFolder, path));
		reading.then(
			(file) => {
				const isPage = type === 'text/html';
				const content = isPage ? pageOf(basename(path), file.toString('utf8')) : file;
				response.setHeader('content-type', `${type}${charset}`).end(content);
			},
			() => response.writeHead(404).end('This page does not exist.'),
		);
	});
	return { url: `http://127.0.0.1:${await listen(server)}`, stop: () => server.close() };
}

function pageOf(name: string, text: string): string {
	return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${name}</title>
<style>
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #222 }
img { max-width: 100% } table { border-collapse: collapse } th, td { border: 1px solid #ccc; padding: .3rem .6rem; text-align: left }
code { background: #f2f2f2; padding: .1rem .2rem } pre { overflow-x: auto }
</style>
<script>
// n8n adds its parameters to the end of a link, after the anchor.
const [anchor, added] = location.hash.split('?');
if (added !== undefined) location.replace(anchor);
</script>
${markdown.parse(text, { async: false })}
</html>`;
}

/** Points the links of a package that is built and installed to other docs than those of its repository. */
export function linkToDocs(packageFolder: string, { url }: LocalDocs): void {
	const { repository } = publisherOf(readManifest(projectFolder));
	const files = [
		...['dist/nodes/*/*.node.json', 'dist/credentials/*.js'],
		'dist/nodes/core/profile/serviceProfile.js',
	];
	for (const file of globSync(files, { cwd: packageFolder })) {
		const path = join(packageFolder, file);
		writeFileSync(path, readFileSync(path, 'utf8').replaceAll(repository, url));
	}
}
