import { fileURLToPath } from 'node:url';
import { areaNamed, SEED } from './areas.mjs';

const { mutate, tests, share, results } = areaNamed(process.env.MUTATION_AREA);
const files = process.env.MUTATION_FILES;

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
			testMatch: tests.map((glob) => `<rootDir>/${glob}`),
			testEnvironment: fileURLToPath(import.meta.resolve('./firstFailure.js')),
			watchman: false,
		},
	},
	coverageAnalysis: 'perTest',
	// Mutates some files of the area. The results of other files stay.
	mutate: files ? [files] : mutate,
	...(share < 1 && { checkers: ['sample'], sample: { seed: SEED, share } }),
	ignorePatterns: ['dist', 'docs/images', 'examples', 'reports', 'coverage', '.git'],
	incremental: true,
	incrementalFile: results,
	tempDirName: 'reports/.stryker',
	reporters: ['clear-text', 'progress-append-only'],
	clearTextReporter: { allowColor: false, reportTests: false, reportScoreTable: false },
	allowConsoleColors: false,
	timeoutMS: 60_000,
	dryRunTimeoutMinutes: 45,
};
