const { engines } = require('./package.json');
const { excluded } = require('./test/e2e/excluded');

const minimum = parseInt(engines.node.replace(/^\D+/, ''), 10);
if (parseInt(process.versions.node, 10) < minimum) {
	console.error(`The tests need Node.js ${minimum} or later (this is ${process.versions.node}).`);
	process.exit(1);
}

const swc = {
	jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true } },
	module: { type: 'commonjs' },
	sourceMaps: 'inline',
};

const shared = {
	cacheDirectory: '<rootDir>/node_modules/.cache/jest',
	// Includes the sources, because watch mode and --findRelatedTests ignore changes outside the roots.
	roots: ['<rootDir>/nodes', '<rootDir>/credentials', '<rootDir>/test'],
	transform: { '^.+\\.ts$': ['@swc/jest', swc] },
};

/** Tests with a real n8n. */
const realN8n = {
	...shared,
	testEnvironment: 'node',
	// Only ends tests that hang. Each wait in a test has its own condition and limit.
	testTimeout: 900_000,
	// Ends the run even if a failed test left a simulator running.
	forceExit: true,
};

/** Each worker loads the packages once for all its test files. */
const packagesOnce = {
	testEnvironment: require.resolve('./test/engine/environment'),
	runtime: require.resolve('./test/engine/packagesOnce'),
};

/** The files of a worker use one n8n, one after another. */
const sharedN8n = {
	...realN8n,
	...packagesOnce,
	testSequencer: require.resolve('./test/e2e/sequencer'),
	globalSetup: '<rootDir>/test/e2e/setup.ts',
	globalTeardown: '<rootDir>/test/e2e/teardown.ts',
	// More than two cores, because many tests wait for n8n or the service.
	maxWorkers: process.env.N8N_URL === undefined ? 3 : 1,
	testPathIgnorePatterns: ['/node_modules/', ...excluded],
	reporters: ['default', '<rootDir>/test/e2e/excluded.js'],
};

/** Tests with the engine of n8n, without a server. */
const engine = {
	...shared,
	...packagesOnce,
	runtime: require.resolve('./test/engine/runtime'),
	// More than two cores, because some tests wait for a clock or a socket. A further one would load n8n's engine once more.
	maxWorkers: 3,
	// Only ends tests that hang. Much longer than `until` waits, so that a test on a busy machine fails with the reason.
	testTimeout: 300_000,
	setupFiles: ['env', 'properties', 'newProcess'].map((name) => `<rootDir>/test/engine/${name}.js`),
	dependencyExtractor: '<rootDir>/test/engine/dependencies.js',
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
};

/** The levels of tests. LEVEL selects one, and `npm run long` lists those that take long. */
const levels = {
	/** Everything that needs no server. */
	nodes: {
		...engine,
		testMatch: ['**/*.test.ts'],
		testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(e2e|browser|long)/'],
	},
	/** A real n8n and a real browser. */
	e2e: {
		...sharedN8n,
		testMatch: ['<rootDir>/test/e2e/**/*.test.ts', '<rootDir>/test/browser/**/*.test.ts'],
	},
	/** Many checks of a trigger, which mostly wait for n8n's next one. */
	polls: { ...realN8n, testMatch: ['<rootDir>/test/long/polls/**/*.test.ts'], maxWorkers: 1 },
	/** A whole release: a local npm registry, and a real n8n. */
	release: { ...realN8n, testMatch: ['<rootDir>/test/long/release/**/*.test.ts'], maxWorkers: 1 },
};

/** @type {import('jest').Config} */
module.exports = levels[process.env.LEVEL ?? 'nodes'];
