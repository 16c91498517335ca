const base = require('./jest.config.js');

/** Real n8n and a real browser, one file after another against one server. */
module.exports = {
	testEnvironment: 'node',
	cacheDirectory: base.cacheDirectory,
	roots: base.roots,
	testMatch: ['<rootDir>/test/e2e/**/*.test.ts', '<rootDir>/test/browser/**/*.test.ts'],
	globalSetup: '<rootDir>/test/e2e/setup.ts',
	globalTeardown: '<rootDir>/test/e2e/teardown.ts',
	testTimeout: 120_000,
	// A simulator that a failed test left open must not keep the run from ending.
	forceExit: true,
	transform: base.transform,
};
