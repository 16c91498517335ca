const { createRequire, isBuiltin } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/** Of these each test file has its own, as jest provides it. */
const OF_JEST = /^(?:@jest\/|jest-)/;
const isPackage = (name) => !/^[./]/.test(name) && !isBuiltin(name) && !OF_JEST.test(name);

/** Loads packages with Node's own `require`, once for all test files: n8n's engine takes most of a second. */
module.exports = class PackagesOnce extends Runtime {
	constructor(...given) {
		super(...given);
		// n8n's loader, now one of them, requires the sources; those are loaded anew for each test file.
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
