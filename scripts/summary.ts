/** Adds up the reports of the test rings; a ring without a report or without a test is a failure. */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const report = z.object({
	numPassedTests: z.number(),
	numFailedTests: z.number(),
	numRuntimeErrorTestSuites: z.number(),
});

const [failedSteps = '0', ...files] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const file of files) {
	const ring = existsSync(file) ? report.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
	passed += ring?.numPassedTests ?? 0;
	// A file that could not even be loaded has no tests to count.
	failed += ring ? ring.numFailedTests + ring.numRuntimeErrorTestSuites : 0;
	if (!ring || ring.numPassedTests + ring.numFailedTests === 0) {
		console.log(`No test ran in ${file}`);
		failed++;
	}
}
// Lint, build or scan may be what is red.
if (failed === 0) failed = Number(failedSteps);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
