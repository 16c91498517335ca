const PackagesOnce = require('./packagesOnce');

/** Also loads the sources for n8n's loader, which is one of the packages. */
module.exports = class WithSources extends PackagesOnce {
	constructor(...args) {
		super(...args);
		// Each test file needs its own copy of the sources.
		require.extensions['.ts'] = (module, file) => {
			module.exports = this.requireModule(file);
			delete require.cache[file];
			// Otherwise, n8n's loader keeps all copies.
			module.parent.children.pop();
		};
	}
};
