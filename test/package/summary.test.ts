import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { printSum } from '../../scripts/summary';

let folder = '';
beforeAll(() => {
	folder = mkdtempSync(path.join(tmpdir(), 'reports-'));
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GREEN = {
	numPassedTests: 3,
	numFailedTests: 0,
	numRuntimeErrorTestSuites: 0,
	numPendingTests: 0,
	numTodoTests: 0,
	snapshot: { unchecked: 0 },
};

/** A level whose run ended without a report. */
const NO_REPORT = {};

const FAULTS = [
	{ numFailedTests: 1 },
	{ numRuntimeErrorTestSuites: 10 },
	{ numPendingTests: 100 },
	{ numTodoTests: 1_000 },
	{ snapshot: { unchecked: 10_000 } },
	{ numPassedTests: 0 },
].map((fault) => ({ ...GREEN, ...fault }));

test.each<[string, object[], number, string]>([
	['all tests passed', [GREEN, GREEN], 0, '6 passed, 0 failed'],
	['tests failed, were skipped, or did not run', FAULTS, 0, '15 passed, 11112 failed'],
	['a level has no report', [GREEN, NO_REPORT], 0, '3 passed, 1 failed'],
	['another step failed', [GREEN], 2, '3 passed, 2 failed'],
])('the sum if %s', (_what, reports, failedSteps, sum) => {
	const files = reports.map((report, index) => {
		const file = path.join(folder, `${index}.json`);
		rmSync(file, { force: true });
		if (report !== NO_REPORT) writeFileSync(file, JSON.stringify(report));
		return file;
	});
	const print = jest.spyOn(console, 'log').mockImplementation();
	const status = printSum([String(failedSteps), ...files]);
	expect(print).toHaveBeenLastCalledWith(sum);
	expect(status).toBe(sum.endsWith(' 0 failed') ? 0 : 1);
});
