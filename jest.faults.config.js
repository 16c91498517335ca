const base = require('./jest.engine2.config.js');

/** Faults below n8n: its database, disk, and clock. Needs PostgreSQL and libfaketime (Debian: postgresql, faketime). */
module.exports = {
	...base,
	testMatch: ['<rootDir>/test/faults/**/*.test.ts'],
};
