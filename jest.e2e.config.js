const base = require('./jest.config.js');

/** Tests with a real n8n and a real browser. The files of a worker use one n8n, one after another. */
module.exports = {
	testEnvironment: 'node',
	cacheDirectory: base.cacheDirectory,
	roots: base.roots,
	testMatch: ['<rootDir>/test/e2e/**/*.test.ts', '<rootDir>/test/browser/**/*.test.ts'],
	globalSetup: '<rootDir>/test/e2e/setup.ts',
	globalTeardown: '<rootDir>/test/e2e/teardown.ts',
	maxWorkers: 2,
	// Only ends tests that hang. Each wait in a test has its own condition and limit.
	testTimeout: 900_000,
	// Ends the run even if a failed test left a simulator running.
	forceExit: true,
	transform: base.transform,
};
