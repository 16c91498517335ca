/**
 * Adds up the reports of the test levels. These count as failures: a level without a report or without tests, a pending
 * test, a todo test, and an obsolete snapshot.
 */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const report = z.object({
	numPassedTests: z.number(),
	numFailedTests: z.number(),
	numRuntimeErrorTestSuites: z.number(),
	numPendingTests: z.number(),
	numTodoTests: z.number(),
	snapshot: z.object({ unchecked: z.number() }),
});

/** Prints the sum, below the reasons for failures that no test shows, and returns the exit status. */
export function printSum([failedSteps = '0', ...files]: string[]): number {
	let passed = 0;
	let failed = 0;
	for (const file of files) {
		const level = existsSync(file)
			? report.parse(JSON.parse(readFileSync(file, 'utf8')))
			: undefined;
		passed += level?.numPassedTests ?? 0;
		// A file that couldn't be loaded has no tests to count.
		failed += level ? level.numFailedTests + level.numRuntimeErrorTestSuites : 0;
		const skipped = level ? level.numPendingTests + level.numTodoTests : 0;
		if (skipped > 0) console.log(`${skipped} tests did not run in ${file}`);
		const obsolete = level?.snapshot.unchecked ?? 0;
		if (obsolete > 0) console.log(`${obsolete} snapshots are obsolete in ${file}`);
		failed += skipped + obsolete;
		if (!level || level.numPassedTests + level.numFailedTests === 0) {
			console.log(`No test ran in ${file}`);
			failed++;
		}
	}
	// Lint, build, or scan may have failed.
	if (failed === 0) failed = Number(failedSteps);
	console.log(`${passed} passed, ${failed} failed`);
	return failed === 0 ? 0 : 1;
}

if (require.main === module) process.exitCode = printSum(process.argv.slice(2));
