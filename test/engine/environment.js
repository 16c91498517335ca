const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { TestEnvironment } = require('jest-environment-node');

const contextsOfTests = new WeakSet();
const compileFunction = vm.compileFunction;
vm.compileFunction = (code, parameters, options) => {
	const isTest = contextsOfTests.has(options?.parsingContext);
	return compileFunction(
		code,
		parameters,
		isTest ? { ...options, parsingContext: undefined } : options,
	);
};

// Exit as soon as the event loop is empty: Node needs longer to free half a gigabyte of n8n than jest waits for a worker.
// Keep the original exit, because jest replaces it with one that complains.
const { exit } = process;
process.once('beforeExit', () => exit());

/**
 * Runs test files in Node's own realm, where `packagesOnce.js` loads the packages, so that both share classes such as
 * `Date` and `Error`.
 */
module.exports = class SharedRealm extends TestEnvironment {
	constructor(config, context) {
		super(config, context);
		contextsOfTests.add(this.context);
		this.global = globalThis;
		// Jest keeps its handlers there, and those of all earlier files would handle each event again.
		delete globalThis[Symbol.for('EVENT_HANDLERS')];
		this.fakeTimersModern = new ModernFakeTimers({
			config: config.projectConfig,
			global: globalThis,
		});
	}
};
