import { fileURLToPath } from 'node:url';
import { RESULTS, SEED, SHARE } from './sample.mjs';

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
	plugins: ['@stryker-mutator/jest-runner', import.meta.resolve('./plugins.mjs')],
	testRunner: 'narrow-jest',
	jest: {
		projectType: 'custom',
		configFile: 'jest.config.js',
		// The dry run measures which tests reach a mutant, so related tests aren't needed.
		enableFindRelatedTests: false,
		config: {
			testMatch: [
				'<rootDir>/test/{nodes,credentials,contract,operations,schema}/**/*.test.ts',
				'<rootDir>/test/package/{forms,firstSight,conventions,tools}.test.ts',
				'<rootDir>/test/openapi/coverage.test.ts',
			],
			testEnvironment: fileURLToPath(import.meta.resolve('./firstFailure.js')),
			watchman: false,
		},
	},
	coverageAnalysis: 'perTest',
	mutate: ['{nodes,credentials}/**/*.ts'],
	checkers: ['sample'],
	sample: { seed: SEED, share: SHARE },
	warnings: { unknownOptions: false },
	ignorePatterns: ['dist', 'docs/images', 'examples', 'reports', 'coverage', '.git'],
	incremental: true,
	incrementalFile: RESULTS,
	tempDirName: 'reports/.stryker',
	reporters: ['clear-text', 'progress-append-only'],
	clearTextReporter: { allowColor: false, reportTests: false, reportScoreTable: false },
	allowConsoleColors: false,
	timeoutMS: 60_000,
	dryRunTimeoutMinutes: 45,
};
