/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: require.resolve('./test/engine/environment'),
	runtime: require.resolve('./test/engine/runtime'),
	// Two to a core: many tests wait for a clock or a socket.
	maxWorkers: 4,
	cacheDirectory: '<rootDir>/node_modules/.cache/jest',
	// The sources too: watch mode and --findRelatedTests see no change outside the roots.
	roots: ['<rootDir>/nodes', '<rootDir>/credentials', '<rootDir>/test'],
	testMatch: ['**/*.test.ts'],
	// A busy machine takes its time; what hangs is still ended.
	testTimeout: 30_000,
	// The tests on a real n8n have a runner of their own: npm run test:e2e.
	testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/e2e/', '<rootDir>/test/browser/'],
	setupFiles: ['<rootDir>/test/engine/env.js'],
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
