const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { TestEnvironment } = require('jest-environment-node');

const contextsOfTests = new WeakSet();
/** The compiled sources and tests. Each test file calls them again, which makes new modules of them. */
const compiledFiles = new Map();
const compileFunction = vm.compileFunction;
vm.compileFunction = (code, parameters, options) => {
	if (!contextsOfTests.has(options?.parsingContext))
		return compileFunction(code, parameters, options);
	const { filename } = options;
	const known = compiledFiles.get(filename);
	if (known?.code === code) return known.compiled;
	// Without jest's other options, which would keep everything of the first test file.
	const compiled = compileFunction(code, parameters, { filename });
	compiledFiles.set(filename, { code, compiled });
	return compiled;
};

// Exit as soon as the event loop is empty: Node needs longer to free half a gigabyte of n8n than jest waits for a worker.
// Keep the original exit, because jest replaces it with one that complains.
const { exit, getBuiltinModule } = process;
process.once('beforeExit', () => exit());

/** What jest adds to the global object for each test file. */
const OF_JEST = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL'];

/**
 * Runs test files in Node's own realm, where `packagesOnce.js` loads the packages, so that both share classes such as
 * `Date` and `Error`.
 */
module.exports = class SharedRealm extends TestEnvironment {
	constructor(config, context) {
		super(config, context);
		contextsOfTests.add(this.context);
		this.global = globalThis;
		this.fakeTimersModern = new ModernFakeTimers({
			config: config.projectConfig,
			global: globalThis,
		});
	}

	async teardown() {
		await super.teardown();
		// Otherwise, these keep everything of each test file, and the handlers handle each event of later ones.
		Object.assign(process, { exit, getBuiltinModule });
		for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
			if (OF_JEST.includes(symbol.description)) delete globalThis[symbol];
		}
	}
};
