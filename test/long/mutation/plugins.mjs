// Two plugins that make mutation testing fast: the runner runs only test files that reach a mutant, the closest and
// fastest first, until one fails. The checker draws a sample of the mutants.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import mapKeys from 'lodash/mapKeys.js';
import {
	commonTokens,
	declareClassPlugin,
	declareFactoryPlugin,
	PluginKind,
	tokens,
} from '@stryker-mutator/api/plugin';
import { strykerPlugins as jestPlugins } from '@stryker-mutator/jest-runner';

/** Of the tests that reach a mutant, the closest ones run until they took this share of the dry run, on any machine. */
const MIN_SHARE = 0.15;

/** Distance of a test file from the mutated file: 0 for its own tests and the fast tests of all forms, 1 for its node or folder, 2 for others. */
function distance(test, source) {
	if (isOfForms(test)) return 0;
	const places = [path.relative('test/nodes', test), path.relative('nodes', source)];
	const [name, ownName] = places.map((place) => path.basename(place).split('.')[0]);
	const [testFolder, sourceFolder] = places.map((place) => path.dirname(place));
	if (name === ownName) return 0;
	const isOfNode = isBeside(test, source) && !/^(?:core|host)(?:\/|$)/.test(sourceFolder);
	return testFolder === sourceFolder || isOfNode ? 1 : 2;
}

const isOfForms = (test) => /\/package\//.test(test);

/** Whether the test belongs to the same node, or to shared code, such as test/nodes/PlaceCall/items.test.ts to nodes/PlaceCall/placeCalls.ts. */
function isBeside(test, source) {
	const [folder] = path.relative('nodes', source).split(path.sep);
	return path.relative('test/nodes', test).startsWith(folder);
}

class NarrowRunner {
	#jest;
	#dryRun;
	#testFiles;

	constructor(injector) {
		this.#jest = injector.injectFunction(jestPlugins[0].factory);
		// A file in the sandbox, because the dry run and the mutants run in different processes.
		this.#dryRun = path.resolve('mutation-tests.json');
		const adapter = this.#jest.jestTestAdapter;
		const run = adapter.run.bind(adapter);
		adapter.run = async (settings) =>
			await run({ ...settings, testFiles: this.#testFiles ?? settings.testFiles });
	}

	capabilities() {
		return this.#jest.capabilities();
	}

	async init() {
		await this.#jest.init();
	}

	async dryRun(options) {
		this.#testFiles = undefined;
		const result = await this.#jest.dryRun(options);
		if (result.status !== 'complete') return result;
		const files = {};
		const ids = new Map();
		const tests = result.tests.map((test, index) => {
			// Stryker sends the tests of all mutants to another process at once, which is too long with their names.
			// Tests of different files may have the same name.
			const id = ids.get(test.id) ?? index.toString(36);
			ids.set(test.id, id);
			const file = (files[test.fileName] ??= { file: test.fileName, tests: [] });
			file.tests.push({ id, name: test.id, ms: test.timeSpentMs });
			return { ...test, id };
		});
		writeFileSync(this.#dryRun, JSON.stringify(Object.values(files)));
		const perTest = mapKeys(result.mutantCoverage.perTest, (_coverage, name) => ids.get(name));
		return { ...result, tests, mutantCoverage: { ...result.mutantCoverage, perTest } };
	}

	async mutantRun(options) {
		let nrOfTests = 0;
		// One file at a time, because with jest's bail, other files still run to their end.
		for (const { file, names } of this.#closest(options)) {
			this.#testFiles = [file];
			const testFilter = options.testFilter && names;
			const result = await this.#jest.mutantRun({ ...options, testFilter });
			// The report names no tests.
			if (result.status === 'killed') return { ...result, killedBy: [] };
			if (result.status !== 'survived') return result;
			nrOfTests += result.nrOfTests;
		}
		return { status: 'survived', nrOfTests };
	}

	/** The test files that reach a mutant, the closest and fastest first, with at least MIN_SHARE of the time of all tests. */
	#closest({ testFilter, sandboxFileName }) {
		const reaching = testFilter && new Set(testFilter);
		const all = JSON.parse(readFileSync(this.#dryRun, 'utf8'));
		const minMs = MIN_SHARE * msOf(all.flatMap(({ tests }) => tests));
		const files = all
			// Every test reaches code that runs on loading, such as forms, so only tests of forms and of the same node run.
			.filter(({ file }) => reaching || isOfForms(file) || isBeside(file, sandboxFileName))
			.map(({ file, tests }) => {
				const some = reaching ? tests.filter(({ id }) => reaching.has(id)) : tests;
				const names = some.map(({ name }) => name);
				return { file, names, ms: msOf(some), away: distance(file, sandboxFileName) };
			})
			.filter(({ names }) => names.length > 0)
			.sort((a, b) => a.away - b.away || a.ms - b.ms);
		let total = 0;
		return files.filter(({ ms }) => {
			const fits = total < minMs;
			total += ms;
			return fits;
		});
	}
}

const msOf = (tests) => tests.reduce((total, { ms }) => total + ms, 0);

function narrowRunner(injector) {
	return new NarrowRunner(injector);
}
narrowRunner.inject = tokens(commonTokens.injector);

/** Selects a sample of mutants, which is the same for the same seed and code. */
class Sample {
	static inject = tokens(commonTokens.options);

	constructor({ sample }) {
		this.sample = sample;
	}

	async init() {}

	group(mutants) {
		return [mutants.map(({ id }) => id)];
	}

	async check(mutants) {
		return Object.fromEntries(
			mutants.map((mutant) => [
				mutant.id,
				this.#isDrawn(mutant)
					? { status: 'passed' }
					: { status: 'compileError', reason: 'not drawn' },
			]),
		);
	}

	#isDrawn({ fileName, location, mutatorName, replacement }) {
		const { seed, share } = this.sample;
		const file = path.relative(process.cwd(), fileName).replaceAll(path.sep, '/');
		const what = JSON.stringify([seed, file, location, mutatorName, replacement]);
		return createHash('sha256').update(what).digest().readUInt32BE() / 2 ** 32 < share;
	}
}

export const strykerPlugins = [
	declareFactoryPlugin(PluginKind.TestRunner, 'narrow-jest', narrowRunner),
	declareClassPlugin(PluginKind.Checker, 'sample', Sample),
];
