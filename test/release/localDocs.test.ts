import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { linkToDocs, serveDocs, type LocalDocs } from '../../scripts/localDocs';
import { linkingFiles } from '../../scripts/release/publisher';
import { ROOT } from '../engine/sourceLoader';
import { anchorsOf } from '../package/anchors';

let folder = '';
let docs: LocalDocs;
beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'docs-'));
	for (const file of linkingFiles(ROOT).map((one) => relative(ROOT, one))) {
		cpSync(join(ROOT, file), join(folder, 'dist', file.replace(/\.ts$/, '.js')));
	}
	docs = await serveDocs();
});
afterAll(() => {
	docs.stop();
	rmSync(folder, { recursive: true, force: true });
});

test('each link of a node and of the credential opens a page on this machine', async () => {
	linkToDocs(folder, docs);
	const files = globSync('dist/**/*.js*', { cwd: folder });
	const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
	expect(text).not.toContain('publisher.invalid');
	const links = [...new Set(text.match(/http:\/\/127\.0\.0\.1[^\s"'#]+/g))];
	expect(links.map((link) => link.split('/docs/')[1]).sort()).toEqual([
		'calls.md',
		'campaigns.md',
		'chats.md',
		'credential.md',
		'do-not-disturb.md',
		'provider-questionnaire.md',
		'results.md',
	]);
	for (const link of links) {
		const response = await fetch(`${link}?utm_source=n8n`);
		expect([link, response.status]).toEqual([link, 200]);
		expect(await response.text()).toMatch(/<h1 id="[\w-]+">/);
	}
});

test('a page has the anchors of GitHub and its pictures', async () => {
	const html = await (await fetch(`${docs.url}/docs/calls.md`)).text();
	const anchors = [...html.matchAll(/<h\d id="([^"]+)"/g)].map(([, anchor]) => anchor);
	expect(anchors).toEqual(anchorsOf('docs/calls.md'));
	const pictures = [...html.matchAll(/<img src="([^"]+)"/g)].map(([, path]) => path);
	expect(pictures).not.toEqual([]);
	for (const path of pictures) {
		const response = await fetch(`${docs.url}/docs/${path}`);
		expect(response.headers.get('content-type')).toBe('image/png');
	}
});

test('there is no page outside the docs', async () => {
	expect((await fetch(`${docs.url}/..%2Fpackage.json`)).status).toBe(404);
});
