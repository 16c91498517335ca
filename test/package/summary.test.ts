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

/** The last line of the sum over one report, and its exit status. */
function sum(report: object | undefined, failedSteps = 0) {
	const file = path.join(folder, `${report === undefined ? 'none' : 'report'}.json`);
	if (report !== undefined) writeFileSync(file, JSON.stringify(report));
	const args = ['--import', 'tsx', 'scripts/summary.ts', String(failedSteps), file];
	const { stdout, status } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
	return { line: stdout.trim().split('\n').at(-1), status };
}

test('succeeds if all tests passed', () => {
	expect(sum(GREEN)).toEqual({ line: '3 passed, 0 failed', status: 0 });
});

test.each([
	['a test that failed', { ...GREEN, numFailedTests: 1 }, 1],
	['a file that could not be loaded', { ...GREEN, numRuntimeErrorTestSuites: 1 }, 1],
	['a test that was skipped', { ...GREEN, numPendingTests: 2 }, 2],
	['a todo test', { ...GREEN, numTodoTests: 1 }, 1],
	['an obsolete snapshot', { ...GREEN, snapshot: { unchecked: 1 } }, 1],
	['a level in which no test ran', { ...GREEN, numPassedTests: 0 }, 1],
])('fails because of %s', (_name, report, failed) => {
	const line = `${report.numPassedTests} passed, ${failed} failed`;
	expect(sum(report)).toEqual({ line, status: 1 });
});

test('fails if a level has no report', () => {
	expect(sum(undefined)).toEqual({ line: '0 passed, 1 failed', status: 1 });
});

test('fails because of a failed step, even if all tests passed', () => {
	expect(sum(GREEN, 2)).toEqual({ line: '3 passed, 2 failed', status: 1 });
});
