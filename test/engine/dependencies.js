const { readdirSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '../..');
const NAMES = readdirSync(path.join(ROOT, 'nodes')).filter((name) => name !== 'shared');
const CREDENTIAL = path.join(ROOT, 'credentials/VoiceChatAgentApiTokenApi.credentials.ts');

/**
 * Lists the nodes that a test needs, because n8n's loader reads them by name, not by `import`. Without this, watch mode
 * and --findRelatedTests miss most tests of a changed file.
 */
module.exports = {
	extract(code, file, defaultExtract) {
		const [, own] = /[\\/]test[\\/]nodes[\\/]([A-Z]\w+)[\\/]/.exec(file) ?? [];
		const runsAll = /from '(\.\.?\/)+(engine|contractHarness)/.test(code);
		const names = own === undefined ? (runsAll ? NAMES : []) : [own];
		const found = new Set(defaultExtract(code, file));
		if (!file.endsWith('.test.ts') || names.length === 0) return found;
		const nodes = names.map((name) => path.join(ROOT, 'nodes', name, `${name}.node.ts`));
		for (const needed of [CREDENTIAL, ...nodes]) {
			found.add(path.relative(path.dirname(file), needed).replaceAll(path.sep, '/'));
		}
		return found;
	},
	getCacheKey: () => NAMES.join(),
};
