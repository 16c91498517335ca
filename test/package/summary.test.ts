import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../engine/sourceLoader';

let folder = '';
beforeAll(() => {
	folder = mkdtempSync(path.join(tmpdir(), 'reports-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GREEN = {
	numPassedTests: 3,
	numFailedTests: 0,
	numRuntimeErrorTestSuites: 0,
	numPendingTests: 0,
	numTodoTests: 0,
	snapshot: { unchecked: 0 },
};

/** The last line of the sum over these reports, and its exit status. */
function sum(reports: object[], failedSteps = 0) {
	const files = reports.map((report, index) => {
		const file = path.join(folder, `${index}.json`);
		writeFileSync(file, JSON.stringify(report));
		return file;
	});
	const args = ['--import', 'tsx', 'scripts/summary.ts', String(failedSteps), ...files];
	const { stdout, status } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
	return { line: stdout.trim().split('\n').at(-1), status };
}

test('succeeds if all tests passed', () => {
	expect(sum([GREEN, GREEN])).toEqual({ line: '6 passed, 0 failed', status: 0 });
});

test('counts what failed, could not be loaded, was skipped, is obsolete, or did not run', () => {
	const reports = [
		{ numFailedTests: 1 },
		{ numRuntimeErrorTestSuites: 10 },
		{ numPendingTests: 100 },
		{ numTodoTests: 1_000 },
		{ snapshot: { unchecked: 10_000 } },
		{ numPassedTests: 0 },
	].map((fault) => ({ ...GREEN, ...fault }));
	expect(sum(reports)).toEqual({ line: '15 passed, 11112 failed', status: 1 });
});

test('fails if a level has no report', () => {
	const args = ['--import', 'tsx', 'scripts/summary.ts', '0', path.join(folder, 'none.json')];
	expect(spawnSync(process.execPath, args, { cwd: ROOT }).status).toBe(1);
});

test('fails because of a failed step, even if all tests passed', () => {
	expect(sum([GREEN], 2)).toEqual({ line: '3 passed, 2 failed', status: 1 });
});
