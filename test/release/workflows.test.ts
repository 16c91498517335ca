/** The workflows of GitHub: pinned actions, and a job that publishes without running code. `npm run lint` runs actionlint. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../engine/sourceLoader';

const FOLDER = path.join(ROOT, '.github', 'workflows');
const files = readdirSync(FOLDER);
const textOf = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');

test.each(files)('%s: every action is pinned to a commit, with its version', (file) => {
	const used = [...textOf(file).matchAll(/uses: (.*)/g)].map(([, action = '']) => action);
	const unpinned = used.filter(
		(action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action),
	);
	expect(used.length).toBeGreaterThan(0);
	expect(unpinned).toEqual([]);
});

test.each(['publish', 'release'])(
	'the job %s of publish.yml runs nothing from the repository',
	(name) => {
		const jobs = textOf('publish.yml').split(/^ {2}(?=\w+:\n)/m);
		const job = jobs.find((one) => one.startsWith(`${name}:`)) ?? '';
		expect(job).toContain('actions/download-artifact');
		expect(job).not.toMatch(/actions\/checkout|npm (ci|install|run|exec)|npx|cache: npm/);
	},
);
