const { createRequire, isBuiltin } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/** Jest provides these separately to each test file. */
const JEST_PACKAGES = /^(?:@jest\/|jest-)/;
const isPackage = (name) => !/^[./]/.test(name) && !isBuiltin(name) && !JEST_PACKAGES.test(name);

/** Loads packages with Node's own `require`, once for all test files, because loading n8n's engine takes most of a second. */
module.exports = class PackagesOnce extends Runtime {
	requireModule(from, name, ...rest) {
		return name !== undefined && isPackage(name)
			? createRequire(from)(name)
			: super.requireModule(from, name, ...rest);
	}
};
