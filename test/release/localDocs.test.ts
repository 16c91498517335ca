import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { linkToDocs, serveDocs, type LocalDocs } from '../../scripts/localDocs';
import { linkingFiles } from '../../scripts/release/publisher';
import { ROOT } from '../engine/sourceLoader';

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

test('each link of a node and of the credential opens a page on this machine, and no other file can be read', async () => {
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
	expect((await fetch(`${docs.url}/package.json`)).status).toBe(404);
});
