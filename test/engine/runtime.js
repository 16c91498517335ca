const { createRequire, isBuiltin } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/** Jest provides these separately to each test file. */
const JEST_PACKAGES = /^(?:@jest\/|jest-)/;
const isPackage = (name) => !/^[./]/.test(name) && !isBuiltin(name) && !JEST_PACKAGES.test(name);

/** Loads packages with Node's own `require`, once for all test files, because loading n8n's engine takes most of a second. */
module.exports = class PackagesOnce extends Runtime {
	constructor(...args) {
		super(...args);
		// n8n's loader is one of these packages, but each test file needs its own copy of the sources.
		require.extensions['.ts'] = (module, file) => {
			module.exports = this.requireModule(file);
			delete require.cache[file];
		};
	}

	requireModule(from, name, ...rest) {
		return name !== undefined && isPackage(name)
			? createRequire(from)(name)
			: super.requireModule(from, name, ...rest);
	}
};
