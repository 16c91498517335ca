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

// Nothing is open any more. To take half a gigabyte of n8n apart, Node would need longer than jest waits for a worker.
// Jest puts an exit of its own in the place of this one, which would complain.
const { exit } = process;
process.once('beforeExit', () => exit());

/**
 * Test files run in Node's own realm, beside the packages that `runtime.js` loads there: a `Date` or an `Error` of one
 * is a `Date` or an `Error` of the other.
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
};
