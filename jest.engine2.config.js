const base = require('./jest.e2e.config.js');

/** Tests on Engine 2.0, which is a preview in n8n. They need PostgreSQL (Debian: postgresql). */
module.exports = {
	...base,
	testMatch: ['<rootDir>/test/engine2/**/*.test.ts'],
	globalSetup: undefined,
	globalTeardown: undefined,
};
