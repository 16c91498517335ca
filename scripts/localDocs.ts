/** The docs on this machine, for the links of the nodes and of the credential. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { projectFolder } from '../test/n8n/package-install';
import { listen } from '../test/n8n/ports';
import { publisherOf, readManifest } from './release/publisher';

export interface LocalDocs {
	/** In place of the URL of the repository. */
	url: string;
	stop: () => void;
}

/** Serves the pages of `docs` as text, under the paths that they have on GitHub. */
export async function serveDocs(): Promise<LocalDocs> {
	const server = createServer((request, response) => {
		const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
		readFile(join(projectFolder, 'docs', basename(pathname))).then(
			(page) => response.setHeader('content-type', 'text/plain; charset=utf-8').end(page),
			() => response.writeHead(404).end('This page does not exist.'),
		);
	});
	return { url: `http://127.0.0.1:${await listen(server)}`, stop: () => server.close() };
}

/** Points the links of a package that is built and installed to other docs than those of its repository. */
export function linkToDocs(packageFolder: string, { url }: LocalDocs): void {
	const { repository } = publisherOf(readManifest(projectFolder));
	const files = ['dist/nodes/*/*.node.json', 'dist/credentials/*.js'];
	for (const file of globSync(files, { cwd: packageFolder })) {
		const path = join(packageFolder, file);
		writeFileSync(path, readFileSync(path, 'utf8').replaceAll(repository, url));
	}
}
