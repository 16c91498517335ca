// The two things that make mutation affordable: only the test files that reach a mutant run, the cheap ones first and
// no further than the first that notices it; and of the code that decides nothing, a fixed sample is drawn.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
	commonTokens,
	declareClassPlugin,
	declareFactoryPlugin,
	PluginKind,
	tokens,
} from '@stryker-mutator/api/plugin';
import { strykerPlugins as jestPlugins } from '@stryker-mutator/jest-runner';

/** What needs no engine is the cheaper test. */
const isPlain = (file) => /\/shared\/(?!n8n\/)|\/(calls|feed|list|package|request)\//.test(file);

/** test/nodes/PlaceCall/wait.test.ts is beside nodes/PlaceCall/properties.ts. */
function isBeside(test, source) {
	const folder = path.dirname(path.relative('nodes', source)).split(path.sep)[0];
	return path.relative('test/nodes', test).startsWith(folder);
}

class NarrowRunner {
	#jest;
	#tests;
	#testFiles;

	constructor(injector) {
		this.#jest = injector.injectFunction(jestPlugins[0].factory);
		// Of one sandbox: the dry run happens in one process, the mutants in several.
		this.#tests = path.resolve('mutation-tests.json');
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
		const files = {};
		for (const { id, fileName } of result.tests ?? []) (files[fileName] ??= []).push(id);
		writeFileSync(this.#tests, JSON.stringify(files));
		return result;
	}

	async mutantRun(options) {
		const { testFilter, sandboxFileName } = options;
		const wanted = new Set(testFilter);
		const files = Object.entries(JSON.parse(readFileSync(this.#tests, 'utf8')))
			.map(([file, ids]) => ({ file, ids: testFilter ? ids.filter((id) => wanted.has(id)) : ids }))
			.filter(({ ids }) => ids.length > 0);
		const plain = files.filter(({ file }) => isPlain(file));
		const others = files.filter((one) => !plain.includes(one));
		// What runs on loading, as all forms do, is reached by every test: the forms' own and those of its node decide.
		const near = testFilter ? others : others.filter(({ file }) => isBeside(file, sandboxFileName));
		let nrOfTests = 0;
		for (const step of [plain, ...near.map((one) => [one])].filter(({ length }) => length > 0)) {
			this.#testFiles = step.map(({ file }) => file);
			const filter = testFilter && step.flatMap(({ ids }) => ids);
			const result = await this.#jest.mutantRun({ ...options, testFilter: filter });
			if (result.status !== 'survived') return result;
			nrOfTests += result.nrOfTests;
		}
		return { status: 'survived', nrOfTests };
	}
}

function narrowRunner(injector) {
	return new NarrowRunner(injector);
}
narrowRunner.inject = tokens(commonTokens.injector);

/** Lets only the drawn mutants through; the same seed draws the same ones from the same code. */
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
