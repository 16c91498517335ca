/** The tests on an n8n that runs elsewhere (N8N_URL). */
import { createRequire } from 'node:module';
import { basename } from 'node:path';

type Exports = { excludedWith: (env: object) => Array<{ file: string }> };
const { excludedWith }: Exports = createRequire(__filename)('../e2e/excluded');

/** The test files that don't run with these variables. */
const namesWith = (env: object) => excludedWith(env).map(({ file }) => basename(file, '.test.ts'));

const N8N_URL = 'http://127.0.0.1:5678';
const STARTING = ['killed'];

test('all tests run on an n8n of their own', () => {
	expect(namesWith({})).toEqual([]);
});

test('only those that start an n8n are left out if the others reach its folder', () => {
	expect(namesWith({ N8N_URL, N8N_FOLDER: '/n8n' }).sort()).toEqual(STARTING);
});

test('without its folder, those that read it or need third parties are left out, too', () => {
	const excluded = namesWith({ N8N_URL });
	expect(excluded).toEqual(expect.arrayContaining([...STARTING, 'personalData', 'examplesCalls']));
	expect(excluded).not.toContain('actions');
});
