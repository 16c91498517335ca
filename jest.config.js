/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: require.resolve('./test/engine/environment'),
	runtime: require.resolve('./test/engine/runtime'),
	// Two workers per core, because many tests wait for a clock or a socket.
	maxWorkers: 4,
	cacheDirectory: '<rootDir>/node_modules/.cache/jest',
	// Includes the sources, because watch mode and --findRelatedTests ignore changes outside the roots.
	roots: ['<rootDir>/nodes', '<rootDir>/credentials', '<rootDir>/test'],
	testMatch: ['**/*.test.ts'],
	// Only ends tests that hang. Much longer than `until` waits, so that a test on a busy machine fails with the reason.
	testTimeout: 300_000,
	// Tests with a real n8n run separately: npm run test:e2e, test:engine2, test:faults, test:release.
	testPathIgnorePatterns: [
		'/node_modules/',
		'<rootDir>/test/(e2e|browser|engine2|faults|rehearsal)/',
	],
	setupFiles: ['env', 'properties', 'newProcess'].map((name) => `<rootDir>/test/engine/${name}.js`),
	dependencyExtractor: '<rootDir>/test/engine/dependencies.js',
	transform: {
		'^.+\\.ts$': [
			'@swc/jest',
			{
				jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true } },
				module: { type: 'commonjs' },
				sourceMaps: 'inline',
			},
		],
	},
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
};
