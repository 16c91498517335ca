import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { browserPath } from '../browser/browserPath';

let folder = '';
beforeEach(() => {
	folder = mkdtempSync(path.join(tmpdir(), 'browser-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const install = (name: string) => writeFileSync(path.join(folder, name), '');
const find = () => browserPath({ PATH: `/nowhere:${folder}` });

test.each(['chromium', 'google-chrome', 'google-chrome-stable', 'chromium-browser'])(
	'%s is found in PATH',
	(name) => {
		install(name);
		expect(find()).toBe(path.join(folder, name));
	},
);

test('the stub of a snap is used only if nothing else is there', () => {
	install('chromium-browser');
	install('google-chrome');
	expect(find()).toBe(path.join(folder, 'google-chrome'));
});

test('CHROMIUM comes first', () => {
	install('chromium');
	expect(browserPath({ CHROMIUM: '/opt/browser', PATH: folder })).toBe('/opt/browser');
});

test('without a browser, the names are listed', () => {
	expect(find).toThrow('chromium, google-chrome, google-chrome-stable, chromium-browser');
});
