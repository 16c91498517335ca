/** The tests on an n8n that runs elsewhere (N8N_URL). */
import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';
import omit from 'lodash/omit';
import { z } from 'zod';
import { projectFolder } from '../n8n/package-install';

/** The test files that don't run with these variables. */
function excludedWith(env: Record<string, string>): string[] {
	const code = "JSON.stringify(require('./test/e2e/excluded').excluded)";
	const others = omit(process.env, 'N8N_URL', 'N8N_FOLDER');
	const options = { cwd: projectFolder, encoding: 'utf8', env: { ...others, ...env } } as const;
	const found: unknown = JSON.parse(execFileSync(process.execPath, ['-p', code], options));
	return z
		.array(z.string())
		.parse(found)
		.map((pattern) => basename(pattern, '.test.ts$'));
}

const N8N_URL = 'http://127.0.0.1:5678';
const STARTING = ['killed', 'retryAfterCrash'];

test('all tests run on an n8n of their own', () => {
	expect(excludedWith({})).toEqual([]);
});

test('only those that start an n8n are left out if the others reach its folder', () => {
	expect(excludedWith({ N8N_URL, N8N_FOLDER: '/n8n' }).sort()).toEqual(STARTING);
});

test('without its folder, those that read it or need third parties are left out, too', () => {
	const excluded = excludedWith({ N8N_URL });
	expect(excluded).toEqual(expect.arrayContaining([...STARTING, 'customData', 'examplesCalls']));
	expect(excluded).not.toContain('actions');
});
