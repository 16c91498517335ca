/**
 * The test files that can't use the n8n of N8N_URL, and a reporter that names them at the end. A file is among them if it
 * imports one of these modules, itself or through other modules.
 */
const { existsSync, globSync, readFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');

const { N8N_URL, N8N_FOLDER } = process.env;

const REASONS = {
	ownServer: 'They start, kill, or configure an n8n of their own',
	...(N8N_FOLDER === undefined && {
		n8nFolder: "They need n8n's folder, database, and third parties (N8N_FOLDER)",
	}),
};

function importsOf(file, found = new Set()) {
	for (const [, path] of readFileSync(file, 'utf8').matchAll(/ from '(\.[^']*)'/g)) {
		const target = `${join(dirname(file), path)}.ts`;
		if (found.has(target) || !existsSync(target)) continue;
		found.add(target);
		importsOf(target, found);
	}
	return found;
}

const files =
	N8N_URL === undefined ? [] : globSync('{e2e,browser}/*.test.ts', { cwd: dirname(__dirname) });

/** Each file with the reason, if there is one. */
const excluded = files.flatMap((file) => {
	const imported = importsOf(join(dirname(__dirname), file));
	const module = Object.keys(REASONS).find((name) => imported.has(join(__dirname, `${name}.ts`)));
	return module === undefined ? [] : [{ file, reason: REASONS[module] }];
});

class Reporter {
	onRunComplete() {
		if (excluded.length === 0) return;
		console.log(`\nNot run on ${N8N_URL}: ${excluded.length} of ${files.length} test files`);
		for (const reason of new Set(excluded.map((one) => one.reason))) {
			const names = excluded
				.filter((one) => one.reason === reason)
				.map(({ file }) => basename(file, '.test.ts'));
			console.log(`${reason}: ${names.join(', ')} (${names.length})`);
		}
	}
}

module.exports = Reporter;
module.exports.excluded = excluded.map(({ file }) => `/test/${file}$`);
