const base = require('./jest.e2e.config.js');

/** A whole release: a local npm registry, a real n8n, and a real browser. */
module.exports = {
	...base,
	testMatch: ['<rootDir>/test/rehearsal/**/*.test.ts'],
	globalSetup: undefined,
	globalTeardown: undefined,
	maxWorkers: 1,
};
