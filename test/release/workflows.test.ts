/** The workflows of GitHub: pinned actions, and a job that publishes without running code. `npm run lint` runs actionlint. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../engine/sourceLoader';

const FOLDER = path.join(ROOT, '.github', 'workflows');
const files = readdirSync(FOLDER);
const textOf = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');

describe.each(files)('%s', (file) => {
	test('every action is pinned to a commit, with its version', () => {
		const used = [...textOf(file).matchAll(/uses: (.*)/g)].map(([, action = '']) => action);
		const unpinned = used.filter(
			(action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action),
		);
		expect(used.length).toBeGreaterThan(0);
		expect(unpinned).toEqual([]);
	});
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
